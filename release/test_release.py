"""The release script and the installer, with a stand-in for the program so that nothing has to be built.

`DOORWARD_ARTEFACTS=DIR python3 -m unittest test_artefacts` tries the real artefacts.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

import inventory  # noqa: E402
import signing  # noqa: E402

VERSION = inventory.version(HERE.parent)
TRIPLE = "x86_64-unknown-linux-musl" if os.uname().machine == "x86_64" else "aarch64-unknown-linux-musl"
ARCHIVE = f"doorward-{VERSION}-{TRIPLE}.tar.gz"
STAND_IN = f"""#!/bin/sh
touch "${{RAN:-/dev/null}}"
case $1 in
  --version) echo 'doorward {VERSION}' ;;
  man) mkdir -p "$3/man1" && echo page >"$3/man1/doorward.1" && echo page >"$3/man1/doorward-check.1" ;;
  completions) echo "$2" ;;
esac
"""


def key(path):
    path.touch(0o600)
    path.write_text(os.urandom(32).hex() + "\n")
    return path


def build(room, name, signed_with):
    program = room / "program"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    out = room / name
    ran = subprocess.run([HERE / "build.sh", "--out", out, "--key", signed_with, "--binary", f"{TRIPLE}={program}"], capture_output=True, text=True,
                         env=os.environ | {"SOURCE_DATE_EPOCH": "1763510400", "PYTHONDONTWRITEBYTECODE": "1"})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return out


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="doorward-release-"))
        cls.room.chmod(0o755)
        cls.key = key(cls.room / "key")
        cls.dist = build(cls.room, "dist", cls.key)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.room)

    def setUp(self):
        self.home = Path(tempfile.mkdtemp(dir=self.room))
        self.home.chmod(0o755)
        self.download = self.home / "download"
        shutil.copytree(self.dist, self.download)

    def install(self, *words, script=None, path=None, as_nobody=False):
        command = ["sh", str(script or self.download / "install.sh"), "--from", str(self.download), *words]
        if as_nobody:
            shutil.chown(self.home, 65534, 65534)
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        env = {"HOME": str(self.home), "PATH": path or os.environ["PATH"], "RAN": str(self.home / "ran"), "TMPDIR": str(self.home)}
        return subprocess.run(command, env=env, capture_output=True, text=True)

    def refused(self, ran, why):
        self.assertNotEqual(ran.returncode, 0, ran.stdout)
        self.assertIn(why, ran.stderr)
        self.assertIn("nothing was installed", ran.stderr)
        self.untouched()

    def untouched(self):
        self.assertFalse((self.home / "ran").exists(), "what was not verified was run")
        self.assertEqual([path for path in self.home.rglob("*") if path.is_file() and self.download not in path.parents], [])

    def test_the_same_program_gives_the_same_bytes(self):
        again = build(self.room, "again", self.key)
        names = sorted(path.name for path in self.dist.iterdir())
        self.assertEqual(names, sorted(path.name for path in again.iterdir()))
        different = [name for name in names if (self.dist / name).read_bytes() != (again / name).read_bytes()]
        self.assertEqual(different, [])

    def test_every_artefact_is_in_the_signed_list(self):
        listed = {line.split("  ")[1]: line.split("  ")[0] for line in (self.dist / "SHA256SUMS").read_text().splitlines()[1:]}
        for path in self.dist.iterdir():
            if not path.name.startswith("SHA256SUMS"):
                self.assertEqual(listed[path.name], hashlib.sha256(path.read_bytes()).hexdigest(), path.name)

    def test_it_installs_and_uninstalling_leaves_nothing(self):
        before = sorted(self.home.rglob("*"))
        ran = self.install()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        program = self.home / ".local/bin/doorward"
        self.assertEqual((program.read_text(), program.stat().st_mode & 0o777), (STAND_IN, 0o755))
        self.assertTrue((self.home / ".local/share/man/man1/doorward-check.1").exists())
        self.assertEqual((self.home / ".local/share/fish/vendor_completions.d/doorward.fish").read_text(), "fish\n")
        self.assertEqual(self.install("--uninstall").returncode, 0)
        (self.home / "ran").unlink()
        left = [path for path in self.home.rglob("*") if path not in before and path.is_file()]
        self.assertEqual(left, [])

    def test_a_file_of_others_stays_when_it_is_uninstalled(self):
        theirs = self.home / ".local/share/man/man1/other.1"
        theirs.parent.mkdir(parents=True)
        theirs.write_text("x")
        self.install(), self.install("--uninstall")
        self.assertTrue(theirs.exists())

    def test_a_link_in_the_way_is_replaced_and_not_followed(self):
        elsewhere = self.home / "elsewhere"
        elsewhere.write_text("mine")
        (self.home / ".local/bin").mkdir(parents=True)
        (self.home / ".local/bin/doorward").symlink_to(elsewhere)
        self.assertEqual(self.install().returncode, 0)
        self.assertEqual(elsewhere.read_text(), "mine")

    def test_a_wrong_checksum_is_refused(self):
        archive = bytearray((self.download / ARCHIVE).read_bytes())
        archive[len(archive) // 2] ^= 1
        (self.download / ARCHIVE).write_bytes(archive)
        self.refused(self.install(), "checksum")

    def test_a_truncated_archive_is_refused(self):
        archive = (self.download / ARCHIVE).read_bytes()
        for length in (0, 1, len(archive) // 2, len(archive) - 1):
            (self.download / ARCHIVE).write_bytes(archive[:length])
            self.refused(self.install(), "checksum")

    def test_a_wrong_signature_is_refused_by_either_tool(self):
        evil = build(self.room, "evil", key(self.room / f"other-{self.id()}"))
        for name in ("SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.sshsig"):
            good = (self.dist / name).read_bytes()
            for bad in (b"", good[:-10], good.replace(b"a", b"b", 1), (evil / name).read_bytes()):
                if bad == good:
                    continue
                for tools in ("openssl", "ssh-keygen"):
                    if (tools, name) in (("openssl", "SHA256SUMS.sshsig"), ("ssh-keygen", "SHA256SUMS.sig")):
                        continue
                    (self.download / name).write_bytes(bad)
                    self.refused(self.install(path=self.path_with(tools)), "the signature of SHA256SUMS is wrong")
            (self.download / name).write_bytes(good)

    def test_everything_signed_by_another_key_is_refused(self):
        evil = build(self.room, "evil2", key(self.room / "other2"))
        shutil.rmtree(self.download)
        shutil.copytree(evil, self.download)
        self.refused(self.install(script=self.dist / "install.sh"), "the signature of SHA256SUMS is wrong")

    def test_a_list_of_another_version_is_refused(self):
        text = (self.download / "SHA256SUMS").read_text().replace(f"# doorward {VERSION}", "# doorward 0.0.1")
        (self.download / "SHA256SUMS").write_text(text)
        signing.sign(self.key, self.download / "SHA256SUMS")
        self.refused(self.install(), "not that of version")

    def test_without_a_way_to_verify_nothing_is_installed(self):
        self.refused(self.install(path=self.path_with()), "can't be verified")

    def test_either_tool_is_enough(self):
        for tool in ("openssl", "ssh-keygen"):
            ran = self.install(path=self.path_with(tool))
            self.assertEqual(ran.returncode, 0, (tool, ran.stderr))

    def test_a_target_that_cannot_be_written_is_refused(self):
        locked = self.home / "locked"
        locked.mkdir(mode=0o555)
        is_root = os.geteuid() == 0
        self.refused(self.install("--dir", str(locked), as_nobody=is_root), "can't be written")
        self.refused(self.install("--dir", str(locked / "below"), as_nobody=is_root), "can't be made")
        self.refused(self.install("--dir", "relative"), "not an absolute path")

    def test_a_script_that_was_cut_off_does_nothing(self):
        text = (self.dist / "install.sh").read_bytes()
        for length in range(0, text.rindex(b"main"), 97):
            script = self.home / "download/cut.sh"
            script.write_bytes(text[:length])
            self.install(script=script)
            self.untouched()

    def test_the_template_refuses(self):
        self.refused(self.install(script=HERE / "install.sh"), "template")

    def test_a_missing_file_is_refused(self):
        for name in ("SHA256SUMS", "SHA256SUMS.sig", ARCHIVE):
            kept = (self.download / name).read_bytes()
            (self.download / name).unlink()
            self.refused(self.install(), "can't be read")
            (self.download / name).write_bytes(kept)

    def test_the_wheel_and_the_npm_package_hold_the_program(self):
        wheel = next(self.dist.glob("*.whl"))
        with zipfile.ZipFile(wheel) as found:
            self.assertEqual(found.read(f"doorward-{VERSION}.data/scripts/doorward").decode(), STAND_IN)
            for line in found.read(f"doorward-{VERSION}.dist-info/RECORD").decode().splitlines()[:-1]:
                name, digest, size = line.rsplit(",", 2)
                self.assertEqual(int(size), len(found.read(name)), name)
        for package in self.dist.glob("*.tgz"):
            with tarfile.open(package) as found:
                manifest = found.extractfile("package/package.json").read().decode()
                self.assertNotIn("install\"", manifest, "nothing runs at installation")

    def path_with(self, *tools):
        """A search path with what the installer needs, and of the tools that verify only these."""
        bin = self.home / "download" / ("bin-" + "-".join(tools))
        bin.mkdir(exist_ok=True)
        for name in ("sh", "uname", "cp", "mv", "rm", "rmdir", "mkdir", "mktemp", "chmod", "sed", "head", "cut", "tar", "gzip", "sha256sum", "grep", "printf", "touch", "cat", *tools):
            if not (bin / name).exists() and (found := shutil.which(name)):
                (bin / name).symlink_to(found)
        return str(bin)


if __name__ == "__main__":
    unittest.main()
