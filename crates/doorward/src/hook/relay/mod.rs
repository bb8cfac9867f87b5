//! `doorward mcp`: stands between a client and a tool server, passes messages on byte for byte, and judges every call.

pub(crate) mod acp;
mod acp_call;
mod answers;
mod ends;
mod envelope;
mod events;
mod exchange;
mod http;
mod http_message;
mod identity;
mod judge;
mod lines;
mod listing;
pub(crate) mod own_server;
mod results;
mod stdio;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;

use self::exchange::Exchange;
use self::identity::Identity;
use self::judge::Judge;
use crate::machine::paths::Dirs;
use crate::memory::evaluation;

/// The server behind the relay.
#[derive(Debug, Args)]
pub(crate) struct RelayArguments {
    /// What your client calls the server; default: the name of its program or package
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Take clients on this address of this machine, such as 127.0.0.1:7400
    #[arg(long, value_name = "ADDRESS", requires = "to")]
    pub listen: Option<String>,
    /// The address of a server on the network
    #[arg(long, value_name = "URL", requires = "listen", conflicts_with = "command")]
    pub to: Option<String>,
    /// The command that starts the server
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "to")]
    pub command: Vec<String>,
}

/// Relays until the client or the server leaves.
pub(crate) fn run(arguments: &RelayArguments) -> Result<ExitCode> {
    evaluation::silence_panics();
    if let (Some(listen), Some(to)) = (&arguments.listen, &arguments.to) {
        let (name, to) = (arguments.name.clone(), to.clone());
        let address = to.clone();
        return http::run(listen, &address, move || exchange(name.as_deref(), vec![to.clone()]));
    }
    let Some((program, rest)) = arguments.command.split_first() else { bail!("there is no server to start") };
    let exchange = exchange(arguments.name.as_deref(), arguments.command.clone())?;
    stdio::run(program, rest, exchange)
}

fn exchange(name: Option<&str>, command: Vec<String>) -> Result<Exchange> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let cwd = std::env::current_dir().context("can't tell the current directory")?;
    let Some(cwd) = cwd.to_str().map(str::to_owned) else { bail!("the current directory has a name that is not text") };
    let server = name.map_or_else(|| named(&command), str::to_owned);
    let judge = Judge { dirs, cwd, server, command };
    Ok(Exchange::new(judge, Identity::of_environment()))
}

/// `npx -y @modelcontextprotocol/server-filesystem ~/x` → `server-filesystem`.
fn named(command: &[String]) -> String {
    if let [address] = command
        && let Some((_, rest)) = address.split_once("://")
    {
        return rest.split(['/', ':', '?']).next().unwrap_or(rest).to_owned();
    }
    // Programs that only start others.
    const STARTERS: &[&str] = &[
        "npx", "uvx", "bunx", "pnpm", "yarn", "npm", "uv", "docker", "podman", "node", "python", "python3", "dlx",
        "exec", "run", "x",
    ];
    let names =
        command.iter().filter(|word| !word.starts_with('-')).filter_map(|word| Path::new(word).file_name()?.to_str());
    let name = names.into_iter().find(|name| !STARTERS.contains(name)).unwrap_or("server");
    name.split('@').find(|part| !part.is_empty()).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_name_has_that_of_its_package() {
        for (command, expected) in [
            ("npx -y @modelcontextprotocol/server-filesystem@1.2 /w", "server-filesystem"),
            ("uvx mcp-server-git", "mcp-server-git"),
            ("/usr/bin/my-server --port 1", "my-server"),
            ("node dist/index.js", "index.js"),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(named(&words), expected, "{command}");
        }
    }
}
