"""Ed25519 signatures by openssl and ssh-keygen, with a key as doorward keeps its own: 64 hex digits in a file.

Two signatures of the same list: one that openssl verifies, one that ssh-keygen verifies, so that an installer finds one of the two.
"""
import base64
import os
import struct
import subprocess
import tempfile
from pathlib import Path

# The beginnings of PKCS #8 and SubjectPublicKeyInfo for Ed25519 (RFC 8410).
PRIVATE = bytes.fromhex("302e020100300506032b657004220420")
PUBLIC = bytes.fromhex("302a300506032b6570032100")

NAMESPACE = "doorward-release"


def seed(key):
    if key.stat().st_mode & 0o077:
        raise SystemExit(f"`{key}` must be readable by you alone")
    secret = bytes.fromhex(key.read_text().strip())
    if len(secret) != 32:
        raise SystemExit(f"`{key}` is not a key")
    return secret


def openssl(*words, given=b""):
    return subprocess.run(["openssl", *words], input=given, stdout=subprocess.PIPE, check=True).stdout


def public(key):
    """The 32 bytes of the public key."""
    return openssl("pkey", "-inform", "DER", "-pubout", "-outform", "DER", given=PRIVATE + seed(key))[len(PUBLIC):]


def spki(raw):
    """The inside of a PEM file for openssl."""
    return base64.b64encode(PUBLIC + raw).decode()


def ssh_public(raw):
    return "ssh-ed25519 " + base64.b64encode(_text(b"ssh-ed25519") + _text(raw)).decode()


def sign(key, path):
    """Writes `PATH.sig` (base64 of the raw signature) and `PATH.sshsig`."""
    with tempfile.TemporaryDirectory() as room:
        private = Path(room) / "key"
        for text, name in ((_pem(PRIVATE + seed(key), "PRIVATE KEY"), private), (_openssh(seed(key), public(key)), Path(room) / "ssh")):
            name.touch(0o600)
            name.write_text(text)
        raw = openssl("pkeyutl", "-sign", "-rawin", "-inkey", str(private), "-in", str(path))
        path.with_name(path.name + ".sig").write_text(base64.b64encode(raw).decode() + "\n")
        with open(path, "rb") as content:
            signed = subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", str(Path(room) / "ssh"), "-n", NAMESPACE], stdin=content, stdout=subprocess.PIPE, check=True)
        path.with_name(path.name + ".sshsig").write_bytes(signed.stdout)


def _pem(der, name):
    return f"-----BEGIN {name}-----\n{base64.encodebytes(der).decode()}-----END {name}-----\n"


def _text(content):
    return struct.pack(">I", len(content)) + content


def _openssh(secret, raw):
    check = os.urandom(4)
    inside = check * 2 + _text(b"ssh-ed25519") + _text(raw) + _text(secret + raw) + _text(b"")
    inside += bytes(range(1, 1 + -len(inside) % 8))
    whole = b"openssh-key-v1\0" + _text(b"none") * 2 + _text(b"") + struct.pack(">I", 1)
    whole += _text(_text(b"ssh-ed25519") + _text(raw)) + _text(inside)
    return _pem(whole, "OPENSSH PRIVATE KEY")
