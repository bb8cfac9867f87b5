//! `doorward serve --install`: a user service that keeps the desk running, and the way back.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::desk::person;
use crate::machine::atomic_file;
use crate::machine::paths::Dirs;

/// How this system keeps a user's programs running.
struct Service {
    file: PathBuf,
    text: String,
    start: Vec<String>,
    stop: Vec<String>,
}

/// Starts the desk now and with every login, with these options.
pub(super) fn install(dirs: &Dirs, options: &[String]) -> Result<()> {
    person::required()?;
    let program = std::env::current_exe().context("can't find this program's own path")?;
    let service = Service::of(dirs, &program, options)?;
    atomic_file::replace(&service.file, &service.text)?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "written to `{}`", service.file.display())?;
    match run(&service.start) {
        true => writeln!(out, "The desk runs now and after every login. `doorward serve --link` opens it.")?,
        false => writeln!(out, "It could not be started from here. Start it with `{}`.", service.start.join(" "))?,
    }
    Ok(())
}

/// Takes that back.
pub(super) fn uninstall(dirs: &Dirs) -> Result<()> {
    person::required()?;
    let service = Service::of(dirs, Path::new("doorward"), &[])?;
    if !service.file.exists() {
        bail!("the desk is not installed as a service: there is no `{}`", service.file.display());
    }
    let was_stopped = run(&service.stop);
    std::fs::remove_file(&service.file).with_context(|| format!("can't remove `{}`", service.file.display()))?;
    let note = if was_stopped { "" } else { " It may still run until you log out." };
    Ok(writeln!(anstream::stdout(), "removed `{}`.{note}", service.file.display())?)
}

impl Service {
    fn of(dirs: &Dirs, program: &Path, options: &[String]) -> Result<Service> {
        let home = Path::new(dirs.home());
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        if cfg!(target_os = "macos") {
            let file = home.join("Library/LaunchAgents/dev.doorward.desk.plist");
            let launch =
                |what: &str| vec!["launchctl".to_owned(), what.to_owned(), "-w".to_owned(), file.display().to_string()];
            let (start, stop) = (launch("load"), launch("unload"));
            return Ok(Service { text: property_list(program, options), start, stop, file });
        }
        Ok(Service {
            file: home.join(".config/systemd/user/doorward-desk.service"),
            text: unit(program, options)?,
            start: words("systemctl --user enable --now doorward-desk.service"),
            stop: words("systemctl --user disable --now doorward-desk.service"),
        })
    }
}

/// A user unit. `Restart=always` brings it back after it made room for a newer version of itself.
fn unit(program: &Path, options: &[String]) -> Result<String> {
    let words: Vec<String> = std::iter::once(program.display().to_string())
        .chain(["serve".to_owned()])
        .chain(options.iter().cloned())
        .map(|word| quoted(&word))
        .collect::<Result<_>>()?;
    Ok(format!(
        "[Unit]\nDescription=doorward desk\n\n[Service]\nExecStart={}\nRestart=always\nRestartSec=2\nNoNewPrivileges=yes\n\n\
         [Install]\nWantedBy=default.target\n",
        words.join(" ")
    ))
}

/// A word as systemd reads it: in quotes, with its own special signs doubled.
fn quoted(word: &str) -> Result<String> {
    if word.contains(['\n', '\r', '\0']) {
        bail!("`{}` can't stand in a service file", crate::machine::visible(word));
    }
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Ok(format!("\"{escaped}\""))
}

fn property_list(program: &Path, options: &[String]) -> String {
    let word = |word: &str| format!("    <string>{}</string>\n", doorward_pages::escaped(word));
    let words: String = std::iter::once(program.display().to_string())
        .chain(["serve".to_owned()])
        .chain(options.iter().cloned())
        .map(|text| word(&text))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  \
         <string>dev.doorward.desk</string>\n  <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
         <key>RunAtLoad</key>\n  <true/>\n  <key>KeepAlive</key>\n  <true/>\n</dict>\n</plist>\n"
    )
}

fn run(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_starts_exactly_these_words() {
        let text = unit(Path::new("/opt/my tools/doorward"), &["--port".into(), "50%$HOME\"".into()]).unwrap();
        assert!(text.contains(r#"ExecStart="/opt/my tools/doorward" "serve" "--port" "50%%$$HOME\"""#), "{text}");
        assert!(unit(Path::new("/x"), &["a\nExecStart=evil".into()]).is_err());
        let text = property_list(Path::new("/x/<doorward>"), &[]);
        assert!(text.contains("<string>/x/&lt;doorward&gt;</string>"), "{text}");
    }
}
