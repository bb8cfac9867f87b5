//! Tests that a text switches off: the marks of the usual test frameworks, by the language of the file.

/// How a language marks a test that is not run, and how it begins one.
// From the manuals of the frameworks that most projects of the language use. A new test that is switched off from the
// start loses nothing, so tests are counted along with marks.
const LANGUAGES: &[(&[&str], &[&str], &[&str])] = &[
    (&["rs"], &["#[ignore"], &["#[test]", "::test]", "#[rstest]", "#[test_case"]),
    (
        &["py"],
        &[
            "@pytest.mark.skip",
            "@unittest.skip",
            "pytest.skip(",
            "@pytest.mark.xfail",
            "self.skipTest(",
            "unittest.SkipTest",
        ],
        &["def test"],
    ),
    (
        &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"],
        &[".skip(", "xit(", "xtest(", "xdescribe(", ".todo(", ".fixme("],
        &["it(", "test(", "describe("],
    ),
    (&["go"], &["t.Skip", "b.Skip"], &["func Test", "func Benchmark"]),
    (&["java", "kt", "kts", "scala", "groovy"], &["@Ignore", "@Disabled"], &["@Test", "@ParameterizedTest"]),
    (&["cs", "fs"], &["[Ignore", "Skip =", "Skip="], &["[Test", "[Fact", "[Theory"]),
    (&["rb"], &["xit ", "xdescribe ", "xcontext ", "skip ", "pending "], &["it ", "describe ", "def test_"]),
    (&["php"], &["markTestSkipped(", "markTestIncomplete(", "->skip("], &["function test", "it(", "test("]),
    (&["swift"], &["XCTSkip", ".disabled("], &["func test", "@Test"]),
    (&["ex", "exs"], &["@tag :skip", "@tag skip"], &["test \""]),
];

/// The new text has more tests that are not run than the old one, and not only because it has more tests.
pub(crate) fn are_more(path: &str, new: &str, old: Option<&str>) -> bool {
    let ending = crate::path::name(path).rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let Some((_, marks, starts)) = LANGUAGES.iter().find(|(endings, ..)| endings.contains(&ending)) else {
        return false;
    };
    let more = |words: &[&str]| count(new, words).saturating_sub(old.map_or(0, |old| count(old, words)));
    let marked = more(marks);
    marked > 0 && marked > more(starts)
}

/// The text marks some test as one that is not run.
pub(crate) fn are_marked(path: &str, new: &str) -> bool {
    let ending = crate::path::name(path).rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    LANGUAGES.iter().any(|(endings, marks, _)| endings.contains(&ending) && count(new, marks) > 0)
}

fn count(text: &str, words: &[&str]) -> usize {
    words.iter().map(|word| text.matches(word).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::are_more;

    #[test]
    fn a_test_that_is_no_longer_run_is_noticed() {
        for (path, old, new) in [
            ("a.rs", "#[test]\nfn a() {}", "#[test]\n#[ignore]\nfn a() {}"),
            ("a_test.py", "def test_a():", "@pytest.mark.skip\ndef test_a():"),
            ("a_test.py", "def test_a():", "@pytest.mark.xfail\ndef test_a():"),
            ("a.test.ts", "it('a', () => {})", "it.skip('a', () => {})"),
            ("a.test.js", "describe('a', f)", "xdescribe('a', f)"),
            ("a_test.go", "func TestA(t *testing.T) {\n", "func TestA(t *testing.T) {\n\tt.Skip()\n"),
            ("ATest.java", "@Test void a() {}", "@Disabled @Test void a() {}"),
            ("a_spec.rb", "it 'a' do", "xit 'a' do"),
        ] {
            assert!(are_more(path, new, Some(old)), "{new}");
        }
        assert!(are_more("a.rs", "#[ignore]\n", None), "put in by a pattern");
    }

    #[test]
    fn new_tests_comments_elsewhere_and_fewer_marks_are_not() {
        for (path, old, new) in [
            ("a.rs", "", "#[test]\n#[ignore]\nfn long() {}"),
            ("a.rs", "#[test]\n#[ignore]\nfn a() {}", "#[test]\nfn a() {}"),
            ("a.md", "it('a')", "it.skip('a')"),
            ("a.py", "x = 1", "x = 2"),
            ("list.ts", "a.skipped(1)", "a.skipped(2)"),
        ] {
            assert!(!are_more(path, new, Some(old)), "{new}");
        }
    }
}
