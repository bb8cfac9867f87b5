//! Values that stand for a secret without being one.

/// `value` is a reference, a template, an example or an empty word rather than a secret.
pub(super) fn is_placeholder(value: &str) -> bool {
    let bytes = value.as_bytes();
    is_template(bytes) || is_dull(bytes) || is_word(value) || mentions_example(bytes)
}

/// `$NAME`, `${{ x }}`, `<token>`, `{{token}}`, `%s`, `[redacted:…]`, `call(…)`, `@file`, `/path`, `arn:…`, `op://…`.
pub(super) fn is_template(value: &[u8]) -> bool {
    let opens = matches!(
        value.first(),
        None | Some(b'$' | b'<' | b'{' | b'%' | b'[' | b'(' | b'*' | b'@' | b'/' | b'~' | b'`' | b'&' | b'\\' | b'#')
    );
    let ends = matches!(value.last(), Some(b'(' | b'{' | b'['));
    let inside = [b"${".as_slice(), b"$(", b"{{", b"}}", b"...", b"()", b"::", b"=>", b"://", b"path/to"]
        .iter()
        .any(|part| holds(value, part));
    let refers = [b"arn:".as_slice(), b"op:", b"vault:", b"env:", b"file:", b"ref:", b"./", b"../"]
        .iter()
        .any(|start| value.starts_with(start));
    opens || ends || inside || refers
}

/// One character over and over, or almost.
fn is_dull(value: &[u8]) -> bool {
    let Some(first) = value.first() else { return true };
    let letters = value.iter().filter(|byte| !matches!(byte, b'-' | b'_'));
    value.iter().all(|byte| byte == first)
        || letters.clone().all(|byte| matches!(byte, b'x' | b'X' | b'*' | b'.' | b'0' | b'#' | b'?'))
}

/// Says in so many words that it is made up.
fn mentions_example(value: &[u8]) -> bool {
    // Parts that a real token cannot have by chance, as tokens are random.
    const WORDS: &[&[u8]] = &[
        b"example",
        b"placeholder",
        b"changeme",
        b"change_me",
        b"change-me",
        b"replace",
        b"your-",
        b"your_",
        b"yourpass",
        b"yourtoken",
        b"yourapi",
        b"yoursecret",
        b"dummy",
        b"xxxx",
        b"redacted",
        b"insert",
        b"my-secret",
        b"my_secret",
        b"mysecret",
        b"my-token",
        b"my_token",
        b"test-token",
        b"test_token",
        b"test-key",
        b"test_key",
        b"test-secret",
        b"test_secret",
        b"fake",
        b"****",
        b"todo",
        b"sample",
        b"notasecret",
        b"not-a-secret",
        b"some-",
        b"some_",
        b"deadbeef",
    ];
    value.len() <= 80 && WORDS.iter().any(|word| holds(value, word))
}

/// Plain words that programs and documents use in the place of a secret.
// Whole values only: `password` as a value is a placeholder, `password-8fj2` is not.
const STAND_INS: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "apikey",
    "api_key",
    "api-key",
    "test",
    "testing",
    "test123",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "string",
    "str",
    "bool",
    "int",
    "number",
    "hidden",
    "masked",
    "foo",
    "bar",
    "baz",
    "foobar",
    "default",
    "root",
    "admin",
    "guest",
    "user",
    "postgres",
    "mysql",
    "redis",
    "mongo",
    "docker",
    "localhost",
    "required",
    "optional",
    "bearer",
    "basic",
    "value",
    "text",
    "any",
    "object",
    "unknown",
    "empty",
    "prompt",
    "stdin",
    "env",
    "file",
    "auto",
    "yes",
    "no",
    "on",
    "off",
    "password1",
    "password123",
    "secret123",
    "12345",
    "123456",
    "1234567",
    "12345678",
    "123456789",
    "1234567890",
    "abc123",
    "qwerty",
    "letmein",
    "p@ssw0rd",
    "passw0rd",
    "hunter2",
    "disabled",
    "enabled",
    "read",
    "write",
    "readonly",
    "self",
    "this",
    "input",
];

/// A plain word that programs and documents use in the place of a secret.
fn is_word(value: &str) -> bool {
    value.len() <= 12 && STAND_INS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// `value` holds `part`, ignoring case; `part` is in lower case.
fn holds(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}
