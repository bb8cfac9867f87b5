//! Where runs begin: what this machine offers, and one plan carried out.

use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::time::{ClockId, clock_gettime};

use crate::deeds::Deeds;
use crate::launch::Prepared;
use crate::limits::Limits;
use crate::missing::Missing;
use crate::mounts::{Layout, Mask, Overlay};
use crate::plan::{Input, Plan, PlanError, Program};
use crate::relay::{Relay, Streams};
use crate::report::Report;
use crate::run::{Root, Run, RunError, upper};
use crate::stamp::Stamp;
use crate::sys;
use crate::tree;
use crate::walls::Filter;

/// A place for runs: a directory that is doorward's alone, on the file system of the projects if that can be.
#[derive(Debug, Clone)]
pub struct Cell {
    state: PathBuf,
}

/// What this machine offers beyond what a box needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    pub second_wall: SecondWall,
}

/// Whether Landlock stands behind the mounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondWall {
    /// Writes only below the roots, no signals and no abstract sockets out of the box (those from version 6 on).
    Landlock { version: i32 },
    /// Namespaces, mounts and the filter stand alone.
    None,
}

/// The memory of `/tmp` and its like, as a share of what the processes may have.
const PRIVATE_SHARE: u64 = 4;
/// Empty in the box at the start, and gone with it.
const PRIVATE: [&str; 2] = ["/tmp", "/var/tmp"];
/// Sockets and state of the machine's services.
const SOCKETS: [&str; 2] = ["/run", "/var/run"];
/// No root may lie in these, or contain one of them.
const SYSTEM: [&str; 4] = ["/proc", "/dev", "/sys", "/run"];

impl Abilities {
    /// One sentence for `doctor`.
    #[must_use]
    pub fn sentence(self) -> String {
        match self.second_wall {
            SecondWall::Landlock { version } => {
                format!("namespaces, overlays and filters, Landlock {version} behind them")
            }
            SecondWall::None => "namespaces, overlays and filters; this kernel has no Landlock behind them".into(),
        }
    }
}

impl Cell {
    /// A cell whose runs live in `state`, which is made if it isn't there.
    #[must_use]
    pub fn at(state: impl Into<PathBuf>) -> Cell {
        Cell { state: state.into() }
    }

    /// Builds a whole box with nothing in it, and takes it down.
    ///
    /// # Errors
    /// With what is missing.
    pub fn probe(&self) -> Result<Abilities, Missing> {
        let unusable = |error: &std::io::Error| Missing::State(error.raw_os_error().unwrap_or(libc::EIO));
        let directory = self.new_directory().map_err(|error| unusable(&error))?;
        let project = directory.join("project");
        let built = std::fs::create_dir(&project).map_err(|error| unusable(&error)).and_then(|()| {
            let nothing = crate::plan::Command::Argv(Vec::new());
            match Cell::try_out(&Plan::new(nothing, &project), &directory) {
                Ok(()) => Ok(()),
                Err(RunError::Missing(missing)) => Err(missing),
                Err(RunError::State(error)) => Err(unusable(&error)),
                Err(RunError::Plan(_) | RunError::Lost) => Err(Missing::State(libc::EINVAL)),
            }
        });
        let _ = tree::remove(&directory);
        built.map(|()| Abilities {
            second_wall: sys::landlock_version().map_or(SecondWall::None, |version| SecondWall::Landlock { version }),
        })
    }

    /// Runs a plan and returns when nothing of it runs any more. Nothing is in place until it is committed.
    ///
    /// # Errors
    /// If the plan can't be carried out, or this machine offers no box.
    pub fn run(&self, plan: Plan) -> Result<Run, RunError> {
        let program = Program::of(&plan)?;
        let directory = self.new_directory()?;
        let ended = self.run_in(&directory, plan, program);
        if ended.is_err() {
            let _ = tree::remove(&directory);
        }
        ended
    }

    /// A run that was held, with its deeds; `None` if there is none of that name, or somebody is at it.
    #[must_use]
    pub fn held(&self, id: &str) -> Option<(Run, Deeds)> {
        let plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let directory = plain.then(|| self.state.join(id))?;
        let lock = lock(&directory).ok()?;
        Run::held(directory, lock)
    }

    fn try_out(plan: &Plan, directory: &Path) -> Result<(), RunError> {
        let (roots, layout) = prepare(plan, directory, None)?;
        let launched = Prepared::new(layout, None, plan, (0, 0))?.launch()?;
        let uppers = roots.into_iter().map(|root| root.upper).collect();
        let streams =
            Streams { stdin: Input::Nothing, stdout: Default::default(), stderr: Default::default(), stop: None };
        let report = Relay::follow(launched, streams, Limits::default(), uppers);
        outcome(&report).map(drop)
    }

    fn run_in(&self, directory: &Path, plan: Plan, program: Program) -> Result<Run, RunError> {
        let lock = lock(directory)?;
        let (roots, layout) = prepare(&plan, directory, Some(&self.state))?;
        let now = clock_gettime(ClockId::Realtime);
        let since = (now.tv_sec, now.tv_nsec);
        let launched = Prepared::new(layout, Some(program), &plan, since)?.launch()?;
        let streams = Streams { stdin: plan.stdin, stdout: plan.stdout, stderr: plan.stderr, stop: plan.stop };
        let uppers = roots.iter().map(|root| root.upper.clone()).collect();
        let report = Relay::follow(launched, streams, plan.limits, uppers);
        let status = outcome(&report)?;
        let Report { spoiled, usage, .. } = report;
        Ok(Run { directory: directory.to_path_buf(), roots, since, status, spoiled, usage, _lock: lock })
    }

    fn new_directory(&self) -> std::io::Result<PathBuf> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.state)?;
        let mut id = [0; 8];
        rustix::rand::getrandom(&mut id, rustix::rand::GetRandomFlags::empty())?;
        let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let directory = self.state.canonicalize()?.join(id);
        std::fs::DirBuilder::new().mode(0o700).create(&directory)?;
        Ok(directory)
    }
}

/// `hidden` is masked with the rest.
fn prepare(plan: &Plan, directory: &Path, hidden: Option<&Path>) -> Result<(Vec<Root>, Layout), RunError> {
    if rustix::process::geteuid().is_root() {
        return Err(Missing::Root.into());
    }
    let paths = roots_of(plan)?;
    let mut roots = Vec::new();
    let mut overlays = Vec::new();
    for (index, path) in paths.into_iter().enumerate() {
        let (root, overlay) = layer(path, directory, index)?;
        roots.push(root);
        overlays.push(overlay);
    }
    let private = PRIVATE.iter().map(PathBuf::from).filter(|path| is_real_directory(path)).collect();
    let masks = masks(plan, hidden, &overlays)?;
    let cwd = resolved(&plan.cwd)?;
    let private_bytes = plan.limits.memory / PRIVATE_SHARE;
    Ok((roots, Layout { overlays, private, masks, cwd, private_bytes }))
}

impl Prepared {
    fn new(layout: Layout, program: Option<Program>, plan: &Plan, since: (i64, i64)) -> Result<Prepared, RunError> {
        let filter = Filter::new().map_err(|_| Missing::Seccomp)?;
        let with_stdin = matches!(plan.stdin, Input::From(_));
        Ok(Prepared { layout, program, limits: plan.limits, filter, since, with_stdin })
    }
}

fn outcome(report: &Report) -> Result<i32, RunError> {
    if let Some((stage, errno)) = report.failure {
        return Err(Missing::of(stage, errno).into());
    }
    if !report.complete {
        return Err(RunError::Lost);
    }
    match (report.status, report.spoiled) {
        (Some(status), _) => Ok(status),
        (None, Some(_)) => Ok(128 + libc::SIGKILL),
        (None, None) => Err(RunError::Lost),
    }
}

fn lock(directory: &Path) -> std::io::Result<std::fs::File> {
    let file = std::fs::File::open(directory)?;
    rustix::fs::flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

pub(crate) fn unattended(directory: &Path) -> Option<std::fs::File> {
    lock(directory).ok()
}

/// Project and home, the outer one first; one that lies in the other needs no overlay of its own. A home with other file
/// systems in it can't be overlaid by an ordinary user: it stays read-only, and the project is written to alone.
fn roots_of(plan: &Plan) -> Result<Vec<PathBuf>, PlanError> {
    let project = resolved(&plan.project)?;
    narrow(&project)?;
    let mounted = mount_points();
    let has_mounts = |root: &Path| mounted.iter().any(|point| point != root && point.starts_with(root));
    if has_mounts(&project) {
        return Err(PlanError::Submounts(project));
    }
    let Some(home) = &plan.home else { return Ok(vec![project]) };
    let home = resolved(home)?;
    if home.starts_with(&project) || has_mounts(&home) || narrow(&home).is_err() {
        return Ok(vec![project]);
    }
    Ok(if project.starts_with(&home) { vec![home] } else { vec![home, project] })
}

fn resolved(path: &Path) -> Result<PathBuf, PlanError> {
    std::fs::canonicalize(path)
        .map_err(|error| PlanError::NoSuchPlace { path: path.to_path_buf(), why: error.to_string().to_lowercase() })
}

fn narrow(root: &Path) -> Result<(), PlanError> {
    let too_wide = SYSTEM.iter().any(|system| root.starts_with(system) || Path::new(system).starts_with(root))
        || PRIVATE.iter().any(|private| Path::new(private).starts_with(root));
    if too_wide { Err(PlanError::TooWide(root.to_path_buf())) } else { Ok(()) }
}

/// The kernel writes blanks and backslashes in them as octal numbers.
fn mount_points() -> Vec<PathBuf> {
    let list = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let plain = |field: &str| {
        [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
            .iter()
            .fold(field.to_owned(), |text, (octal, byte)| text.replace(octal, byte))
    };
    list.lines().filter_map(|line| line.split(' ').nth(4)).map(|field| PathBuf::from(plain(field))).collect()
}

fn is_real_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

fn masks(plan: &Plan, hidden: Option<&Path>, overlays: &[Overlay]) -> Result<Vec<Mask>, RunError> {
    let mut masks = Vec::new();
    let named = plan.masks.iter().map(PathBuf::as_path).chain(SOCKETS.iter().map(Path::new)).chain(hidden);
    for path in named {
        // What is not there needs no mask; what is a link is masked where it leads.
        let Ok(path) = std::fs::canonicalize(path) else { continue };
        if overlays.iter().any(|root| root.path.starts_with(&path)) {
            return Err(PlanError::Masked(path).into());
        }
        let Ok(found) = path.symlink_metadata() else { continue };
        masks.push(Mask { directory: found.is_dir(), path });
    }
    // What lies in a masked place is hidden already.
    let outer: Vec<PathBuf> = masks.iter().map(|mask| mask.path.clone()).collect();
    masks.retain(|mask| !outer.iter().any(|other| other != &mask.path && mask.path.starts_with(other)));
    masks.sort_by(|one, other| one.path.cmp(&other.path));
    masks.dedup_by(|one, other| one.path == other.path);
    Ok(masks)
}

/// An empty upper layer that looks like the root it will cover.
fn layer(path: PathBuf, directory: &Path, index: usize) -> Result<(Root, Overlay), RunError> {
    let lower = tree::open_root(&path)?;
    let stamp = Stamp::of(&rustix::fs::fstat(&lower)?);
    let (upper, work) = (upper(directory, index), directory.join(format!("work-{index}")));
    for new in [&upper, &work] {
        std::fs::DirBuilder::new().mode(0o700).create(new)?;
    }
    let opened = tree::open_root(&upper)?;
    tree::set_attributes(opened.as_fd(), &tree::attributes(lower.as_fd())?)?;
    rustix::fs::fchmod(&opened, rustix::fs::Mode::from_raw_mode(stamp.mode))?;
    tree::set_modified_of(opened.as_fd(), stamp.modified)?;
    let root =
        Root { path: path.clone(), dev: stamp.dev, ino: stamp.ino, modified: stamp.modified, upper: upper.clone() };
    Ok((root, Overlay { path, dev: stamp.dev, ino: stamp.ino, upper, work }))
}
