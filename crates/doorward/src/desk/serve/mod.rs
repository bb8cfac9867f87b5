//! `doorward serve`: the desk in a browser, and the socket that answers agents.
//!
//! Start at `http.rs`, where a request comes in, and `routes.rs`, which knows who answers it. Answers to calls go through
//! `answers.rs` and from there through the same functions as `doorward approve`.

mod answers;
mod cards;
mod driven;
mod events;
mod exchange;
mod gate;
mod http;
mod install;
mod newer;
mod openapi;
mod pair;
mod room;
mod routes;
mod signature;
mod signin;
mod store;
#[cfg(test)]
mod tests;
mod tls;
mod tokens;
mod views;

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub(crate) use pair::{DevicesArguments, devices};
pub(crate) use signature::DeviceReport;

use crate::desk::person;
use crate::hook::serve as socket;
use crate::machine::paths::Dirs;
use room::Room;
use store::{DeskStore, Running};

/// The usual port: DOOR on a telephone's keys.
const PORT: u16 = 3667;

/// What to start, and where.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Answer agents on this socket, in a directory that only you can write to; without --port, nothing else is started
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// The desk's port [default: 3667]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Let other machines reach the desk at this address or host name, encrypted; needs a certificate
    #[arg(long, value_name = "HOST")]
    pub listen: Option<String>,
    /// The certificate for --listen, in PEM
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub cert: Option<PathBuf>,
    /// Its key, in PEM
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub key: Option<PathBuf>,
    /// Make a certificate for --listen HOST, with an authority of its own to install on the phone (not for agents)
    #[arg(long, value_name = "HOST", conflicts_with_all = ["socket", "listen"])]
    pub ca: Option<String>,
    /// Print a link that opens the desk on this machine, once, to look (not for agents)
    #[arg(long, conflicts_with_all = ["socket", "port"])]
    pub link: bool,
    /// Keep the desk running with these options: a user service, started now and with every login (not for agents)
    #[arg(long, conflicts_with_all = ["link", "pair", "ca"])]
    pub install: bool,
    /// Remove that service (not for agents)
    #[arg(long, conflicts_with_all = ["install", "socket", "port", "listen", "link", "pair", "ca"])]
    pub uninstall: bool,
    /// Pair a browser or phone, which may then answer (not for agents)
    #[arg(long, conflicts_with_all = ["socket", "link"])]
    pub pair: bool,
}

impl ServeArguments {
    /// The options that a service is started with.
    fn lasting(&self) -> Vec<String> {
        let path = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string();
        let mut words = Vec::new();
        for (name, value) in [
            ("--socket", self.socket.as_ref().map(path)),
            ("--port", self.port.map(|port| port.to_string())),
            ("--listen", self.listen.clone()),
            ("--cert", self.cert.as_ref().map(path)),
            ("--key", self.key.as_ref().map(path)),
        ] {
            words.extend(value.map(|value| [name.to_owned(), value]).into_iter().flatten());
        }
        words
    }
}

/// Serves until it is stopped.
pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    if arguments.uninstall {
        return install::uninstall(&dirs).map(|()| ExitCode::SUCCESS);
    }
    if arguments.install {
        return install::install(&dirs, &arguments.lasting()).map(|()| ExitCode::SUCCESS);
    }
    newer::watch();
    if let (Some(path), None, None) = (&arguments.socket, arguments.port, &arguments.listen) {
        return socket::run(path);
    }
    if let Some(host) = &arguments.ca {
        return make_authority(&dirs, host).map(|()| ExitCode::SUCCESS);
    }
    let is_there = running(&dirs).is_some();
    if arguments.link {
        person::required()?;
        return print_link(&dirs).map(|()| ExitCode::SUCCESS);
    }
    if arguments.pair && is_there {
        return pair::pair(&dirs).map(|()| ExitCode::SUCCESS);
    }
    if arguments.pair {
        person::required()?;
    }
    desk(&dirs, arguments)
}

/// The desk that answers now.
fn running(dirs: &Dirs) -> Option<Running> {
    let known = DeskStore::open(dirs).ok()?.running()?;
    let is_held = room::Turn::is_held(dirs);
    is_held.then_some(known)
}

/// Where the desk is, while it runs.
pub(crate) fn origin(dirs: &Dirs) -> Option<String> {
    running(dirs).map(|running| running.origin)
}

fn desk(dirs: &Dirs, arguments: &ServeArguments) -> Result<ExitCode> {
    let _turn = room::Turn::take(dirs)?;
    let (listener, tls, origins) = place(dirs, arguments)?;
    let port = listener.local_addr()?.port();
    let origin = origins.first().cloned().unwrap_or_default();
    store::note_port(dirs, port)?;
    let store = DeskStore::open(dirs)?;
    let running =
        Running { pid: std::process::id(), origin: origin.clone(), version: env!("CARGO_PKG_VERSION").to_owned() };
    store.set_running(&running)?;
    if let Some(path) = arguments.socket.clone() {
        std::thread::Builder::new().spawn(move || {
            if let Err(error) = socket::run(&path) {
                // The desk goes on without it; agents find no socket and say so.
                let _ = writeln!(anstream::stderr(), "the socket is not served: {error:#}");
            }
        })?;
    }
    let room = Arc::new(Room::new(dirs.clone(), origins));
    writeln!(anstream::stdout(), "the desk is at {origin}")?;
    greet(dirs, arguments);
    warm(&room);
    serve(listener, tls, room)
}

/// Where the desk is, how it is encrypted, and under which origins it answers.
fn place(dirs: &Dirs, arguments: &ServeArguments) -> Result<(std::net::TcpListener, Option<TlsAcceptor>, Vec<String>)> {
    let port = arguments.port.unwrap_or(PORT);
    let address = match arguments.listen.as_deref().map(str::parse::<IpAddr>) {
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Some(Ok(address)) => address,
        // A name may stand for any address of this machine.
        Some(Err(_)) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    };
    let tls = match &arguments.listen {
        None => None,
        Some(host) => Some(tls::acceptor(dirs, host, (arguments.cert.as_deref(), arguments.key.as_deref()))?),
    };
    let at = SocketAddr::new(address, port);
    let listener = std::net::TcpListener::bind(at).with_context(|| format!("can't listen on {at}"))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let origins = match &arguments.listen {
        None => vec![format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")],
        // A browser leaves the usual port out of its headers.
        Some(host) if port == 443 => vec![format!("https://{}", bracketed(host))],
        Some(host) => vec![format!("https://{}:{port}", bracketed(host))],
    };
    Ok((listener, tls, origins))
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_ascii_lowercase() }
}

fn make_authority(dirs: &Dirs, host: &str) -> Result<()> {
    person::required()?;
    let path = tls::make_authority(dirs, host)?;
    Ok(writeln!(
        anstream::stdout(),
        "Install `{}` as a certificate authority on the phone, then run `doorward serve --listen {host}`. It is good for this one host, \
         and its key is gone: nobody can sign anything else with it.",
        path.display()
    )?)
}

/// A person gets a link, or a pairing; a service that starts the desk gets nothing.
fn greet(dirs: &Dirs, arguments: &ServeArguments) {
    if person::required().is_err() {
        return;
    }
    let (dirs, wants_pairing) = (dirs.clone(), arguments.pair);
    // On a thread of its own, because the desk must run while a device is paired.
    let _ = std::thread::Builder::new().spawn(move || {
        let outcome = if wants_pairing { pair::pair(&dirs) } else { print_link(&dirs) };
        if let Err(error) = outcome {
            let _ = writeln!(anstream::stderr(), "{error:#}");
        }
    });
}

fn print_link(dirs: &Dirs) -> Result<()> {
    let Some(running) = running(dirs) else { bail!("no desk is running; start one with `doorward serve`") };
    let code = DeskStore::open(dirs)?.new_start()?;
    Ok(writeln!(
        anstream::stdout(),
        "Open {}/start#{code}\nThe link works once, within five minutes, on this machine.",
        running.origin
    )?)
}

/// The figures of a long record take seconds; nobody should wait for them.
fn warm(room: &Arc<Room>) {
    let room = Arc::clone(room);
    let _ = std::thread::Builder::new().spawn(move || room.figures.make(&room).is_ok());
}

fn serve(listener: std::net::TcpListener, tls: Option<TlsAcceptor>, room: Arc<Room>) -> Result<ExitCode> {
    // One thread is enough for the network; what reads disk and index works beside it.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(8)
        .thread_stack_size(2 << 20)
        .build()?;
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async {
        let listener = TcpListener::from_std(listener)?;
        http::accept(listener, tls, room).await;
        Ok::<_, anyhow::Error>(())
    })?;
    Ok(ExitCode::SUCCESS)
}
