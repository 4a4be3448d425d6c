"""Packages of invented sheets, in the shape of the npm packages that the benchmarks are built from."""

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path


def pack(folder: Path, members: Mapping[str, object]) -> Path:
    """Writes a .tgz: by member name, bytes as they are or anything else as JSON."""
    tarball = folder / "package.tgz"
    with tarfile.open(tarball, "w:gz") as archive:
        for name, value in members.items():
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return tarball
