"""Invented npm packages, in the shape in which law, sheets and agreements come."""

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path


def pack(tarball: Path, members: Mapping[str, object]) -> Path:
    """Writes a .tgz: by member name, bytes as they are or anything else as JSON."""
    with tarfile.open(tarball, "w:gz", compresslevel=1) as archive:
        for name, value in members.items():
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return tarball
