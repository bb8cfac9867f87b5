//! Places of the operating system, by absolute path.

use super::class::*;
use super::table::Table;

/// The longest entry has this many components.
pub const DEPTH: usize = 7;

/// Below the root, without the leading slash; a longer entry replaces a shorter one.
pub static SYSTEM: Table<Class> = Table::new(&[
    (&CREDENTIAL, &[
        "etc/shadow", "etc/shadow-", "etc/gshadow", "etc/gshadow-", "etc/master.passwd", "etc/spwd.db", "etc/security/opasswd",
        "etc/krb5.keytab", "etc/ppp/chap-secrets", "etc/ppp/pap-secrets", "etc/networkmanager/system-connections",
        "etc/kubernetes", "etc/rancher", "etc/docker/key.json", "etc/wireguard", "etc/openvpn", "etc/ipsec.secrets",
        "etc/mysql/debian.cnf", "etc/machine-id.secret", "etc/pve/priv", "etc/vault.d", "etc/boto.cfg", "etc/netrc",
        "etc/exim4/passwd.client", "etc/postfix/sasl_passwd", "etc/cloudflared", "etc/credstore", "etc/credstore.encrypted",
        "var/lib/kubelet", "var/run/secrets", "run/secrets", "run/credentials", "var/lib/sss", "var/lib/samba/private",
        "var/lib/cloud", "var/lib/rancher", "var/lib/vault", "var/db/dslocal", "var/db/shadow", "var/root/library/keychains",
        "library/keychains", "system/library/keychains", "var/backups/shadow.bak", "var/lib/bluetooth", "var/lib/iwd",
        "c:/windows/system32/config", "c:/windows/ntds", "c:/windows/repair", "var/lib/docker/swarm", "var/lib/etcd",
    ]),
    (&KEY, &["etc/ssl/private", "etc/letsencrypt", "etc/pki/tls/private", "etc/acme", "var/lib/acme", "etc/pki/private", "etc/secureboot"]),
    (&SSH, &["etc/ssh"]),
    (&SSH_KEY, &[
        "etc/ssh/ssh_host_rsa_key", "etc/ssh/ssh_host_ed25519_key", "etc/ssh/ssh_host_ecdsa_key", "etc/ssh/ssh_host_dsa_key",
    ]),
    (&AUTHORIZED_KEYS, &["etc/ssh/authorized_keys", "etc/ssh/authorized_keys.d", "etc/dropbear/authorized_keys"]),
    (&SUDO, &["etc/sudoers", "etc/sudoers.d", "etc/doas.conf", "etc/polkit-1", "usr/share/polkit-1"]),
    (&PROFILE, &[
        "etc/profile", "etc/profile.d", "etc/bash.bashrc", "etc/bashrc", "etc/bash_completion.d", "etc/bash.bash_logout",
        "etc/zsh", "etc/zshrc", "etc/zshenv", "etc/zprofile", "etc/zlogin", "etc/fish", "etc/csh.cshrc", "etc/csh.login",
        "etc/environment", "etc/skel", "etc/inputrc", "etc/tmux.conf", "etc/shells", "etc/paths", "etc/paths.d", "etc/manpaths.d",
        "etc/ksh.kshrc", "etc/xonshrc", "usr/share/bash-completion", "usr/share/fish", "usr/local/etc/profile.d",
    ]),
    (&PERSISTENCE, &[
        "etc/crontab", "etc/cron.d", "etc/cron.hourly", "etc/cron.daily", "etc/cron.weekly", "etc/cron.monthly",
        "etc/cron.allow", "etc/cron.deny", "etc/anacrontab", "etc/at.allow", "etc/at.deny", "var/spool/cron", "var/spool/at",
        "var/spool/anacron", "var/spool/atjobs", "var/cron", "var/at", "usr/lib/cron", "etc/systemd", "usr/lib/systemd",
        "lib/systemd", "usr/local/lib/systemd", "run/systemd/system", "run/systemd/generator", "etc/init.d", "etc/rc.d", "etc/rc.local", "etc/rc0.d",
        "etc/rc1.d", "etc/rc2.d", "etc/rc3.d", "etc/rc4.d", "etc/rc5.d", "etc/rc6.d", "etc/rcs.d", "etc/init", "etc/inittab",
        "etc/openrc", "etc/conf.d", "etc/runit", "etc/sv", "etc/service", "etc/s6", "etc/udev", "lib/udev", "usr/lib/udev",
        "etc/pam.d", "etc/pam.conf", "etc/security", "lib/security", "usr/lib/security", "usr/lib/pam", "etc/ld.so.preload",
        "etc/ld.so.conf", "etc/ld.so.conf.d", "etc/modules", "etc/modules-load.d", "etc/modprobe.d", "etc/dkms", "lib/modules",
        "etc/xdg/autostart", "etc/xdg/systemd", "etc/x11/xsession.d", "etc/x11/xinit", "etc/update-motd.d",
        "etc/networkmanager/dispatcher.d", "etc/network/if-up.d", "etc/network/if-down.d", "etc/network/if-pre-up.d",
        "etc/network/interfaces", "etc/dhcp/dhclient-exit-hooks.d", "etc/dhcp/dhclient-enter-hooks.d", "etc/ppp/ip-up.d",
        "etc/apt/apt.conf.d", "etc/apt/apt.conf", "etc/dpkg/dpkg.cfg.d", "etc/yum/pluginconf.d", "etc/dnf/plugins", "etc/pacman.d/hooks",
        "etc/logrotate.d", "etc/logrotate.conf", "etc/acpi", "etc/pm", "etc/dbus-1", "usr/share/dbus-1", "etc/rsyslog.d",
        "etc/incron.d", "etc/xinetd.d", "etc/inetd.conf", "etc/binfmt.d", "etc/sysctl.d", "etc/sysctl.conf", "etc/tmpfiles.d",
        "etc/sysusers.d", "etc/initramfs-tools", "etc/dracut.conf.d", "etc/grub.d", "etc/default", "boot", "etc/kernel",
        "etc/cloud", "etc/launchd.conf", "etc/emond.d", "etc/periodic", "library/launchdaemons", "library/launchagents",
        "system/library/launchdaemons", "system/library/launchagents", "library/startupitems", "library/scripts",
        "library/security/securityagentplugins", "library/extensions", "etc/sitecustomize.py", "etc/python3",
        "c:/programdata/microsoft/windows/start menu/programs/startup", "c:/windows/system32/tasks", "c:/windows/tasks",
    ]),
    (&GUARD, &[
        "etc/doorward", "var/lib/doorward", "var/log/doorward", "run/doorward", "run/doorward.sock", "usr/bin/doorward",
        "usr/local/bin/doorward", "opt/homebrew/bin/doorward", "usr/lib/doorward", "usr/local/lib/doorward", "opt/doorward",
        "library/application support/doorward", "c:/programdata/doorward", "c:/program files/doorward", "usr/sbin/doorward",
    ]),
    (&AGENT, &[
        "etc/claude-code", "etc/codex", "etc/gemini-cli", "etc/qwen-code", "etc/opencode", "etc/copilot", "etc/cursor",
        "library/application support/claudecode", "library/application support/geminicli", "library/application support/cursor",
        "library/application support/opencode", "c:/programdata/claudecode", "c:/program files/claudecode", "c:/programdata/gemini-cli",
    ]),
    (&USER_GIT_CONFIG, &["etc/gitconfig", "usr/local/etc/gitconfig", "opt/homebrew/etc/gitconfig", "usr/share/git-core/templates"]),
    (&PROGRAMS, &[
        "bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin", "opt/homebrew/bin", "opt/homebrew/sbin",
        "opt/local/bin", "snap/bin", "nix/var/nix/profiles", "run/current-system/sw/bin",
    ]),
    (&SPECIAL, &[
        "run/docker.sock", "var/run/docker.sock", "run/containerd", "run/podman", "run/crio", "var/run/containerd",
        "run/dbus", "run/libvirt", "proc/sysrq-trigger", "proc/kcore", "proc/kmem", "proc/kallsyms", "proc/kmsg", "proc/acpi",
        "sys/kernel/debug", "sys/firmware/efi/efivars", "sys/power", "sys/kernel/security", "sys/fs/cgroup",
    ]),
]);

/// Top directories that belong to the operating system.
pub fn is_system(first: &str, second: Option<&str>) -> bool {
    match first {
        "etc" | "usr" | "bin" | "sbin" | "lib" | "lib32" | "lib64" | "libx32" | "boot" | "opt" | "var" | "system" | "library"
        | "applications" | "dev" | "proc" | "sys" | "run" | "private" | "cores" | "nix" | "snap" | "root" | "lost+found"
        | "efi" | "gnu" | "init" | "vmlinuz" | "swapfile" | "selinux" => true,
        "c:" => matches!(second, None | Some("windows" | "program files" | "program files (x86)" | "programdata" | "users" | "")),
        _ => false,
    }
}

/// Directories that stay the system's even if somebody calls them the project or scratch.
pub fn is_never_owned(first: &str) -> bool {
    matches!(first, "" | "etc" | "bin" | "sbin" | "lib" | "lib32" | "lib64" | "boot" | "proc" | "sys" | "system")
}

/// Devices that only pass or swallow data.
pub fn is_harmless_device(path: &str) -> bool {
    if !(path.starts_with("/dev/") || path.starts_with("/proc/self/fd/") || path == "nul") {
        return false;
    }
    match path {
        "/dev/null" | "/dev/zero" | "/dev/full" | "/dev/random" | "/dev/urandom" | "/dev/tty" | "/dev/stdin"
        | "/dev/stdout" | "/dev/stderr" | "/dev/fd" | "/dev/ptmx" | "nul" => true,
        _ => ["/dev/fd/", "/proc/self/fd/", "/dev/pts/"].iter().any(|directory| {
            path.strip_prefix(directory).is_some_and(|rest| {
                !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
            })
        }),
    }
}
