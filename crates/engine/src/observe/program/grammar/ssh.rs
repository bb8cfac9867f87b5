//! `ssh`: a host, its options, and a command that runs there.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::super::Invocation;
use crate::knowledge::schema::{Does, Role};
use crate::network;
use crate::observe::connect::Exchange;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::{Findings, on_resource};
use crate::world::World;

/// Options that only say how to connect.
// `ProxyCommand`, `LocalCommand`, `KnownHostsCommand` and `PermitLocalCommand` run programs here and are missing
// (program-flags-031).
const PLAIN: &[&str] = &[
    "connecttimeout",
    "batchmode",
    "serveraliveinterval",
    "serveralivecountmax",
    "loglevel",
    "user",
    "port",
    "identitiesonly",
    "requesttty",
    "compression",
    "addressfamily",
    "preferredauthentications",
    "passwordauthentication",
    "numberofpasswordprompts",
    "connectionattempts",
    "tcpkeepalive",
    "escapechar",
    "clearallforwardings",
    "checkhostip",
    "hashknownhosts",
    "controlpersist",
    "pubkeyauthentication",
];

pub(super) fn ssh(world: &dyn World, invocation: &mut Invocation) -> Findings {
    let mut found = read_options(invocation);
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    let Some((host, command)) = invocation.args.operands.split_first() else { return found };
    let name = host.text.strip_prefix("ssh://").unwrap_or(&host.text);
    let name = name.split('/').next().unwrap_or(name).rsplit('@').next().unwrap_or(name);
    let named = host.with_text(name);
    let is_here = named.known().is_some_and(|name| network::host(name, world).marks.has(Mark::Loopback));
    found.connect(named, Exchange::Fetch);
    if host.origin.secret || invocation.input.origin.secret {
        found.send_secret();
    }
    if let Some(first) = command.first() {
        if is_here {
            // A command that comes back to this machine does here, in the home, what it does.
            let text: Vec<&str> = command.iter().map(|word| word.text.as_str()).collect();
            let mut back = Findings::default();
            back.run_text(first.with_text(text.join(" ")));
            found.within(world.home().map(str::to_owned), back);
        }
        found.extend(remote_command(command, Marks::default(), invocation));
    } else if !invocation.args.has_any(&["-N", "-O", "-G", "-Q", "-V", "-f"]) {
        found.extend(remote_command(&[], Marks::default().with(Mark::Interactive), invocation));
    }
    found.fetch();
    found
}

/// A command on another machine: nothing local can be said about it.
fn remote_command(words: &[Field], marks: Marks, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    if words.iter().any(|word| word.dynamic) {
        found.doubt(Degree::Opaque, "a command on another machine that doorward can't see");
    }
    if words.iter().any(|word| word.origin.secret) {
        found.send_secret();
    }
    let mut does = Does::usual(Operation::Execute);
    does.scope = Scope::External;
    does.reach = Reach::Beyond;
    does.reversibility = Reversibility::Irreversible;
    does.marks = Marks::default().with(Mark::Remote);
    found.marked_effect(on_resource(&does, invocation.by.name.clone(), invocation), marks);
    found
}

/// `-o Name=value`: most are harmless, some run programs here.
fn read_options(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let mut weakened = false;
    for at in 0..invocation.args.given.len() {
        let Some(given) = invocation.args.given.get(at).filter(|given| given.name == "-o") else { continue };
        let Some(value) = given.value.clone() else { continue };
        let text = value.text.clone();
        let (name, setting) = text.split_once(['=', ' ']).unwrap_or((&text, ""));
        let setting = setting.trim();
        let harmless = match (name.trim().to_ascii_lowercase().as_str(), setting) {
            _ if value.dynamic => false,
            ("stricthostkeychecking", "no" | "off") | ("userknownhostsfile" | "globalknownhostsfile", "/dev/null") => {
                weakened = true;
                true
            }
            ("stricthostkeychecking", _)
            | ("forwardagent" | "forwardx11" | "permitlocalcommand" | "controlmaster", "no")
            | ("proxycommand" | "localcommand", "none") => true,
            ("identityfile", file) => {
                found.read(Touch::List, value.with_text(file));
                true
            }
            ("proxycommand" | "localcommand" | "knownhostscommand", command) => {
                found.role(value.with_text(command), Role::CodeSh);
                false
            }
            (name, _) => PLAIN.contains(&name),
        };
        if let Some(given) = invocation.args.given.get_mut(at) {
            given.changes.opaque = !harmless;
        }
    }
    if weakened {
        let mut does = Does::usual(Operation::Network);
        does.marks.add(Mark::TlsWeakened);
        invocation.does.push(does);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const SSH: &str = "name = 'ssh'\nwhat = 'x'\ngrammar = 'ssh'\nstops = true\noperands = ['host', 'shell?']\n[flags]\nplain = '-T -N -v'\n'-p' = 'data'\n'-i' = 'read'\n'-o' = 'data opaque'\n'-L' = 'data !forward'\n'-F' = 'config'\n[extra]\nforward = 'network +listens'";

    #[test]
    fn hosts_and_commands() {
        check(
            &[SSH],
            &[
                ("ssh dev@build.example uptime", "full", "network build.example; execute ssh +remote =irreversible"),
                ("ssh build.example 'rm -rf /'", "full", "network build.example; execute ssh +remote"),
                ("ssh build.example", "full", "network build.example; execute ssh +interactive"),
                (
                    "ssh -o ConnectTimeout=5 -o BatchMode=yes build.example ls",
                    "full",
                    "network build.example; execute ssh",
                ),
                (
                    "ssh -o StrictHostKeyChecking=no build.example ls",
                    "full",
                    "network build.example; execute ssh; network ssh +tls-weakened",
                ),
                (
                    "ssh -o ProxyCommand='rm -r build' x.example ls",
                    "opaque",
                    "delete build; network x.example; execute ssh",
                ),
                ("ssh -o Frob=1 x.example ls", "opaque", "network x.example; execute ssh"),
                ("ssh -N -L 8080:localhost:80 x.example", "full", "network x.example; network ssh +listens"),
                (
                    "ssh localhost 'rm -r build'",
                    "full",
                    "network localhost; delete /home/dev/build; execute ssh +remote",
                ),
                ("ssh x.example \"$CMD\"", "opaque", "network x.example; execute ssh"),
            ],
        );
    }
}
