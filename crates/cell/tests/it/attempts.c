// Tries to get out of the box. Each attempt prints "REACHED name" if it did, "refused name" if not.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *name, int reached) {
    printf("%s %s (%s)\n", reached ? "REACHED" : "refused", name, strerror(errno));
    fflush(stdout);
}

static int unix_at(int type, const char *path, int abstract) {
    int s = socket(AF_UNIX, type, 0);
    if (s < 0) return 0;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strncpy(a.sun_path + abstract, path, sizeof a.sun_path - 2);
    return connect(s, (void *)&a, offsetof(struct sockaddr_un, sun_path) + abstract + strlen(path) + !abstract) == 0;
}

static int tcp(int port) {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return s >= 0 && connect(s, (void *)&a, sizeof a) == 0;
}

static int opens(const char *path, int flags) {
    int fd = open(path, flags, 0600);
    if (fd < 0) return 0;
    if (flags & (O_WRONLY | O_RDWR)) return 1;
    char byte;
    int got = read(fd, &byte, 1);
    close(fd);
    return got > 0;
}

static long raw(long n, long a, long b, long c, long d, long e) { return syscall(n, a, b, c, d, e, 0L); }

static int in_child(long (*what)(void)) {
    int status;
    pid_t p = fork();
    if (p == 0) _exit(what() >= 0 ? 0 : 1);
    waitpid(p, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static unsigned long flag;
static long unshares(void) { return unshare(flag); }
static long clones(void) {
    long p = raw(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
    if (p == 0) _exit(0);
    return p;
}
static long clones3(void) {
    struct { unsigned long long flags, f[10]; } a = {.flags = flag};
    long p = raw(SYS_clone3, (long)&a, 88, 0, 0, 0);
    if (p == 0) _exit(0);
    return p;
}
static long traces(void) { return ptrace(PTRACE_TRACEME, 0, 0, 0); }
static long chroots(void) { return chroot("."); }
static long setuids(void) { return setuid(0); }
static long x32(void) { return raw(0x40000000L | 39, 0, 0, 0, 0, 0); }

static void namespaces(void) {
    static const struct { const char *name; unsigned long flag; } all[] = {
        {"user", CLONE_NEWUSER}, {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID}, {"net", CLONE_NEWNET},
        {"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP}, {"time", 0x80}};
    char name[64];
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        flag = all[i].flag;
        snprintf(name, sizeof name, "unshare-%s", all[i].name), say(name, in_child(unshares));
        flag |= 0x100000000UL;
        snprintf(name, sizeof name, "unshare-high-%s", all[i].name), say(name, in_child(unshares));
        flag = all[i].flag;
        if (flag != 0x80) snprintf(name, sizeof name, "clone-%s", all[i].name), say(name, in_child(clones));
        snprintf(name, sizeof name, "clone3-%s", all[i].name), say(name, in_child(clones3));
        snprintf(name, sizeof name, "/proc/1/ns/%s", i == 1 ? "mnt" : all[i].name);
        int fd = open(name, O_RDONLY);
        say(name, fd >= 0 && setns(fd, 0) == 0);
        snprintf(name, sizeof name, "/proc/self/ns/%s", i == 1 ? "mnt" : all[i].name);
        fd = open(name, O_RDONLY);
        say(name, fd >= 0 && setns(fd, 0) == 0);
    }
}

static void calls(void) {
    char buffer[64] = {0};
    struct iovec v = {buffer, sizeof buffer};
    say("mount", mount("none", "/mnt", "tmpfs", 0, 0) == 0);
    say("mount-bind", mount("/", "/mnt", 0, MS_BIND | MS_REC, 0) == 0);
    say("remount", mount("/", "/", 0, MS_REMOUNT | MS_BIND, 0) == 0);
    say("umount-run", umount2("/run", MNT_DETACH) == 0);
    say("umount-proc-sys", umount2("/proc/sys", MNT_DETACH) == 0);
    say("open_tree", raw(SYS_open_tree, AT_FDCWD, (long)"/", 1, 0, 0) >= 0);
    say("fsopen", raw(SYS_fsopen, (long)"tmpfs", 0, 0, 0, 0) >= 0);
    say("mount_setattr", raw(SYS_mount_setattr, AT_FDCWD, (long)"/", 0, (long)buffer, 32) >= 0);
    say("pivot_root", raw(SYS_pivot_root, (long)".", (long)".", 0, 0, 0) == 0);
    say("chroot", in_child(chroots));
    say("ptrace-traceme", in_child(traces));
    say("ptrace-init", ptrace(PTRACE_SEIZE, 1, 0, 0) == 0);
    say("process_vm_readv", process_vm_readv(getppid(), &v, 1, &v, 1, 0) >= 0);
    int pidfd = raw(SYS_pidfd_open, 1, 0, 0, 0, 0);
    say("pidfd_getfd", raw(SYS_pidfd_getfd, pidfd, 0, 0, 0, 0) >= 0);
    say("keyctl", raw(SYS_keyctl, 0, -3, 0, 0, 0) >= 0);
    say("add_key", raw(SYS_add_key, (long)"user", (long)"x", (long)"y", 1, -3) >= 0);
    say("bpf", raw(SYS_bpf, 0, (long)buffer, sizeof buffer, 0, 0) >= 0);
    say("perf_event_open", raw(SYS_perf_event_open, (long)buffer, 0, -1, -1, 0) >= 0);
    say("userfaultfd", raw(SYS_userfaultfd, 1, 0, 0, 0, 0) >= 0);
    say("io_uring_setup", raw(SYS_io_uring_setup, 4, (long)calloc(1, 512), 0, 0, 0) >= 0);
    say("open_by_handle_at", raw(SYS_open_by_handle_at, AT_FDCWD, (long)buffer, 0, 0, 0) >= 0);
    say("kexec_load", raw(SYS_kexec_load, 0, 0, 0, 0, 0) >= 0);
    say("reboot", raw(SYS_reboot, 0xfee1dead, 672274793, 0, 0, 0) >= 0);
    say("syslog", raw(SYS_syslog, 3, (long)buffer, 10, 0, 0) >= 0);
    say("unknown-call", raw(999, 0, 0, 0, 0, 0) >= 0);
#ifdef __x86_64__
    say("x32", in_child(x32));
    say("iopl", raw(SYS_iopl, 3, 0, 0, 0, 0) >= 0);
#endif
    say("setuid-0", in_child(setuids));
    int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    say("TIOCSTI", ioctl(terminal, TIOCSTI, "x") == 0);
    say("TIOCSTI-high", raw(SYS_ioctl, terminal, 0x100000000L | TIOCSTI, (long)"x", 0, 0) == 0);
    say("TIOCLINUX", ioctl(terminal, TIOCLINUX, "\2") == 0);
    say("device-char", mknod("null", S_IFCHR | 0666, makedev(1, 3)) == 0);
    say("device-disk", mknod("disk", S_IFBLK | 0666, makedev(8, 0)) == 0);
    say("whiteout", mknod("white", S_IFCHR | 0666, makedev(0, 0)) == 0);
}

static void sockets(char **argv) {
    int pair[2];
    say("socket-path", unix_at(SOCK_STREAM, argv[2], 0));
    say("socket-path-dgram", unix_at(SOCK_DGRAM, argv[2], 0));
    say("socket-abstract", unix_at(SOCK_STREAM, argv[3], 1));
    say("socket-docker", unix_at(SOCK_STREAM, "/var/run/docker.sock", 0));
    say("socket-tcp", tcp(atoi(argv[4])));
    say("pair-dgram", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    say("pair-raw", socketpair(AF_UNIX, SOCK_RAW, 0, pair) == 0);
    say("socket-high-family", syscall(SYS_socket, 0x100000000L | AF_UNIX, SOCK_STREAM, 0) >= 0);
    say("socket-vsock", socket(AF_VSOCK, SOCK_STREAM, 0) >= 0);
    say("socket-packet", socket(AF_PACKET, SOCK_RAW, 0) >= 0);
    say("socket-raw", socket(AF_INET, SOCK_RAW, 1) >= 0);
    say("socket-alg", socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0);
    say("netlink-audit", socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT) >= 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        strncpy(a.sun_path, argv[2], sizeof a.sun_path - 1);
        say("pair-reconnect", connect(pair[0], (void *)&a, sizeof a) == 0);
    } else {
        puts("MISSING stream pairs");
    }
}

static void files(char **argv) {
    static const char *writes[] = {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
        "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs",
        "/sys/fs/cgroup/pids/cgroup.procs", "/sys/fs/cgroup/devices/devices.allow", "/sys/power/state",
        "/proc/1/mem", "/proc/1/oom_score_adj", "/proc/self/uid_map", "/dev/sda", "/dev/vda", "/dev/kmsg", "/dev/mem",
        "/dev/kvm", "/dev/fuse", "/etc/passwd", "/usr/bin/x"};
    static const char *reads[] = {"/proc/1/environ", "/proc/1/mem", "/proc/1/maps", "/proc/1/root/etc/passwd", "/proc/kcore"};
    char path[4096];
    for (unsigned i = 0; i < sizeof writes / sizeof *writes; i++) say(writes[i], opens(writes[i], O_WRONLY));
    for (unsigned i = 0; i < sizeof reads / sizeof *reads; i++) say(reads[i], opens(reads[i], O_RDONLY));
    snprintf(path, sizeof path, "%s/new", argv[2]), say("outside-create", opens(path, O_WRONLY | O_CREAT));
    snprintf(path, sizeof path, "%s/file", argv[2]), say("outside-write", opens(path, O_WRONLY));
    say("outside-unlink", unlink(path) == 0);
    say("outside-link", link(path, "stolen") == 0);
    say("outside-chmod", chmod(path, 0777) == 0);
    say("masked-read", opens(argv[3], O_RDONLY));
    snprintf(path, sizeof path, "/proc/1/root%s", argv[3]), say("masked-by-init", opens(path, O_RDONLY));
    snprintf(path, sizeof path, "%s", argv[4]), say("state-read", opens(path, O_RDONLY));
    say("host-signal", kill(atoi(argv[5]), 0) == 0);
    DIR *numbers = opendir("/proc");
    for (struct dirent *e; (e = readdir(numbers));) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9') continue;
        snprintf(path, sizeof path, "/proc/%s/root%s", e->d_name, argv[3]), say("masked-by-process", opens(path, O_RDONLY));
        snprintf(path, sizeof path, "/proc/%s/cwd/../../../outside/new", e->d_name), say("cwd-up", opens(path, O_WRONLY | O_CREAT));
    }
    DIR *open_files = opendir("/proc/self/fd");
    for (struct dirent *e; (e = readdir(open_files));)
        if (atoi(e->d_name) > 2 && atoi(e->d_name) != dirfd(open_files) && atoi(e->d_name) != dirfd(numbers)) say("inherited-file", 1);
    struct stat s;
    for (int i = 0; i < 3; i++) say("standard-file", !(fstat(i, &s) == 0 && (S_ISFIFO(s.st_mode) || s.st_rdev == makedev(1, 3))));
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    if (!strcmp(argv[1], "calls")) calls(), namespaces();
    if (!strcmp(argv[1], "sockets")) sockets(argv);
    if (!strcmp(argv[1], "files")) files(argv);
    if (!strcmp(argv[1], "memfd")) {
        static char copy[8 << 20];
        int self = open("/proc/self/exe", O_RDONLY), fd = memfd_create("x", 0);
        int length = read(self, copy, sizeof copy);
        if (write(fd, copy, length) != length) return 3;
        char *again[] = {"memfd", "calls", 0}, *env[] = {0};
        fexecve(fd, again, env);
        puts("refused memfd");
    }
    puts("DONE");
    return 0;
}
