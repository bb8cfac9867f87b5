"""The version, and what the program is made of, as CycloneDX."""
import json
import os
import subprocess
import tomllib
import uuid
from datetime import datetime, timezone


def version(root):
    return tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def cyclonedx(root, version):
    """Every crate that the program can be linked with on Linux, with its checksum and licence."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-musl", "--manifest-path", str(root / "Cargo.toml")]
    found = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    sums = {(package["name"], package["version"]): package.get("checksum") for package in tomllib.loads((root / "Cargo.lock").read_text())["package"]}
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    start = next(name for name, package in packages.items() if package["name"] == "doorward")
    linked, waiting = set(), [start]
    while waiting:
        name = waiting.pop()
        if name not in linked:
            linked.add(name)
            waiting += [dep["pkg"] for dep in nodes[name]["deps"] if any(kind["kind"] in (None, "build") for kind in dep["dep_kinds"])]
    reference = {name: "pkg:cargo/%s@%s" % (packages[name]["name"], packages[name]["version"]) for name in linked}
    components = [component(packages[name], reference[name], sums) for name in sorted(linked - {start}, key=reference.get)]
    depends = [{"ref": reference[name], "dependsOn": sorted({reference[dep["pkg"]] for dep in nodes[name]["deps"] if dep["pkg"] in linked})} for name in sorted(linked, key=reference.get)]
    moment = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "1763510400")), timezone.utc)
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        # From the content, so that the same build has the same number.
        "serialNumber": "urn:uuid:%s" % uuid.uuid5(uuid.NAMESPACE_URL, "doorward %s %s" % (version, json.dumps(components, sort_keys=True))),
        "metadata": {"timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": {"type": "application", "bom-ref": reference[start], "name": "doorward", "version": version, "licenses": [{"expression": packages[start]["license"]}]}},
        "components": components, "dependencies": depends,
    }
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def component(package, reference, sums):
    found = {"type": "library", "bom-ref": reference, "name": package["name"], "version": package["version"], "purl": reference, "scope": "required"}
    if package.get("license"):
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if checksum := sums.get((package["name"], package["version"])):
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return found
