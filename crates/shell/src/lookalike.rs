//! Names that pass for others: letters of several scripts in one word.

/// Whether `word` mixes ASCII letters with letters that look like them, or spells ASCII in look-alike forms.
///
/// Meant for program names and hosts, not for whole texts.
pub fn lookalike(word: &str) -> bool {
    if word.is_ascii() {
        return false;
    }
    word.split(|character: char| !character.is_alphanumeric()).any(|piece| {
        let ascii = piece.chars().any(|character| character.is_ascii_alphabetic());
        let foreign = piece.chars().any(is_foreign_double);
        piece.chars().any(is_styled) || (ascii && foreign) || (foreign && piece.chars().all(is_twin))
    })
}

/// Letters of scripts that share shapes with Latin.
fn is_foreign_double(character: char) -> bool {
    matches!(
        character,
        // Greek, Cyrillic, Armenian, Cherokee, Coptic, Lisu, phonetic letters, Georgian and Hebrew. A whole word in
        // one of them is honest; one letter of them among Latin ones is not.
        '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}' | '\u{531}'..='\u{587}' | '\u{13a0}'..='\u{13ff}'
            | '\u{1e9e}' | '\u{1f00}'..='\u{1fff}' | '\u{2c80}'..='\u{2cff}' | '\u{a4d0}'..='\u{a4ff}'
            | '\u{250}'..='\u{2af}' | '\u{10a0}'..='\u{10ff}' | '\u{5d0}'..='\u{5ea}'
    )
}

/// Full-width, circled, mathematical and other dressed-up forms of ASCII.
fn is_styled(character: char) -> bool {
    matches!(
        character,
        // No keyboard types these. A shell takes `ｒｍ` for a program of that name, which only an attacker would
        // install.
        '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}' | '\u{24b6}'..='\u{24e9}' | '\u{2100}'..='\u{214f}'
            | '\u{2160}'..='\u{217f}' | '\u{1f130}'..='\u{1f189}' | '\u{1d00}'..='\u{1d7f}' | '\u{17f}'
    )
}

/// Foreign letters that cannot be told from an ASCII one.
fn is_twin(character: char) -> bool {
    // A word made of nothing but twins (`сосо` in Cyrillic) reads as Latin although no Latin letter is in it.
    "аеорсухіјѕһԁԛԝӏвкмнтАВЕКМНОРСТХІЈЅοανικρτυΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսօհ".contains(character) || character.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: bool, words: &[&str]) {
        for word in words {
            assert_eq!(lookalike(word), expected, "{word:?}");
        }
    }

    #[test]
    fn honest_names_pass() {
        check(
            false,
            &["git", "café", "naïve-tool", "日本語", "привет", "münchen.de", "Ελλάδα", "g++", "7z", "пример.com"],
        );
    }

    #[test]
    fn mixed_and_dressed_names_are_caught() {
        check(true, &["gіt", "ѕudo", "раураl.com", "сосо", "ｒｍ", "𝗋𝗆", "gοοgle.com", "ⓡm", "ſudo"]);
    }
}
