//! Reads what is known about tool (MCP) servers: what each tool does, and what its arguments stand for.

use std::borrow::Cow;

use doorward_vocabulary::words;
use toml::Spanned;
use toml::de::DeValue;

use crate::file::{Complaint, File};
use crate::schema::Text;

words! {
    /// What a tool of a server does.
    ToolDoes {
        Nothing = "nothing" : "computes, or shows what the server itself holds",
        Files = "files" : "only what its arguments say about files, addresses, statements and commands",
        Reads = "reads" : "reads from a service under the user's account",
        Notes = "notes" : "keeps notes of the agent",
        Page = "page" : "acts in the page that a browser shows",
        Changes = "changes" : "changes something on a service, which can be changed back",
        Sends = "sends" : "sends a message to people",
        Destroys = "destroys" : "deletes, merges, pays: nothing brings it back",
        Secrets = "secrets" : "returns secrets",
        Scripts = "scripts" : "runs a script in the page that a browser shows; a script that only looks at it is a read",
        Runs = "runs" : "runs code",
    }
}

words! {
    /// What an argument of a tool stands for.
    Argument {
        Data = "data" : "text, numbers and names that the tool works with",
        Read = "read" : "files it reads",
        Tree = "tree" : "directories it reads with everything below",
        List = "list" : "directories it lists",
        Write = "write" : "files it writes",
        Output = "output" : "files it makes in a directory of its own, or where an absolute path says",
        Content = "content" : "what it writes into the file",
        Append = "append" : "files it writes at the end of",
        Edit = "edit" : "files it changes in places",
        Old = "old" : "what an edit takes out",
        New = "new" : "what an edit puts in",
        Edits = "edits" : "a list of edits",
        Make = "make" : "directories it makes",
        Move = "move" : "files that vanish there",
        Delete = "delete" : "files it deletes",
        Upload = "upload" : "files it sends away",
        Address = "address" : "addresses it contacts",
        Sql = "sql" : "a statement for a database",
        Command = "command" : "a command line it runs",
        Code = "code" : "code it runs",
    }
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// What people call it in their settings, without `mcp` and `server`.
    pub names: Vec<Text>,
    /// Packages, images and hosts that are this server.
    pub packages: Vec<Text>,
    pub what: Text,
    pub tools: Vec<ServerTool>,
}

/// One tool of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTool {
    pub name: Text,
    pub does: ToolDoes,
    /// The command that does the same, with arguments in braces; empty if there is none.
    pub command: Text,
    pub takes: Vec<(Text, Argument)>,
}

impl ServerTool {
    /// What an argument stands for; `None` if the tool has no such argument.
    pub fn argument(&self, name: &str) -> Option<Argument> {
        self.takes.iter().find(|(known, _)| known == name).map(|(_, argument)| *argument)
    }
}

/// Reads one file.
pub fn read(file: File<'_>) -> Result<Server, Complaint> {
    let table = file.table()?;
    let mut server = Server { names: Vec::new(), packages: Vec::new(), what: Cow::Borrowed(""), tools: Vec::new() };
    let mut common = Vec::new();
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "names" => server.names = texts(&file, value)?,
            "packages" => server.packages = texts(&file, value)?,
            "what" => server.what = Cow::Owned(file.string(value)?.to_owned()),
            "takes" => common = takes(&file, value)?,
            "tool" => {
                for item in file.array(value)? {
                    server.tools.extend(tools(&file, item)?);
                }
            }
            other => return Err(file.at(key, format!("`{other}` is not a key of a server"))),
        }
    }
    if server.names.is_empty() || server.packages.is_empty() || server.what.is_empty() {
        return Err(file.complaint(0, "a server needs `names`, `packages` and `what`"));
    }
    for tool in &mut server.tools {
        let own = std::mem::take(&mut tool.takes);
        let missing = common.iter().filter(|(name, _)| !own.iter().any(|(known, _)| known == name)).cloned();
        tool.takes = missing.chain(own.iter().cloned()).collect();
    }
    Ok(server)
}

fn tools(file: &File<'_>, item: &Spanned<DeValue<'_>>) -> Result<Vec<ServerTool>, Complaint> {
    let (mut names, mut does, mut command, mut arguments) = (Vec::new(), None, String::new(), Vec::new());
    for (key, value) in file.inner(item)?.iter() {
        match key.get_ref().as_ref() {
            "names" => names = texts(file, value)?,
            "does" => does = ToolDoes::parse(file.string(value)?),
            "as" => file.string(value)?.clone_into(&mut command),
            "takes" => arguments = takes(file, value)?,
            other => return Err(file.at(key, format!("`{other}` is not a key of a server's tool"))),
        }
    }
    let words = || ToolDoes::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", ");
    let does = does.ok_or_else(|| file.at(item, format!("a tool needs `does`: one of {}", words())))?;
    if names.is_empty() {
        return Err(file.at(item, "a tool needs `names`"));
    }
    let tool = |name: Text| ServerTool { name, does, command: Cow::Owned(command.clone()), takes: arguments.clone() };
    Ok(names.into_iter().map(tool).collect())
}

/// `{ read = "path paths", data = "limit" }`: which arguments stand for what.
fn takes(file: &File<'_>, value: &Spanned<DeValue<'_>>) -> Result<Vec<(Text, Argument)>, Complaint> {
    let mut found = Vec::new();
    for (word, names) in file.inner(value)?.iter() {
        let argument = Argument::parse(word.get_ref());
        let argument = argument.ok_or_else(|| file.at(word, "arguments are not of this kind"))?;
        found.extend(texts(file, names)?.into_iter().map(|name| (name, argument)));
    }
    Ok(found)
}

fn texts(file: &File<'_>, value: &Spanned<DeValue<'_>>) -> Result<Vec<Text>, Complaint> {
    Ok(file.strings(value)?.into_iter().map(Cow::Owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_each_tool_does_and_what_its_arguments_are() {
        let text = "names = 'x'\npackages = 'x-server'\nwhat = 'x'\ntakes = { data = 'page' }\n\
                    [[tool]]\nnames = 'get list'\ndoes = 'reads'\ntakes = { read = 'path' }";
        let server = read(File { name: "x.toml", text }).unwrap();
        let found: Vec<_> = server.tools.iter().map(|tool| (&*tool.name, tool.does)).collect();
        assert_eq!(found, [("get", ToolDoes::Reads), ("list", ToolDoes::Reads)]);
        assert_eq!(server.tools[0].argument("path"), Some(Argument::Read));
        assert_eq!(server.tools[0].argument("page"), Some(Argument::Data));
        assert_eq!(server.tools[0].argument("other"), None);
    }

    #[test]
    fn a_mistake_names_its_line() {
        let text = "names = 'x'\npackages = 'y'\nwhat = 'x'\n[[tool]]\nnames = 'get'\ndoes = 'glances'";
        assert_eq!(read(File { name: "x.toml", text }).unwrap_err().line, 4);
    }
}
