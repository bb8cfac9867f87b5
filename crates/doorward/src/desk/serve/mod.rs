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
mod openapi;
mod pair;
mod room;
mod routes;
mod signature;
mod signin;
mod store;
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
    /// Print a link that opens the desk on this machine, once, to look (not for agents)
    #[arg(long, conflicts_with_all = ["socket", "port"])]
    pub link: bool,
    /// Pair a browser or phone, which may then answer (not for agents)
    #[arg(long, conflicts_with_all = ["socket", "link"])]
    pub pair: bool,
}

/// Serves until it is stopped.
pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    if let (Some(path), None) = (&arguments.socket, arguments.port) {
        return socket::run(path);
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

fn desk(dirs: &Dirs, arguments: &ServeArguments) -> Result<ExitCode> {
    let _turn = room::Turn::take(dirs)?;
    let port = arguments.port.unwrap_or(PORT);
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let listener = std::net::TcpListener::bind(address).with_context(|| format!("can't listen on {address}"))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let origin = format!("http://127.0.0.1:{port}");
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
    let room = Arc::new(Room::new(dirs.clone(), vec![origin.clone(), format!("http://localhost:{port}")]));
    writeln!(anstream::stdout(), "the desk is at {origin}")?;
    greet(dirs, arguments);
    warm(&room);
    serve(listener, room)
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

fn serve(listener: std::net::TcpListener, room: Arc<Room>) -> Result<ExitCode> {
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
        http::accept(listener, None, room).await;
        Ok::<_, anyhow::Error>(())
    })?;
    Ok(ExitCode::SUCCESS)
}
