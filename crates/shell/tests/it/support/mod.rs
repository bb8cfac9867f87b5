//! Random shell programs, and trees without their spans.
#![allow(dead_code, clippy::indexing_slicing, reason = "each test uses its own part and may stop at a surprise")]

use doorward_shell::Script;

/// A small generator of pseudo-random numbers, so that a seed names a run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const ATOMS: &[&str] = &[
    "a",
    "b1",
    "-x",
    "--long=v",
    "\"a b\"",
    "'c d'",
    "a\\ b",
    "*.z",
    "$v",
    "\"$v\"",
    "${v}",
    "{a,b}",
    "~",
    "\"\"",
    "x#y",
    "%",
    "@f",
    "1",
    "=",
    "a=b",
    "[a]",
    "?",
    "!",
    "{1..3}",
    "{a,{b,c}}",
    "{}",
    "{x",
    "a}b",
    "${#v}",
    "${v@Q}",
    "${v^^}",
    "~+/x",
    "$'\\t'",
    "$'a\\'b'",
    "\\$v",
    "\"\\$v\\\"\"",
    "a:~",
    "x=~",
    "[!a-c]*",
    "@(a|b)",
    "$((1+2))",
    "\"${v:-a b}\"",
    "$((16#f))",
];

const SITES: &[&str] = &[
    "$(@)",
    "\"$(@)\"",
    "${v:-$(@)}",
    "\"${v:-$(@)}\"",
    "\"${v:-\"$(@)\"}\"",
    "$(( $(@) + 1 ))",
    "\"$(( 1 + $(@) ))\"",
    "$[ $(@) ]",
    "<(@)",
    ">(@)",
    "${v/$(@)/x}",
    "${v//a/$(@)}",
    "${v#$(@)}",
    "\"${v%%$(@)}\"",
    "${v:$(@)0:1}",
    "${v:0:$(@)1}",
    "${arr[$(@)0]}",
    "{a,$(@)}",
    "{$(@),b}c",
    "x\"y$(@)z\"w",
    "'lit'$(@)\"q\"",
    "$\"$(@)\"",
    "${v:=$(@)}",
    "${v:+$(@)}",
    "$(@ # comment )\n)",
    "$(\n@\n)",
    "$(case x in x) @;; esac)",
    "\"$(case x in (x) @;; esac)\"",
    "\"a\\\"b$(@)\"",
    "${v^$(@)}",
    "${v@Q}$(@)",
    "$((@) | @)",
    "\"${v:-'$(q61)'}\"",
    "${v:?$(@)}",
    "$(<f1 @)",
    "[$(@)]",
    "${!v:-$(@)}",
    "\"${arr[@]:$(@)0}\"",
    "${v-`@`}",
    "`@`",
    "\"`@`\"",
    "a`@`b",
    "$(( `@` ))",
    "$(( arr[$(@)0] ))",
];

const COMPOUNDS: &[&str] = &[
    "( @ )",
    "(@)",
    "{ @; }",
    "if @; then @; fi",
    "if @; then @; elif @; then @; else @; fi",
    "for i in ^; do @; done",
    "for i in 1 2; do @; done",
    "for i in a\ndo\n@\ndone",
    "case ^ in a) @;; *) @;; esac",
    "case ^ in (a|b) @;;& *) @ ;& c) ;; esac",
    "! @",
    "time @",
    "time -p @",
    "[[ -n ^ ]] && @",
    "[[ ^ == a* || ! ( -z ^ ) ]] || @",
    "[[ a == @(a|b) ]] && @",
    "[[ ^ =~ ^(a|b c)+$ ]]; @",
    "(( x = $(@)0 + 1 ))",
    "((x++)) ; @",
    "while @; do @; break; done",
    "until ! @; do @; break; done",
    "for ((i=0;i<1;i++)); do @; done",
    "for ((i=$(@)0;i<1;i++)) { @; }",
    "g() { @; }; g",
    "function h { @; }\nh",
    "g () ( @ ) >f2; g",
    "( ( @ ) )",
    "((@) | @)",
    "{ @; } > f9 2>&1",
    "declare V=$(@)",
    "export V=\"$(@)\" W=b",
    "declare -a arr=(a $(@))",
    "coproc @",
    "coproc C { @; }",
    "if ! { @; }; then @; fi",
    "if (@) then @; fi",
    "for i in a; { @; }",
    "for i do @; done",
    "select i in a; do @; break; done </dev/null",
    "{ @; } | { @; }",
    "# @\n@",
    "arr=(^\n# c\n^) @",
    "arr[$(@)0]=^",
    "arr+=([1]=^)",
    "@ |\n@",
    "@ &&\n# c\n@",
    "{ @; } {fd}>f1",
    "(@) <<<^",
    "if @\nthen @\nelse\n@\nfi",
    "[[ ^ -eq 1 && ^ < b ]]; @",
];

const REDIRECTS: &[&str] = &[
    ">f1",
    ">>f2",
    "2>&1",
    "</dev/null",
    "&>f3",
    "&>>f3",
    ">|f1",
    "<<<\"a\"",
    "<<<$v",
    "2>/dev/null",
    "<<<^",
    ">\"f4\"",
    "3>&1",
    "< <(@)",
    "> >(@)",
    ">&2",
    "3<>f5",
    "2>&-",
    "> f$(@)",
    "{fd}>f6",
    "1>f7",
];

const TOKENS: &[&str] = &[
    "$(",
    "${",
    "`",
    "\"",
    "'",
    "$'",
    "((",
    "))",
    ")",
    "}",
    "{",
    "|",
    "||",
    "&&",
    "&",
    ";",
    ";;",
    "<<E\n",
    "<<-'E'\n",
    "<(",
    ">(",
    "[[ ",
    " ]]",
    "case ",
    " esac",
    " in ",
    " do ",
    " done ",
    "if ",
    " then ",
    " fi",
    "\\",
    "\n",
    "#",
    " #",
    "$",
    "*",
    "!",
    "! ",
    "<<<",
    "${v:-",
    "$((",
    "=(",
    " q55 ",
    "; q56 ",
    "\nq57\n",
    "$(q58)",
    "`q59`",
    "\\\n",
    "\r",
    "\t",
    "\"$(q60)\"",
    "(",
    "()",
    "function ",
    "time ",
    "coproc ",
    "{a,",
    ",",
    "..",
    "~",
    "[",
    "]",
    "@(",
    "\\\"",
    "\\`",
    "E\n",
    "\nE\n",
    "$[",
    "${#",
    "${!",
    ":-",
    "é",
    "<",
    ">",
    ">&",
    "&>",
    "2>",
    "select ",
    "for ",
    "while ",
];

/// Writes programs whose command names are `q10` to `q99`.
pub(crate) struct Generator {
    pub random: Random,
    count: usize,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Generator { random: Random::new(seed), count: 0 }
    }

    /// A program, mutated in half of the cases.
    pub(crate) fn program(&mut self) -> String {
        loop {
            let depth = 1 + self.random.below(3);
            let mut text = self.sequence(depth);
            if text.len() > 900 {
                continue;
            }
            if self.random.chance(50) {
                text = self.mutate(text);
            }
            return text;
        }
    }

    /// Tokens in no order at all.
    pub(crate) fn soup(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..=self.random.below(24) {
            let tokens = if self.random.chance(60) { TOKENS } else { ATOMS };
            text.push_str(self.random.pick(tokens));
        }
        text
    }

    fn name(&mut self) -> String {
        self.count += 1;
        format!("q{}", self.count % 90 + 10)
    }

    fn spelled(&mut self) -> String {
        let name = self.name();
        let (first, rest) = name.split_at(1);
        match self.random.below(24) {
            0 => format!("'{name}'"),
            1 => format!("\"{name}\""),
            2 => format!("\\{name}"),
            3 => format!("{first}\\{rest}"),
            4 => format!("{first}''{rest}"),
            5 => format!("$'{name}'"),
            6 => format!("$'\\x71'{rest}"),
            7 => format!("$\"{name}\""),
            8 => format!("{first}\\\n{rest}"),
            9 => format!("$'\\161{rest}'"),
            10 => format!("$'\\u0071'{rest}"),
            11 => format!("{{{name},b}}"),
            12 => format!("$v{name}"),
            13 => format!("$v {name}"),
            _ => name,
        }
    }

    /// Replaces `@` by commands and `^` by words in a template.
    fn fill(&mut self, template: &str, depth: usize) -> String {
        let mut out = String::new();
        let backticks = template.contains('`');
        let mut characters = template.chars().peekable();
        while let Some(character) = characters.next() {
            let pattern = character == '@' && matches!(characters.peek(), Some('(' | ']' | 'Q'));
            match character {
                '@' if !pattern => {
                    let text = self.sequence(depth.saturating_sub(1));
                    match (backticks, template.contains('"')) {
                        (true, quoted) => out.push_str(&in_backticks(&text, quoted)),
                        (false, _) => out.push_str(&text),
                    }
                }
                '^' if !template.starts_with("${") && !out.ends_with("=~ ") => {
                    out.push_str(&self.word(depth.saturating_sub(1)))
                }
                _ => out.push(character),
            }
        }
        out
    }

    fn word(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(40) {
            return self.random.pick(ATOMS).to_owned();
        }
        let template = self.random.pick(SITES);
        self.fill(template, depth)
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut items = Vec::new();
        if self.random.chance(10) {
            items.push(self.redirect(depth));
        }
        if self.random.chance(20) {
            let value = self.word(depth);
            items.push(match self.random.below(5) {
                0 => "V=1".to_owned(),
                1 => format!("V={value}"),
                2 => format!("arr=(a {value})"),
                3 => "V+=x".to_owned(),
                _ => format!("arr[1]={value}"),
            });
        }
        items.push(self.spelled());
        for _ in 0..self.random.below(4) {
            items.push(self.word(depth));
        }
        if self.random.chance(25) {
            items.push(self.redirect(depth));
        }
        items.join(" ")
    }

    fn redirect(&mut self, depth: usize) -> String {
        let template = self.random.pick(REDIRECTS);
        self.fill(template, depth.min(1))
    }

    fn document(&mut self, depth: usize) -> String {
        let name = self.name();
        let tag = self.random.pick(&["E", "EOF", "_X"]);
        let quoted = match self.random.below(5) {
            0 => format!("'{tag}'"),
            1 => format!("\"{tag}\""),
            2 => format!("\\{tag}"),
            _ => tag.to_owned(),
        };
        let body = self.random.pick(&[
            "text",
            "$v",
            "$(@)",
            "`@`",
            "a \"b $(@)",
            "it's $(@)",
            "\\$(@)",
            "${v:-$(@)}",
            "$(( $(@) ))",
            "a\\\nb$(@)",
            "${v:-\"$(@)\"}",
            "\\\\$(@)\n\tx",
        ]);
        let body = self.fill(body, depth);
        let dash = self.random.pick(&["", "-"]);
        let tail = self.random.pick(&["", " | @", " && @", "; @", " >f1"]);
        let tail = self.fill(tail, 0);
        let tab = if dash == "-" { "\t" } else { "" };
        format!("{name} <<{dash}{quoted}{tail}\n{tab}{body}\n{tab}{tag}\n")
    }

    fn sequence(&mut self, depth: usize) -> String {
        let mut out = String::new();
        for index in 0..1 + self.random.below(3) * self.random.below(2) {
            if index > 0 && !out.ends_with('\n') {
                out.push_str(self.random.pick(&[" | ", " && ", " || ", "; ", "\n", " & ", "|&", ";", "|", "&&"]));
            }
            let choice = self.random.below(100);
            out.push_str(&match depth {
                0 => self.simple(0),
                _ if choice < 60 => self.simple(depth),
                _ if choice < 92 => {
                    let template = self.random.pick(COMPOUNDS);
                    self.fill(template, depth)
                }
                _ => self.document(depth - 1),
            });
        }
        out
    }

    fn mutate(&mut self, mut text: String) -> String {
        for _ in 0..=self.random.below(3) {
            let at = self.boundary(&text);
            let length = 1 + self.random.below(6);
            match self.random.below(4) {
                0 => drop(text.drain(at..self.end(&text, at, 1))),
                3 => drop(text.drain(at..self.end(&text, at, length))),
                _ => text.insert_str(at, self.random.pick(TOKENS)),
            }
        }
        text
    }

    fn boundary(&mut self, text: &str) -> usize {
        let mut at = self.random.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn end(&self, text: &str, at: usize, length: usize) -> usize {
        let mut end = (at + length).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        end
    }
}

fn in_backticks(text: &str, quoted: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('`', "\\`");
    if quoted { text.replace('"', "\\\"") } else { text }
}

/// A tree as text, without the spans.
pub(crate) fn shape(script: &Script) -> String {
    let text = format!("{script:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span { start: ") {
        out.push_str(&rest[..at]);
        rest = rest[at..].split_once('}').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}
