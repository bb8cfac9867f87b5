"""Archives whose bytes depend on their content alone."""
import gzip
import io
import os
import tarfile
import zipfile

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "1763510400"))


def tar(files):
    """A tar of {name: (bytes, mode)}, with the directories that it needs."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        known = set()
        for name, (content, mode) in sorted(files.items()):
            parts = name.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                directory = "/".join(parts[:depth])
                if directory not in known and directory != ".":
                    known.add(directory)
                    archive.addfile(_entry(directory, tarfile.DIRTYPE, 0o755, 0))
            archive.addfile(_entry(name, tarfile.REGTYPE, mode, len(content)), io.BytesIO(content))
    return written.getvalue()


def _entry(name, kind, mode, size):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.size, entry.mtime = kind, mode, size, EPOCH
    return entry


def gz(content):
    # Neither a name nor a time in the header.
    return gzip.compress(content, 9, mtime=0)


def tar_gz(path, files):
    path.write_bytes(gz(tar(files)))


def zipped(path, files):
    import time

    moment = time.gmtime(max(EPOCH, 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr, entry.compress_type, entry.create_system = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED, 3
            archive.writestr(entry, content)


def ar(members):
    """The container of a .deb."""
    text = b"!<arch>\n"
    for name, content in members:
        text += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name.encode(), EPOCH, 0, 0, b"100644", len(content))
        text += content + b"\n" * (len(content) % 2)
    return text
