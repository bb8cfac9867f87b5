//! Any text as the beginning of a source file: no panic, whichever file it is asked about.
#![no_main]

use doorward_engine::imports::Imported;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (path, text) = text.split_once('\n').unwrap_or(("src/a.rs", &text));
    for path in [path, "src/a/mod.rs", "a/index.ts", "a/__init__.py", "a/b.go", "a/b.h", "a/B.java", "a/b.rb", "a/B.php"] {
        if let Some(wanted) = Imported::at(path) {
            let _ = (wanted.is_imported_by("src/b.rs", text), wanted.is_imported_by(text, path));
        }
    }
});
