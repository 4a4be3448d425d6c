"""Reading an npm package straight from its .tgz: nothing is ever extracted to disk.

A tarball may come from anyone's hands, so a member that points outside its folder is refused, and so is one
that would fill the memory.
"""

import base64
import gzip
import hashlib
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PureWindowsPath
from typing import Self

from lexarbor.errors import CorpusError

MEMBER_LIMIT = 512 * 1024**2
"""The largest member read, in bytes."""

_NAME_HEADER_LIMIT = 1024**2
_NAME_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_CHUNK = 1024**2
_REMEDY = "fetch it again with `lexarbor corpus fetch`"


def sha512(path: Path) -> str:
    """The file's checksum as npm writes it: "sha512-" and the digest in base64."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha512").digest()
    return "sha512-" + base64.b64encode(digest).decode("ascii")


def read_members(
    tarball: Path, wanted: Callable[[str], bool], limit: int = MEMBER_LIMIT
) -> Iterator[tuple[str, bytes]]:
    """Name and content of each wanted file, names without the leading "package/".

    Every member is checked, wanted or not, and the gzip checksum once the last one is read: what was yielded
    before a `CorpusError` is to be thrown away.
    """
    try:
        with gzip.open(tarball) as unzipped:
            # tarfile's own "r|gz" checks neither the end nor the checksum of the gzip stream
            with tarfile.open(fileobj=unzipped, mode="r|", bufsize=_CHUNK, tarinfo=_StrictHeader) as members:
                for member in members:
                    name = _checked_name(tarball, member, limit)
                    content = members.extractfile(member) if member.isfile() and wanted(name) else None
                    if content is not None:
                        yield name, content.read()
            while unzipped.read(_CHUNK):
                pass
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise CorpusError(f"{tarball}: not a whole .tgz package ({error}): {_REMEDY}") from error
    except OSError as error:
        reason = error.strerror or error
        raise CorpusError(f"{tarball}: cannot be read ({reason}): check the path, or {_REMEDY}") from error


class _StrictHeader(tarfile.TarInfo):
    """A header that cannot be read is an error; tarfile takes it for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        if not buf.strip(b"\0"):
            return super().frombuf(buf, encoding, errors)
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"bad member header: {error}") from None
        # tarfile reads these into memory by itself, before a member's size can be checked
        if header.type in _NAME_HEADERS and header.size > _NAME_HEADER_LIMIT:
            raise tarfile.ReadError("a member's name is too long")
        return header


def _checked_name(tarball: Path, member: tarfile.TarInfo, limit: int) -> str:
    place = _resolve(member.name)
    target: tuple[str, ...] | None = ()
    if place and member.issym():
        target = _resolve(member.linkname, place[:-1])
    elif member.islnk():
        target = _resolve(member.linkname)
    if place is None or target is None:
        raise CorpusError(
            f"{tarball} refused: member {member.name!r} points outside its folder: "
            "it is not a package to trust, take it from its publisher again"
        )
    if not 0 <= member.size <= limit:
        raise CorpusError(
            f"{tarball} refused: member {member.name!r} would take {member.size:,} bytes, "
            f"more than the {limit:,} allowed: {_REMEDY}"
        )
    return "/".join(place[1:] if place[:1] == ("package",) else place)


def _resolve(name: str, folder: tuple[str, ...] = ()) -> tuple[str, ...] | None:
    """The parts of a member's place, or None where it is absolute or climbs out of its top folder."""
    # Windows' rules on every system: they know backslashes and drives on top of what POSIX knows
    path = PureWindowsPath(name)
    if path.anchor:
        return None
    parts = list(folder)
    for part in path.parts:
        if part != "..":
            parts.append(part)
        elif len(parts) > 1:
            parts.pop()
        else:
            return None
    return tuple(parts)
