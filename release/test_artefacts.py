"""The real artefacts in a fresh system: each is installed, tried and removed, and afterwards nothing is left.

  DOORWARD_ARTEFACTS=DIR [DOORWARD_FRESH=ROOT] python3 -m unittest -v test_artefacts      (as root, for chroot)

ROOT is a minimal Debian with git (`debootstrap --variant=minbase --include=git,ca-certificates bookworm ROOT`); it is made if it is not
given. What is tried runs in bubblewrap without network, as an ordinary user. npm and pip install from the files, into directories of their own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

import inventory  # noqa: E402

VERSION = inventory.version(HERE.parent)
ARTEFACTS = Path(os.environ.get("DOORWARD_ARTEFACTS", "/nowhere")).resolve()
TRY = """set -e
[ "$(doorward --version)" = "doorward %s" ]
doorward demo >/tmp/demo.txt
grep -q BLOCK /tmp/demo.txt || grep -qi block /tmp/demo.txt
doorward setup claude --dry-run | grep -q 'hook claude'
doorward check --bare 'rm -rf /' >/dev/null && exit 1 || [ $? = 20 ]
""" % VERSION


def run(*words, **more):
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    assert ran.returncode == 0, f"{words}: {ran.returncode} {ran.stdout[-2000:]} {ran.stderr[-2000:]}"
    return ran.stdout


def listing(root, without=()):
    found = {str(path.relative_to(root)) for path in root.rglob("*")}
    return {name for name in found if not name.startswith(tuple(without))} if without else found


@unittest.skipUnless(ARTEFACTS.is_dir(), "DOORWARD_ARTEFACTS is not set")
class Fresh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="doorward-fresh-"))
        cls.room.chmod(0o755)
        given = os.environ.get("DOORWARD_FRESH")
        cls.root = Path(given) if given else cls.room / "root"
        if not given:
            run("debootstrap", "--variant=minbase", "--include=git,ca-certificates", "bookworm", cls.root)
        home = cls.root / "home/me"
        home.mkdir(parents=True, exist_ok=True)
        shutil.chown(home, 65534, 65534)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.room, ignore_errors=True)

    def artefact(self, pattern):
        found = list(ARTEFACTS.glob(pattern))
        self.assertEqual(len(found), 1, pattern)
        return found[0]

    def inside(self, script, root=None, path="/usr/bin:/bin", binds=()):
        """As an ordinary user, without network."""
        # Without a user namespace: in one, the system's files would seem to belong to the user, and doorward would rightly distrust them.
        words = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--bind", root or self.root, "/", "--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp",
                 *binds, "--setenv", "HOME", "/home/me", "--setenv", "PATH", path, "--chdir", "/home/me",
                 "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "sh", "-c", script]
        return run(*words)

    def test_the_debian_package(self):
        before = listing(self.root)
        package = self.artefact("*_amd64.deb")
        shutil.copy(package, self.root / "doorward.deb")
        run("chroot", self.root, "dpkg", "-i", "/doorward.deb")
        (self.root / "doorward.deb").unlink()
        self.inside(TRY)
        self.assertTrue((self.root / "usr/share/man/man1/doorward.1.gz").exists())
        run("chroot", self.root, "dpkg", "-P", "doorward")
        left = listing(self.root) - before
        self.assertEqual({name for name in left if not name.startswith(("var/lib/dpkg", "var/log"))}, set())

    def test_the_rpm_package(self):
        before = listing(self.root)
        package = self.artefact("*.x86_64.rpm")
        database = ["--root", self.root, "--dbpath", "/var/lib/rpm-test"]
        run("rpm", *database, "-i", "--nodeps", "--ignorearch", "--ignoreos", package)
        self.inside(TRY)
        run("rpm", *database, "-e", "doorward")
        shutil.rmtree(self.root / "var/lib/rpm-test", ignore_errors=True)
        self.assertEqual(listing(self.root) - before, set())

    def test_the_archive_by_its_installer(self):
        before = listing(self.root)
        binds = ["--ro-bind", ARTEFACTS, "/mnt"]
        self.inside("sh /mnt/install.sh --from /mnt", binds=binds)
        self.inside(TRY, path="/home/me/.local/bin:/usr/bin:/bin")
        self.inside("sh /mnt/install.sh --uninstall", binds=binds)
        left = {name for name in listing(self.root) - before if not (self.root / name).is_dir()}
        self.assertEqual(left, set())
        shutil.rmtree(self.root / "home/me/.local", ignore_errors=True)

    def test_the_image_from_scratch(self):
        tree = self.room / "scratch"
        (tree / "proc").mkdir(parents=True), (tree / "dev").mkdir(), (tree / "tmp").mkdir()
        shutil.unpack_archive(self.artefact("doorward-*-x86_64-unknown-linux-musl.tar.gz"), self.room / "unpacked")
        shutil.copy(next((self.room / "unpacked").glob("*/doorward")), tree / "doorward")
        words = ["bwrap", "--unshare-all", "--uid", "1000", "--bind", tree, "/", "--proc", "/proc", "--dev", "/dev", "--setenv", "HOME", "/tmp", "/doorward"]
        self.assertEqual(run(*words, "--version").strip(), f"doorward {VERSION}")
        ran = subprocess.run([str(word) for word in [*words, "check", "--bare", "rm -rf /"]], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 20, ran.stdout + ran.stderr)

    def clean(self, name):
        home = self.room / name
        (home / "work").mkdir(parents=True)
        return home, {"HOME": str(home), "PATH": os.environ["PATH"], "npm_config_update_notifier": "false", "npm_config_cache": str(home / "cache")}

    def test_the_npm_packages(self):
        home, env = self.clean("npm")
        (home / "work/package.json").write_text('{"private": true}')
        run("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", self.artefact("doorward-linux-x64-*.tgz"), self.artefact(f"doorward-{VERSION}.tgz"), cwd=home / "work", env=env)
        bin = home / "work/node_modules/.bin"
        run("sh", "-c", TRY.replace("/tmp/", f"{home}/"), cwd=home, env=env | {"PATH": f"{bin}:{env['PATH']}"})
        script = "import { Doorward, findProgram } from 'doorward'; if (!findProgram().includes('node_modules')) throw 1; const said = await new Doorward().check('bash', { command: 'rm -rf /' }); if (said.verdict !== 'block' || said.unanswered) throw said;"
        (home / "work/try.mjs").write_text(script)
        run("node", "try.mjs", cwd=home / "work", env=env)
        run("npm", "uninstall", "--no-audit", "--no-fund", "doorward", "@doorward/linux-x64", cwd=home / "work", env=env)
        # npm leaves the empty folder of the scope behind.
        self.assertEqual([path for path in (home / "work/node_modules").rglob("*") if path.is_file() and "doorward" in str(path.relative_to(home))], [])

    def test_the_wheel(self):
        home, env = self.clean("pip")
        run(sys.executable, "-m", "venv", home / "venv", env=env)
        before = listing(home / "venv")
        pip = [home / "venv/bin/pip", "--disable-pip-version-check", "--no-cache-dir"]
        run(*pip, "install", "--no-index", self.artefact("*.whl"), env=env)
        path = {"PATH": f"{home}/venv/bin:{env['PATH']}"}
        run("sh", "-c", TRY.replace("/tmp/", f"{home}/"), cwd=home, env=env | path)
        script = "from doorward import Doorward, find_program; assert '/venv/' in find_program(); said = Doorward().check('bash', {'command': 'rm -rf /'}); assert said.verdict == 'block' and not said.unanswered, said"
        run(home / "venv/bin/python", "-B", "-c", script, cwd=home / "work", env=env)
        run(*pip, "uninstall", "-y", "doorward", env=env)
        self.assertEqual({name for name in listing(home / "venv") - before if "__pycache__" not in name}, set())


if __name__ == "__main__":
    unittest.main()
