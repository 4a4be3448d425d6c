"""Packages of invented sheets, in the shape of the npm packages that the benchmarks are built from."""

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Pack = Callable[[Mapping[str, object]], Path]


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """Writes a .tgz: by member name, bytes as they are or anything else as JSON."""

    def write(members: Mapping[str, object]) -> Path:
        tarball = tmp_path / "package.tgz"
        with tarfile.open(tarball, "w:gz") as archive:
            for name, value in members.items():
                content = value if isinstance(value, bytes) else json.dumps(value).encode()
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return tarball

    return write
