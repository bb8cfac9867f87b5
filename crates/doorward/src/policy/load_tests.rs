//! The rights of each source of the configuration.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;

fn written(dirs: &Dirs, text: &str) -> PathBuf {
    let file = dirs.config_file();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    file
}

fn accept(dirs: &Dirs) {
    let loaded = load(dirs, None, "pi");
    crate::policy::approved_config::accept(dirs, &loaded, &mut crate::machine::record::Ledger::open(dirs)).unwrap();
}

#[test]
fn an_unreadable_configuration_trusts_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let dirs = Dirs::at(directory.path().to_str().unwrap());
    crate::machine::record::begin(&dirs).unwrap();
    let file = written(&dirs, "[agents.claude]\nmode = \"auto\"\n");
    accept(&dirs);
    assert_eq!(load(&dirs, None, "claude").mode("claude"), Mode::Auto);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
    let loaded = load(&dirs, None, "claude");
    assert_eq!((loaded.mode("claude"), loaded.config.strict, loaded.problems.len()), (Mode::ConfirmAll, true, 1));
}

#[test]
fn the_files_of_pi_have_the_rights_of_where_they_lie() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let project = directory.path().join("project");
    let put = |path: PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    };
    put(home.join(".pi/agent/automode.json"), r#"{"permissions":{"allow":["bash(make test)"]}}"#);
    put(project.join(".pi/automode.json"), r#"{"permissions":{"allow":["bash(make *)"],"deny":["bash(git push*)"]}}"#);
    put(project.join(".pi/automode.local.json"), r#"{"permissions":{"allow":["fetch"],"ask":["fetch"]}}"#);
    let dirs = Dirs::at(home.to_str().unwrap());
    assert!(load(&dirs, project.to_str(), "pi").config.permissions.allow.is_empty(), "no effect until you accept it");
    accept(&dirs);
    let loaded = load(&dirs, project.to_str(), "pi");
    assert_eq!(loaded.problems, Vec::<String>::new());
    let permissions = &loaded.config.permissions;
    assert_eq!(permissions.allow, ["bash(make test)"]);
    assert_eq!((permissions.deny.len(), permissions.ask.len()), (1, 1));
    assert!(load(&dirs, project.to_str(), "claude").config.permissions.allow.is_empty());
}
