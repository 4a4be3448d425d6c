"""A fetch that is killed at any moment leaves the cache as it was, or whole."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lexarbor.corpus.packages import Package, fetch, sha512

FETCHING = """
import sys
from pathlib import Path
from lexarbor.corpus.packages import Package, fetch
package = Package(*sys.argv[1:4])
print("ready", flush=True)
while True:
    fetch(package, Path(sys.argv[4]), tarball=Path(sys.argv[5]))
"""


@pytest.mark.real
def test_a_cache_survives_fifty_kills_while_a_package_is_fetched(tmp_path: Path) -> None:
    tarball = tmp_path / "law.tgz"
    tarball.write_bytes(random.Random(0).randbytes(8_000_000))
    package = Package("@lexarbor/law", "1.0.0", sha512(tarball))
    cache = tmp_path / "cache"
    draw = random.Random(0)
    for _ in range(50):
        told = [package.name, package.version, package.integrity, str(cache), str(tarball)]
        fetcher = subprocess.Popen([sys.executable, "-c", FETCHING, *told], stdout=subprocess.PIPE)
        assert fetcher.stdout is not None and fetcher.stdout.readline() == b"ready\n"
        time.sleep(draw.uniform(0, 0.1))
        fetcher.send_signal(signal.SIGKILL)
        fetcher.wait()
        fetcher.stdout.close()
        kept = cache / package.file_name
        assert not kept.exists() or kept.read_bytes() == tarball.read_bytes()
    assert fetch(package, cache, tarball=tarball).read_bytes() == tarball.read_bytes()
