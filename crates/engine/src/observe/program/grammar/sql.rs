//! Database clients: what the SQL on the command line or on standard input does.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::super::Invocation;
use super::sql_text::{Sql, weigh};
use crate::knowledge::schema::{Does, Role};
use crate::observe::observer::Observer;
use crate::observe::program::roles;
use crate::observe::program::roles::{reads, writes};
use crate::observe::shell::field::Field;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::observe::touch::Touch;

pub fn sql_client(out: &mut Observer<'_>, invocation: &mut Invocation, state: &mut State<'_>) {
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
    variables_in_sql(out, invocation);
    let mut worst = Sql::Nothing;
    for text in &texts {
        match text.known() {
            Some(text) => worst = worst.max(weigh(text)),
            None => {
                out.lower(Degree::Opaque, format!("SQL given to `{}` that is not known", invocation.by.name));
                worst = worst.max(Sql::Destroys);
            }
        }
    }
    if invocation.args.chain.first().is_some_and(|entry| &*entry.key == "duckdb") {
        tables_in_files(out, &texts, invocation, state);
    }
    if worst == Sql::Escapes {
        out.lower(Degree::Opaque, format!("SQL given to `{}` that leaves the database", invocation.by.name));
        out.unknown(Operation::Execute, &invocation.by, Marks::default().with(Mark::Database).with(Mark::ShellCode));
    }
    if database_file(out, worst, has_script, invocation, state) {
        return;
    }
    if worst > Sql::Reads {
        invocation.does = vec![change(worst)];
    }
    if texts.is_empty() && !has_script && !invocation.args.has_any(&["-l", "--list"]) {
        invocation.does.iter_mut().for_each(|does| does.marks.add(Mark::Interactive));
    }
}

/// `psql -v name=value`: the value is put into the text as it is.
fn variables_in_sql(out: &mut Observer<'_>, invocation: &Invocation) {
    let is_set = |name: &str| matches!(name, "-v" | "--set" | "--variable");
    let values = invocation.args.given.iter().filter(|given| is_set(&given.name));
    let is_plain = |field: &Field| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.-=@:".contains(letter);
        field.exact().is_some_and(|text| text.chars().all(plain))
    };
    let odd = values.filter_map(|given| given.value.as_ref()).find(|field| !is_plain(field));
    if let Some(value) = odd.filter(|_| invocation.args.chain.first().is_some_and(|entry| &*entry.key == "psql")) {
        out.lower(Degree::Opaque, format!("the variable `{}`, which becomes SQL", value.shown()));
    }
}

/// DuckDB reads a file or an address where a table is named by a string.
fn tables_in_files(out: &mut Observer<'_>, texts: &[Field], invocation: &mut Invocation, state: &mut State<'_>) {
    for text in texts {
        let strings = text.text.split('\'').skip(1).step_by(2).filter(|string| string.contains(['/', '.']));
        for string in strings {
            reads(out, Touch::Read, &text.with_text(string), invocation, state);
        }
    }
}

/// `sqlite3 file`: the database is a file here.
fn database_file(
    out: &mut Observer<'_>,
    worst: Sql,
    has_script: bool,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) -> bool {
    let Some(at) = invocation.roles.iter().position(|role| matches!(role, Role::Edit | Role::Write)) else {
        return false;
    };
    let Some(file) = invocation.operand(at).cloned() else { return false };
    if let Some(role) = invocation.roles.get_mut(at) {
        *role = Role::Data;
    }
    if file.text == ":memory:" {
        return true;
    }
    let reads = worst <= Sql::Reads && !has_script;
    let ((), mut caused) = out.collect(|out| match reads {
        true => roles::reads(out, Touch::Read, &file, invocation, state),
        false => writes(out, Touch::Edit, &file, invocation, state),
    });
    for effect in caused.iter_mut() {
        effect.marks.add(Mark::Database);
        if worst == Sql::Destroys {
            effect.marks.add(Mark::Destroys);
            effect.reversibility = Reversibility::Irreversible;
        }
    }
    out.write(caused);
    true
}

/// The SQL among flags and operands, taken out of them.
fn code(invocation: &mut Invocation) -> Vec<Field> {
    let mut texts = Vec::new();
    for given in invocation.args.given.iter_mut().filter(|given| given.role == Role::CodeSql) {
        texts.extend(given.value.clone());
        given.role = Role::Data;
    }
    for (field, role) in invocation.args.operands.iter().zip(invocation.roles.iter_mut()) {
        if *role == Role::CodeSql {
            texts.push(field.clone());
            *role = Role::Data;
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
