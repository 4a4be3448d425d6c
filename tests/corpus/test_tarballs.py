import gzip
import hashlib
import io
import tarfile
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexarbor.corpus.tarballs import read_members, sha512
from lexarbor.errors import CorpusError


def everything(name: str) -> bool:
    return True


def member(name: str, content: bytes = b"", *, type: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), type, link
    return info


def tar_of(*members: tuple[tarfile.TarInfo, bytes], format: int = tarfile.PAX_FORMAT) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=format) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return archive.getvalue()


LAW = [
    (member("package/package.json", b"{}"), b"{}"),
    (member("package/data/a.json", b"[1]"), b"[1]"),
    (member("package/data/b.json", b"[2]" * 1000), b"[2]" * 1000),
]


@pytest.fixture
def tarball(tmp_path: Path) -> Path:
    path = tmp_path / "law.tgz"
    path.write_bytes(gzip.compress(tar_of(*LAW)))
    return path


def refusal(path: Path, limit: int = 1024**2) -> str:
    with pytest.raises(CorpusError) as caught:
        list(read_members(path, lambda name: False, limit))
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_names_come_without_the_package_folder(tarball: Path) -> None:
    assert dict(read_members(tarball, everything)) == {
        "package.json": b"{}",
        "data/a.json": b"[1]",
        "data/b.json": b"[2]" * 1000,
    }


def test_only_wanted_members_are_read(tarball: Path) -> None:
    assert list(read_members(tarball, "data/a.json".__eq__)) == [("data/a.json", b"[1]")]


def test_names_are_normalised(tmp_path: Path) -> None:
    path = tmp_path / "odd.tgz"
    long = "package/" + "long/" * 60 + "name.json"
    names = ["./package/./a.json", "package/data/../b.json", "other/c.json", long]
    path.write_bytes(gzip.compress(tar_of(*((member(name), b"") for name in names))))
    read = [name for name, _ in read_members(path, everything)]
    assert read == ["a.json", "b.json", "other/c.json", long.removeprefix("package/")]


def test_folders_and_inner_links_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "links.tgz"
    inner = [
        (member("package/data", type=tarfile.DIRTYPE), b""),
        (member("package/data/up", type=tarfile.SYMTYPE, link="../package.json"), b""),
        (member("package/data/same", type=tarfile.LNKTYPE, link="package/data/a.json"), b""),
    ]
    path.write_bytes(gzip.compress(tar_of(*LAW, *inner)))
    assert [name for name, _ in read_members(path, everything)] == [
        "package.json",
        "data/a.json",
        "data/b.json",
    ]


@pytest.mark.parametrize(
    "outside",
    [
        member("../evil.json"),
        member("package/../evil.json"),
        member("package/data/../../../evil.json"),
        member("package\\..\\..\\evil.json"),
        member("/etc/passwd"),
        member("//host/share/evil.json"),
        member("C:\\evil.json"),
        member("package/link", type=tarfile.SYMTYPE, link="../../evil"),
        member("package/link", type=tarfile.SYMTYPE, link="/etc/passwd"),
        member("package/link", type=tarfile.LNKTYPE, link="../evil"),
        member("package/link", type=tarfile.LNKTYPE, link="/etc/passwd"),
        member("package/../up", type=tarfile.DIRTYPE),
    ],
    ids=lambda info: f"{info.name}>{info.linkname}",
)
@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_member_outside_its_folder_is_refused_even_unwanted(
    tmp_path: Path, outside: tarfile.TarInfo, format: int
) -> None:
    path = tmp_path / "evil.tgz"
    path.write_bytes(gzip.compress(tar_of(*LAW, (outside, b""), format=format)))
    assert f"refused: member {outside.name!r} points outside its folder" in refusal(path)


def test_a_member_name_cannot_break_the_line(tmp_path: Path) -> None:
    path = tmp_path / "evil.tgz"
    path.write_bytes(gzip.compress(tar_of((member("../two\nlines"), b""))))
    assert r"'../two\nlines'" in refusal(path)


def test_a_member_over_the_limit_is_refused(tarball: Path) -> None:
    assert "'package/data/b.json' would take 3,000 bytes, more than the 2,999 allowed" in refusal(tarball, 2999)
    assert len(list(read_members(tarball, everything, 3000))) == 3


def test_a_claimed_size_is_refused_before_it_is_read(tmp_path: Path) -> None:
    huge = member("package/huge.json")
    huge.size = 2**40
    path = tmp_path / "huge.tgz"
    path.write_bytes(gzip.compress(huge.tobuf(tarfile.GNU_FORMAT)))
    assert "would take 1,099,511,627,776 bytes" in refusal(path)


def test_a_huge_name_header_is_refused_before_it_is_read(tmp_path: Path) -> None:
    header = member("././@LongLink", type=tarfile.GNUTYPE_LONGNAME)
    header.size = 2**40
    path = tmp_path / "huge.tgz"
    path.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT)))
    assert "name is too long" in refusal(path)


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"not a tarball at all",
        gzip.compress(b""),
        gzip.compress(b"zipped, but no tar" * 100),
        tar_of(*LAW),
        gzip.compress(tar_of(*LAW))[:-4],
        gzip.compress(tar_of(*LAW))[:100],
        gzip.compress(tar_of(*LAW)[:2000]),
        gzip.compress(tar_of(*LAW)[:1024] + b"x" * 512 + tar_of(*LAW)),
        gzip.compress(tar_of(*LAW))[:-8] + b"\0" * 8,
    ],
    ids=[
        "empty",
        "text",
        "gzip of nothing",
        "gzip of text",
        "tar without gzip",
        "last bytes missing",
        "cut in the middle",
        "tar cut inside gzip",
        "bad header in the middle",
        "wrong gzip checksum",
    ],
)
def test_a_broken_tarball_is_named_with_its_remedy(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "broken.tgz"
    path.write_bytes(broken)
    message = refusal(path)
    assert "not a whole .tgz package" in message
    assert "fetch it again with `lexarbor corpus fetch`" in message


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "absent.tgz")
    assert "directory" in refusal(tmp_path)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 4095), st.integers(0, 255)), min_size=1, max_size=6), st.booleans())
def test_damage_never_ends_in_another_exception(tmp_path: Path, damage: list[tuple[int, int]], inside: bool) -> None:
    archive = tar_of((member("package/" + "é" * 120 + ".json", b"[1]"), b"[1]"), *LAW)
    damaged = bytearray(archive if inside else gzip.compress(archive))
    for place, byte in damage:
        damaged[place % len(damaged)] = byte
    path = tmp_path / "damaged.tgz"
    path.write_bytes(gzip.compress(damaged) if inside else damaged)
    try:
        list(read_members(path, everything))
    except CorpusError as error:
        assert str(path) in str(error)


def test_sha512_is_written_as_npm_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"law" * 500_000)
    assert sha512(path) == "sha512-" + b64encode(hashlib.sha512(b"law" * 500_000).digest()).decode()
