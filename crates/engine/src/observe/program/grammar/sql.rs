//! Database clients: what the SQL on the command line or on standard input does.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::super::Invocation;
use super::sql_text::{Sql, weigh};
use crate::knowledge::schema::{Does, Role};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::observe::stream::Stream;

pub(super) fn sql_client(invocation: &mut Invocation) -> Findings {
    let mut texts = code(invocation);
    let has_script = invocation
        .args
        .given
        .iter()
        .any(|given| matches!(given.role, Role::Script | Role::Config) && given.value.is_some());
    if texts.is_empty() && !has_script && invocation.input != Stream::empty() {
        texts.push(match &invocation.input.text {
            Some(text) => Field::literal(text.clone(), doorward_shell::Span::default()),
            None => Field { dynamic: true, origin: invocation.input.origin, ..Field::default() },
        });
    }
    let mut found = variables_in_sql(invocation);
    let mut worst = Sql::Nothing;
    for text in &texts {
        match text.known() {
            Some(text) => worst = worst.max(weigh(text)),
            None => {
                found.doubt(Degree::Opaque, format!("SQL given to `{}` that doorward can't see", invocation.by.name));
                worst = worst.max(Sql::Destroys);
            }
        }
    }
    if invocation.args.chain.first().is_some_and(|entry| &*entry.key == "duckdb") {
        tables_in_files(&mut found, &texts);
    }
    if worst == Sql::Escapes {
        found.doubt(Degree::Opaque, format!("SQL given to `{}` that reaches outside the database", invocation.by.name));
        found.unknown(Operation::Execute, Marks::default().with(Mark::Database).with(Mark::ShellCode));
    }
    if let Some(file) = database_file(invocation) {
        found.extend(used_file(file, worst, has_script));
        return found;
    }
    if worst > Sql::Reads {
        invocation.does = vec![change(worst)];
    }
    if texts.is_empty() && !has_script && !invocation.args.has_any(&["-l", "--list"]) {
        invocation.does.iter_mut().for_each(|does| does.marks.add(Mark::Interactive));
    }
    found
}

/// `psql -v name=value`: the value is put into the text as it is.
fn variables_in_sql(invocation: &Invocation) -> Findings {
    let is_set = |name: &str| matches!(name, "-v" | "--set" | "--variable");
    let values = invocation.args.given.iter().filter(|given| is_set(&given.name));
    let is_plain = |field: &Field| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.-=@:".contains(letter);
        field.exact().is_some_and(|text| text.chars().all(plain))
    };
    let odd = values.filter_map(|given| given.value.as_ref()).find(|field| !is_plain(field));
    match odd.filter(|_| invocation.args.chain.first().is_some_and(|entry| &*entry.key == "psql")) {
        Some(value) => {
            Findings::doubtful(Degree::Opaque, format!("the variable `{}`, which becomes SQL", value.shown()))
        }
        None => Findings::default(),
    }
}

/// DuckDB reads a file or an address where a table is named by a string.
fn tables_in_files(found: &mut Findings, texts: &[Field]) {
    for text in texts {
        let strings = text.text.split('\'').skip(1).step_by(2).filter(|string| string.contains(['/', '.']));
        for string in strings {
            found.read(Touch::Read, text.with_text(string));
        }
    }
}

/// `sqlite3 file`: the database is a file here.
fn database_file(invocation: &mut Invocation) -> Option<Field> {
    let at = invocation.roles.iter().position(|role| matches!(role, Role::Edit | Role::Write))?;
    let file = invocation.operand(at).cloned()?;
    if let Some(role) = invocation.roles.get_mut(at) {
        *role = Role::Text;
    }
    Some(file)
}

/// What the SQL does to the file of its database.
fn used_file(file: Field, worst: Sql, has_script: bool) -> Findings {
    let (mut found, mut used) = (Findings::default(), Findings::default());
    if file.text == ":memory:" {
        return found;
    }
    if worst <= Sql::Reads && !has_script {
        used.read(Touch::Read, file);
    } else {
        used.write(Touch::Edit, file);
    }
    found.sealed(used, move |caused, _| {
        for effect in caused.iter_mut() {
            effect.marks.add(Mark::Database);
            if worst == Sql::Destroys {
                effect.marks.add(Mark::Destroys);
                effect.reversibility = Reversibility::Irreversible;
            }
        }
    });
    found
}

/// The SQL among flags and operands, taken out of them.
fn code(invocation: &mut Invocation) -> Vec<Field> {
    let mut texts = Vec::new();
    for given in invocation.args.given.iter_mut().filter(|given| given.role == Role::CodeSql) {
        texts.extend(given.value.clone());
        given.role = Role::Text;
    }
    for (field, role) in invocation.args.operands.iter().zip(invocation.roles.iter_mut()) {
        if *role == Role::CodeSql {
            texts.push(field.clone());
            *role = Role::Text;
        }
    }
    texts
}

fn change(worst: Sql) -> Does {
    let mut does = Does::usual(Operation::Mutate);
    does.scope = Scope::External;
    does.reach = Reach::Beyond;
    does.marks = Marks::default().with(Mark::Database);
    if worst >= Sql::Destroys {
        does.marks.add(Mark::Destroys);
    }
    does
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const PSQL: &str = "name = 'psql'\nwhat = 'x'\ngrammar = 'sql'\noperands = ['data?']\ndoes = ['read external +database']\n[flags]\nplain = '-l'\n'-d' = 'data'\n'-c' = 'code-sql'\n'-f' = 'script'";
    const SQLITE: &str = "name = 'sqlite3'\nwhat = 'x'\nstyle = 'single-dash'\ngrammar = 'sql'\noperands = ['edit?', 'code-sql*']\n[flags]\nplain = '-json'";

    #[test]
    fn clients() {
        check(
            &[PSQL, SQLITE],
            &[
                ("psql -d app -c 'select count(*) from users'", "full", "read psql +database"),
                ("psql -c '\\dt'", "full", "read psql"),
                ("psql app <<'E'\nselect 1;\nE", "full", "read psql"),
                ("psql -c 'drop table users'", "full", "mutate psql +destroys"),
                ("psql -c 'select 1' -c 'update t set a = 1'", "full", "mutate psql +database"),
                ("cat x.sql | psql app", "opaque", "read x.sql; mutate psql +database"),
                ("psql -c '\\! id'", "opaque", "execute something unknown; mutate psql"),
                ("psql", "full", "read psql +interactive"),
                ("sqlite3 -json app.db 'select * from t'", "full", "read app.db +database"),
                ("sqlite3 app.db .tables", "full", "read app.db"),
                ("sqlite3 app.db 'delete from t'", "full", "write app.db +destroys =irreversible"),
                ("sqlite3 app.db '.shell id'", "opaque", "execute something unknown; write app.db"),
                ("sqlite3 app.db \"select $X\"", "opaque", "write app.db"),
            ],
        );
    }
}
