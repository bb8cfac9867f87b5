//! The report of a record that the real hook made: both renderings, where its figures come from, and the interview.

use serde_json::{Value, json};

use crate::support::Home;
use crate::support::terminal::{Terminal, is_there};

const TITLES: [&str; 8] = [
    "1. Risk Profile",
    "2. Layer-1 Heuristic Rules",
    "3. Layer-2 Model Scoring Rubric",
    "4. Decision Matrix",
    "5. Override Policy",
    "6. Audit & Metrics Plan",
    "7. Failure Modes",
    "8. Migration Path",
];

const OPENING: [&str; 2] = ["At a glance", "The latest calls"];

/// Whatever the record holds: a page that runs it, or that shows it reordered, is broken.
const HOSTILE: &str = "rm -rf ~/.ssh/'<script>alert(1)</script><img src=x onerror=alert(2)>|`id`\u{202e}gpj'";

fn worked() -> Home {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    for command in ["ls", "pwd", "git status", "git push origin main", "rm -rf ~", HOSTILE] {
        let _answer = home.hook("Bash", json!({ "command": command }));
    }
    let odd = json!({ "command": "ls", "description": "<b>x</b>" });
    let mut payload = home.payload("Bash", odd);
    payload["session_id"] = "<script>s</script>".into();
    for _ in 0..6 {
        payload["tool_input"]["command"] = "rm -rf ~".into();
        let _answer = home.run(&["hook", "claude"], payload.to_string().as_bytes());
    }
    home
}

fn report(home: &Home, arguments: &[&str]) -> String {
    let ran = home.run(&[&["report"], arguments].concat(), b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}

/// The elements of a page with their text, or what is wrong with it.
fn well_formed(page: &str) -> Result<(), String> {
    const ALONE: [&str; 5] = ["meta", "!DOCTYPE", "line", "circle", "rect"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        if before.contains('>') && open.last().is_none_or(|name| name != "style") {
            return Err(format!("a bare `>` in `{before}`"));
        }
        let (tag, behind) = tag.split_once('>').ok_or("a tag without an end")?;
        rest = behind;
        let name = tag.split([' ', '\n', '/']).find(|word| !word.is_empty()).unwrap_or_default();
        if tag.matches('"').count() % 2 != 0 {
            return Err(format!("a quote is missing in `{tag}`"));
        }
        if tag.starts_with('/') {
            let opened = open.pop();
            if opened.as_deref() != Some(name) {
                return Err(format!("`{name}` ends where `{opened:?}` is open"));
            }
        } else if !ALONE.contains(&name) && !tag.ends_with('/') {
            open.push(name.to_owned());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} are never closed")) }
}

/// What is between two texts is left out.
fn without(page: &str, from: &str, to: &str) -> String {
    let mut left = String::new();
    let mut rest = page;
    while let Some((before, behind)) = rest.split_once(from) {
        left.push_str(before);
        left.push('\n');
        rest = behind.split_once(to).map_or("", |(_, behind)| behind);
    }
    left + rest
}

/// The page without what only it has: style, table of contents, drawings; and without tags.
fn words_of(html: &str) -> String {
    let mut text = html.to_owned();
    for (from, to) in [("<style>", "</style>"), ("<nav", "</nav>"), ("<svg", "</svg>"), ("<", ">")] {
        text = without(&text, from, to);
    }
    text
}

/// Markdown without its code, which stands between runs of backticks of the same length.
fn without_code(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('`') {
        kept.push_str(&rest[..at]);
        let ticks = rest[at..].chars().take_while(|character| *character == '`').count();
        rest = &rest[at + ticks..];
        let is_end = |place: usize| {
            let run = rest[place..].chars().take_while(|character| *character == '`').count();
            run == ticks && (place == 0 || !rest[..place].ends_with('`'))
        };
        let end = rest.match_indices('`').map(|(place, _)| place).find(|place| is_end(*place));
        rest = end.map_or(rest, |end| &rest[end + ticks..]);
    }
    kept + rest
}

fn numbers(text: &str) -> Vec<String> {
    let split = text.split(|character: char| !character.is_ascii_digit());
    split.filter(|number| !number.is_empty()).map(str::to_owned).collect()
}

#[test]
fn it_has_exactly_the_eight_sections() {
    let home = worked();
    let headings: Vec<String> =
        report(&home, &[]).lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect();
    assert_eq!(headings.get(..2).unwrap(), OPENING, "what happened stands before what the policy says");
    assert_eq!(headings.get(2..).unwrap(), TITLES);
    let page = report(&home, &["--format", "html"]);
    let headings: Vec<&str> = page.split("<h2>").skip(1).map(|part| part.split_once("</h2>").unwrap().0).collect();
    assert_eq!(headings.get(..2).unwrap(), OPENING);
    assert_eq!(headings.get(2..).unwrap(), TITLES.map(|title| title.replace('&', "&amp;")));
    assert_eq!(page.matches("<i class=\"f-").count(), 12, "one mark for each call");
}

#[test]
fn markdown_and_html_have_the_same_figures() {
    let home = worked();
    let page = report(&home, &["--format", "html"]);
    let text = report(&home, &[]);
    let (of_page, of_text) = (numbers(&words_of(&page)), numbers(&text));
    assert!(of_text.len() > 500, "{}", of_text.len());
    let differing = of_page.iter().zip(&of_text).enumerate().filter(|(_, (one, other))| one != other).count();
    // The two were made one after the other: only the moment at the top may differ.
    assert!(differing <= 3 && of_page.len() == of_text.len(), "{differing} of {} and {}", of_page.len(), of_text.len());
}

#[test]
fn the_page_is_well_formed_and_nothing_in_the_record_becomes_markup() {
    let home = worked();
    let page = report(&home, &["--format", "html"]);
    assert_eq!(well_formed(&page), Ok(()));
    // An address in a reason is text; nothing may lead there.
    for markup in
        ["<script", "<img", "onerror=\"", "<b>x", "=\"http", "src=\"", "href=\"h", "url(", "@import", "\u{202e}"]
    {
        assert!(!page.contains(markup), "`{markup}` is in the page");
    }
    assert!(page.contains("&lt;script&gt;s&lt;/script&gt;"), "the session's name is shown");
    let text = report(&home, &[]);
    assert!(!without_code(&text).contains("<script") && !text.contains('\u{202e}'), "{text}");
}

#[test]
fn every_figure_names_a_command_and_the_command_says_the_same() {
    let home = worked();
    let document: Value = serde_json::from_str(&report(&home, &["--json"])).unwrap();
    let mut commands: Vec<String> = Vec::new();
    let sections = document["sections"].as_array().unwrap();
    let parts = sections.iter().flat_map(|section| section["parts"].as_array().unwrap());
    for block in parts.flat_map(|part| part["blocks"].as_array().unwrap()) {
        let has_figure = block.to_string().contains("\"figure\":");
        match block["from"].as_str() {
            Some(from) => commands.extend(from.split(", ").map(str::to_owned)),
            None => assert!(!has_figure, "no command for {block}"),
        }
    }
    commands.sort();
    commands.dedup();
    assert!(commands.len() > 10, "{commands:?}");
    let places = [
        ("DAY", "2026-01-01"),
        ("NEXT_2026-01-01", "2026-01-02"),
        ("NAME", "claude"),
        ("RULE", "push"),
        ("SEQUENCE", "2"),
    ];
    let decision =
        home.run(&["denials", "--json", "--limit", "1"], b"").json()[0]["decision"].as_str().unwrap().to_owned();
    for command in &commands {
        let mut line = places.iter().fold(command.clone(), |line, (from, to)| line.replace(from, to));
        line = line.replace("DECISION", &decision);
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0], "doorward", "{command}");
        let ran = home.run(&words[1..], b"");
        assert!(
            ran.code == 0 || (ran.code == 1 && words[1] == "alerts"),
            "`{line}` ends with {}: {}",
            ran.code,
            ran.stderr
        );
    }
    let figures = home.run(&["metrics", "--json"], b"").json();
    let text = report(&home, &[]);
    for (label, value) in [
        ("decisions", &figures["all"]["decisions"]),
        ("asked about", &figures["all"]["confirmed"]),
        ("blocked", &figures["all"]["blocked"]),
    ] {
        assert!(text.contains(&format!("| {label} | {value} |")), "{label} {value}");
    }
}

#[test]
fn the_whole_matrix_goes_into_a_file_and_a_report_is_readable_by_its_owner_alone() {
    let home = worked();
    let csv = report(&home, &["--matrix-csv", "-"]);
    assert_eq!((csv.lines().count(), csv.lines().next().unwrap().split(',').count()), (43, 32));
    assert!(report(&home, &["--out", "r.html"]).contains("r.html"));
    let file = home.project().join("r.html");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("<!DOCTYPE html>"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let page = report(&home, &["--format", "html"]);
    assert_eq!(
        page.matches("<td class=\"approve\"").count()
            + page.matches("<td class=\"confirm\"").count()
            + page.matches("<td class=\"block\"").count(),
        42 * 30
    );
}

/// A narrow screen stacks the cells of a row, so each needs the name of its column; the matrix scrolls in a box of its own.
#[test]
fn every_cell_names_its_column_and_every_table_has_a_box_to_scroll_in() {
    let page = report(&worked(), &["--format", "html"]);
    let tables: Vec<&str> = page.split("<table").skip(1).map(|rest| rest.split("</table>").next().unwrap()).collect();
    assert_eq!(page.matches("tabindex=\"0\">\n<table").count(), tables.len());
    for table in tables {
        let is_matrix = table.starts_with(" class=\"matrix\"");
        let wanted = if is_matrix { "data-action=\"" } else { "data-label=\"" };
        let named = if is_matrix { "scope=\"row\"" } else { "<td" };
        assert_eq!(table.matches(wanted).count(), table.matches(named).count(), "{table}");
        assert!(!table.contains("data-label=\"\""), "{table}");
    }
}

#[test]
fn a_machine_without_a_record_has_a_report_without_figures() {
    let home = Home::new();
    let text = report(&home, &[]);
    assert!(text.contains("Nothing has been recorded yet") && text.contains("## 8. Migration Path"), "{text}");
    assert_eq!(well_formed(&report(&home, &["--format", "html"])), Ok(()));
    assert!(!home.path(".local").exists() && !home.path(".config").exists(), "looking writes nothing");
}

const CONFIG: &str = ".config/doorward/config.toml";

#[test]
fn the_interview_wants_a_person() {
    let home = Home::new();
    let refused = home.without_terminal(&["report", "--new"]);
    assert!(refused.code == 1 && refused.stderr.contains("agents can't run this command"), "{}", refused.stderr);
    assert!(home.read(CONFIG).is_none());
}

#[test]
fn answers_that_make_no_sense_are_refused_and_nothing_is_written_before_the_last_yes() {
    if !is_there("the interview was not driven") {
        return;
    }
    let home = Home::new();
    let terminal = Terminal::new(&home);
    let steps =
        [("What are the agents for?", "coding"), ("Whose work is it?", "team"), ("Which external rules apply", "none")];
    for broken_off in 0..=steps.len() {
        terminal.run(&home, "doorward report --new");
        for (question, answer) in steps.iter().take(broken_off) {
            terminal.shows(question);
            terminal.types(answer);
        }
        terminal.shows(steps.get(broken_off).map_or("Write this?", |(question, _)| question));
        // By leaving, by a terminal that ends, by an interrupt, by anything but a yes.
        match broken_off {
            0 => terminal.types("q"),
            1 => terminal.key("C-d"),
            2 => terminal.key("C-c"),
            _ => terminal.types("n"),
        }
        // An interrupt ends the shell around it as well.
        match broken_off {
            2 => terminal.loses("Which external rules apply"),
            _ => terminal.shows("ended with 1"),
        };
        assert!(!home.path(".config").exists() && !home.path(".local").exists(), "at step {broken_off}");
    }
    terminal.run(&home, "doorward report --new");
    terminal.shows("What are the agents for?");
    for (typed, hint) in
        [("gardening", "is not a choice"), ("", "no answer; pick from"), ("opps", "did you mean `ops`?")]
    {
        terminal.types(typed);
        terminal.shows(hint);
    }
    terminal.types("coding, ops");
    terminal.shows("Whose work is it?");
    terminal.types("personal, enterprise");
    terminal.shows("pick only one");
    terminal.types("enterprise");
    terminal.shows("Which external rules apply");
    terminal.types("none, gdpr");
    terminal.shows("can't be combined");
    terminal.types("gdpr soc2");
    let shown = terminal.shows("Write this?");
    assert!(shown.contains("+ strict = true") && shown.contains("keep_days = 7"), "{shown}");
    assert!(home.read(CONFIG).is_none());
    terminal.types("y");
    terminal.shows("ended with 0");
    let config = home.read(CONFIG).unwrap();
    assert!(config.contains("compliance = [\"gdpr\", \"soc2\"]") && config.contains("retain_days = 365"), "{config}");
    let policy = home.run(&["audit", "list", "--kind", "policy", "--json"], b"").json();
    assert!(policy[0]["text"].as_str().unwrap().contains("report --new"), "{policy}");
    let text = report(&home, &[]);
    assert!(text.contains("`enterprise`") && text.contains("`gdpr`") && text.contains("365 days"), "{text}");
}

#[test]
fn a_configuration_that_is_there_is_kept_and_only_added_to() {
    if !is_there("no configuration was edited") {
        return;
    }
    let home = Home::new();
    let mine = "# mine\nwait_seconds = 5 # short\n\n[permissions]\nask = [\"fetch\"]\n";
    home.write(CONFIG, mine);
    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward report --new");
    for (question, answer) in
        [("What are the agents for?", "coding"), ("Whose work is it?", "team"), ("Which external rules apply", "none")]
    {
        terminal.shows(question);
        terminal.types(answer);
    }
    let shown = terminal.shows("Write this?");
    assert!(shown.contains("`wait_seconds` stays 5; 120 was proposed") && shown.contains("+ [profile]"), "{shown}");
    terminal.types("yes");
    terminal.shows("ended with 0");
    let config = home.read(CONFIG).unwrap();
    assert!(config.starts_with(mine) && config.contains("trust = \"team\""), "{config}");
    assert_eq!(home.read(".config/doorward/config.toml.before-report").as_deref(), Some(mine));
    assert_eq!(home.run(&["config"], b"").code, 0);
}
