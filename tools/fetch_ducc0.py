"""Fetches the sources of ducc0's Fourier transforms, which the engine is compiled with, from PyPI.

    python tools/fetch_ducc0.py [FOLDER]     default: .cache; does nothing when they are there

They are taken from the package of one version, whose digest is checked. Only files that say themselves to be under
BSD-3-Clause are unpacked, to FOLDER/ducc0-<version>/; other parts of ducc0 are not, and weft has none of them.
"""

import hashlib
import pathlib
import subprocess
import sys
import tarfile
import tempfile

VERSION = "0.42.0"
SHA256 = "4e11c59b53a43355b053aebb2a62ee16eebeed026575f7d216cf09d437ce52ef"
LICENCE = "SPDX-License-Identifier: BSD-3-Clause OR"
FOLDERS = ("fft", "infra", "math")


def fetch(folder: pathlib.Path) -> pathlib.Path:
    """The folder of the sources, FOLDER/ducc0-<version>."""
    sources = folder / f"ducc0-{VERSION}"
    if sources.exists():
        return sources
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        there = pathlib.Path(made)
        download = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
        download += ["--no-deps", "--no-binary", "ducc0", "-d", there, f"ducc0=={VERSION}"]
        subprocess.run(download, check=True)
        archive = there / f"ducc0-{VERSION}.tar.gz"
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        if digest != SHA256:
            raise SystemExit(f"fetch_ducc0: {archive.name} has the SHA-256 {digest}, not {SHA256}")
        unpack(archive, there / "sources")
        try:
            (there / "sources").rename(sources)
        except OSError:  # another build was quicker
            if not sources.exists():
                raise
    return sources


def unpack(archive: pathlib.Path, target: pathlib.Path) -> None:
    """Writes the files of FOLDERS that are under BSD-3-Clause."""
    prefix = f"ducc0-{VERSION}/src/"
    wanted = tuple(f"{prefix}ducc0/{folder}/" for folder in FOLDERS)
    with tarfile.open(archive) as files:
        for member in files:
            if not member.isfile() or not member.name.startswith(wanted) or ".." in member.name:
                continue
            text = files.extractfile(member).read()
            if LICENCE.encode() in text:
                path = target / member.name.removeprefix(prefix)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)


def main(arguments: list[str]) -> int:
    root = pathlib.Path(__file__).resolve().parents[1]
    print(fetch(pathlib.Path(arguments[0]) if arguments else root / ".cache"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
