"""One function per channel: tar.gz, .deb, .rpm, npm, wheel, Homebrew, container image."""
import base64
import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import archives

ABOUT = "Decides whether an AI agent's tool call may run: approve, confirm or block, with reasons and a record"
HOME = "https://github.com/doorward/doorward"

# What each triple is called elsewhere: Debian, RPM, npm, the tags of wheels.
NAMES = {
    "x86_64-unknown-linux-musl": ("amd64", "x86_64", ("linux", "x64"), "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
    "aarch64-unknown-linux-musl": ("arm64", "aarch64", ("linux", "arm64"), "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
    "x86_64-apple-darwin": (None, None, ("darwin", "x64"), "macosx_11_0_x86_64"),
    "aarch64-apple-darwin": (None, None, ("darwin", "arm64"), "macosx_11_0_arm64"),
}

# Where shells look for completions below /usr/share.
COMPLETIONS = {"bash": "bash-completion/completions/doorward", "zsh": "zsh/vendor-completions/_doorward", "fish": "fish/vendor_completions.d/doorward.fish"}


def extras(program):
    """Manual pages and completions, as {path: (bytes, mode)}."""
    files = {}
    with tempfile.TemporaryDirectory() as room:
        # `doorward` recognizes itself by its name.
        own = Path(room) / "doorward"
        shutil.copy(program, own)
        own.chmod(0o755)
        subprocess.run([own, "man", "--install", room], check=True, stdout=subprocess.DEVNULL, env={"HOME": room})
        for page in sorted((Path(room) / "man1").iterdir()):
            files[f"man/man1/{page.name}"] = (page.read_bytes(), 0o644)
        for shell in COMPLETIONS:
            text = subprocess.run([own, "completions", shell], check=True, stdout=subprocess.PIPE, env={"HOME": room}).stdout
            files[f"completions/doorward.{shell}"] = (text, 0o644)
    return files


def documents(root):
    return {name: ((root / name).read_bytes(), 0o644) for name in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE")}


def installed(files, man_gz):
    """Where the files of the archive go below `/`, for a package manager."""
    places = {"usr/bin/doorward": files["doorward"]}
    for name, (content, mode) in files.items():
        if name.startswith("man/"):
            places[f"usr/share/{name}" + (".gz" if man_gz else "")] = (archives.gz(content) if man_gz else content, mode)
        elif name.startswith("completions/"):
            places["usr/share/" + COMPLETIONS[name.rsplit(".", 1)[1]]] = (content, mode)
        elif name.startswith("LICENSE"):
            places[f"usr/share/doc/doorward/{name}"] = (content, mode)
    return places


def deb(out, version, triple, files):
    arch = NAMES[triple][0]
    places = installed(files, man_gz=True)
    licence = files["LICENSE-MIT"][0].decode()
    places["usr/share/doc/doorward/copyright"] = (f"Source: {HOME}\nLicense: MIT or Apache-2.0\n\n{licence}".encode(), 0o644)
    size = sum(len(content) for content, _ in places.values()) // 1024
    control = f"Package: doorward\nVersion: {version}\nArchitecture: {arch}\nMaintainer: doorward <{HOME}>\nInstalled-Size: {size}\nSection: utils\nPriority: optional\nHomepage: {HOME}\nRecommends: git\nDescription: {ABOUT}\n"
    sums = "".join(f"{hashlib.md5(content, usedforsecurity=False).hexdigest()}  {name}\n" for name, (content, _) in sorted(places.items()))
    inside = archives.tar({"./control": (control.encode(), 0o644), "./md5sums": (sums.encode(), 0o644)})
    data = archives.tar({f"./{name}": content for name, content in places.items()})
    members = [("debian-binary", b"2.0\n"), ("control.tar.gz", archives.gz(inside)), ("data.tar.gz", archives.gz(data))]
    (out / f"doorward_{version}_{arch}.deb").write_bytes(archives.ar(members))


def rpm(out, version, triple, files):
    if shutil.which("rpmbuild") is None:
        print(f"NOT BUILT: .rpm for {triple}: `rpmbuild` is not installed")
        return
    arch = NAMES[triple][1]
    places = {name.replace("zsh/vendor-completions", "zsh/site-functions"): content for name, content in installed(files, man_gz=True).items()}
    with tempfile.TemporaryDirectory() as room:
        tree = Path(room) / "tree"
        for name, (content, mode) in places.items():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(mode)
        # Directories that a minimal system lacks are owned too, or they would stay behind.
        folders = {str(parent) for name in places for parent in Path(name).parents if any(word in str(parent) for word in ("/doorward", "/zsh", "/fish"))}
        listed = "\n".join([f"%dir /{name}" for name in sorted(folders)] + [f"%attr({mode:o},root,root) /{name}" for name, (_, mode) in sorted(places.items())])
        spec = Path(room) / "doorward.spec"
        spec.write_text(
            f"Name: doorward\nVersion: {version}\nRelease: 1\nSummary: {ABOUT[:79]}\nLicense: MIT OR Apache-2.0\nURL: {HOME}\nAutoReqProv: no\n"
            f"%description\n{ABOUT}.\n%install\ncp -a {tree}/. %{{buildroot}}/\n%files\n{listed}\n")
        settings = {"_topdir": f"{room}/rpm", "_buildhost": "doorward", "clamp_mtime_to_source_date_epoch": "1", "use_source_date_epoch_as_buildtime": "1", "_build_id_links": "none",
                    # The program stays as it was built, stripped and signed for by its checksum.
                    "__os_install_post": "%{nil}", "debug_package": "%{nil}", "_binary_payload": "w9.gzdio"}
        words = [word for name, value in settings.items() for word in ("--define", f"{name} {value}")]
        subprocess.run(["rpmbuild", "-bb", "--quiet", "--target", f"{arch}-linux", *words, str(spec)], check=True, stdout=subprocess.DEVNULL)
        built = next((Path(room) / "rpm/RPMS").rglob("*.rpm"))
        shutil.copy(built, out / f"doorward-{version}-1.{arch}.rpm")


def npm_platform(out, root, version, triple, program):
    system, cpu = NAMES[triple][2]
    manifest = {"name": f"@doorward/{system}-{cpu}", "version": version, "description": f"The doorward program for {system} on {cpu}", "license": "MIT OR Apache-2.0",
                "repository": {"type": "git", "url": f"git+{HOME}.git"}, "os": [system], "cpu": [cpu], "files": ["bin"], "preferUnplugged": True}
    files = {"package/package.json": (_json(manifest), 0o644), "package/bin/doorward": (program, 0o755)}
    archives.tar_gz(out / f"doorward-{system}-{cpu}-{version}.tgz", files)


def wheel(out, root, version, triple, program):
    tag = NAMES[triple][3]
    name = f"doorward-{version}"
    package = root / "sdk/python/src"
    sources = [path for path in sorted(package.rglob("*")) if path.suffix in (".py", ".typed")]
    files = {str(path.relative_to(package)): (path.read_bytes(), 0o644) for path in sources}
    files[f"{name}.data/scripts/doorward"] = (program, 0o755)
    about = f"Metadata-Version: 2.3\nName: doorward\nVersion: {version}\nSummary: {ABOUT}\nLicense-Expression: MIT OR Apache-2.0\nProject-URL: Repository, {HOME}\nRequires-Python: >=3.10\nDescription-Content-Type: text/markdown\n\n"
    files[f"{name}.dist-info/METADATA"] = (about.encode() + (root / "sdk/python/README.md").read_bytes(), 0o644)
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag.split("."))
    files[f"{name}.dist-info/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: doorward\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644)
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{name}.dist-info/licenses/{licence}"] = ((root / licence).read_bytes(), 0o644)
    record = "".join(f"{path},sha256={_urlsafe(content)},{len(content)}\n" for path, (content, _) in sorted(files.items()))
    files[f"{name}.dist-info/RECORD"] = (f"{record}{name}.dist-info/RECORD,,\n".encode(), 0o644)
    archives.zipped(out / f"{name}-py3-none-{tag}.whl", files)


def packages_of_all(out, root, version):
    """What is the same for every platform: the npm packages of the SDK and of the OpenCode and Pi extensions."""
    for folder, name, licence in (("sdk/typescript", "doorward", True), ("extensions/opencode", "doorward-opencode", True), ("extensions/pi", "doorward-pi", True)):
        where = root / folder
        manifest = json.loads((where / "package.json").read_text())
        files = {"package/package.json": ((where / "package.json").read_bytes(), 0o644)}
        for listed in manifest.get("files", []):
            for path in sorted(where.glob(listed + "/**/*") if (where / listed).is_dir() else where.glob(listed)):
                if path.is_file():
                    mode = 0o755 if path.read_bytes().startswith(b"#!") else 0o644
                    files[f"package/{path.relative_to(where)}"] = (path.read_bytes(), mode)
        files["package/LICENSE-MIT"] = ((root / "LICENSE-MIT").read_bytes(), 0o644)
        files["package/LICENSE-APACHE"] = ((root / "LICENSE-APACHE").read_bytes(), 0o644)
        archives.tar_gz(out / f"{name}-{version}.tgz", files)


def formula(out, root, version):
    """The Homebrew formula, for the archives that are there."""
    blocks = {"macos": [], "linux": []}
    for triple, (_, _, (system, cpu), _) in NAMES.items():
        archive = out / f"doorward-{version}-{triple}.tar.gz"
        if archive.exists():
            sha = hashlib.sha256(archive.read_bytes()).hexdigest()
            on = "on_arm" if cpu == "arm64" else "on_intel"
            blocks["macos" if system == "darwin" else "linux"].append(
                f'    {on} do\n      url "{HOME}/releases/download/v{version}/{archive.name}"\n      sha256 "{sha}"\n    end\n')
    parts = "".join(f"  on_{system} do\n{''.join(found)}  end\n" for system, found in blocks.items() if found)
    (out / "doorward.rb").write_text((root / "release/doorward.rb").read_text().replace("@VERSION@", version).replace("@ABOUT@", ABOUT).replace("  @ARCHIVES@\n", parts))


def container(out, root, version):
    (out / "Containerfile").write_text((root / "release/Containerfile").read_text().replace("@VERSION@", version))


def _json(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def _urlsafe(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
