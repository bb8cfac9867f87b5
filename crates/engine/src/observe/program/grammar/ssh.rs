//! `ssh`: a host, its options, and a command that runs there.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::super::Invocation;
use crate::knowledge::schema::{Does, Role};
use crate::observe::connect::Exchange;
use crate::observe::observer::Observer;
use crate::observe::program::findings::on_resource;
use crate::observe::program::roles::{reads, role, shell_code};
use crate::observe::program::stated::network_flows;
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;

/// Options that only say how to connect.
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

pub fn ssh(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    ssh_options(runner, invocation, state);
    let operands = invocation.args.operands.clone();
    invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
    let Some(host) = operands.first() else { return };
    let name = host.text.strip_prefix("ssh://").unwrap_or(&host.text);
    let name = name.split('/').next().unwrap_or(name).rsplit('@').next().unwrap_or(name);
    let by = invocation.by.clone();
    runner.out.connect_host(&host.with_text(name), Exchange::Fetch, &by);
    network_flows(runner.out, host.origin.secret || invocation.input.origin.secret, &by);
    let command = operands.get(1..).unwrap_or_default();
    if !command.is_empty() {
        if runner.out.effects().last().is_some_and(|effect| effect.marks.has(Mark::Loopback)) {
            back_at_home(runner, command, invocation, state);
        }
        remote_command(runner.out, command, Marks::default(), invocation);
    } else if !invocation.args.has_any(&["-N", "-O", "-G", "-Q", "-V", "-f"]) {
        remote_command(runner.out, &[], Marks::default().with(Mark::Interactive), invocation);
    }
    invocation.output.origin.download = true;
}

/// A command that comes back to this machine does here, in the home, what it does.
fn back_at_home(runner: &mut Runner<'_, '_>, words: &[Field], invocation: &mut Invocation, state: &mut State<'_>) {
    let Some(first) = words.first() else { return };
    let text: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let cwd = std::mem::replace(&mut invocation.cwd, runner.out.world.home().map(str::to_owned));
    shell_code(runner, &first.with_text(text.join(" ")), invocation, state);
    invocation.cwd = cwd;
}

/// A command on another machine: nothing local can be said about it.
pub fn remote_command(out: &mut Observer<'_>, words: &[Field], marks: Marks, invocation: &Invocation) {
    if words.iter().any(|word| word.dynamic) {
        out.lower(Degree::Opaque, "a command on another machine that is not known");
    }
    let secret = words.iter().any(|word| word.origin.secret);
    network_flows(out, secret, &invocation.by.clone());
    let mut does = Does::usual(Operation::Execute);
    does.scope = Scope::External;
    does.reach = Reach::Beyond;
    does.reversibility = Reversibility::Irreversible;
    does.marks = Marks::default().with(Mark::Remote);
    let name = invocation.by.name.clone();
    out.marked_effect(on_resource(&does, name, invocation), marks);
}

/// `-o Name=value`: most are harmless, some run programs here.
fn ssh_options(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
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
                reads(runner.out, crate::observe::touch::Touch::List, &value.with_text(file), invocation, state);
                true
            }
            ("proxycommand" | "localcommand" | "knownhostscommand", command) => {
                role(runner, &value.with_text(command), Role::CodeSh, invocation, state);
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
