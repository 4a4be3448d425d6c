"""A registry of one law: npm is a small script, put first on PATH, that tells and hands out packages made here."""

import json
from pathlib import Path

from legi_package import Node, write_package
from lexarbor.corpus.packages import Package
from lexarbor.corpus.tarballs import sha512

NAME = "@lexarbor/mer"


class Registry:
    """What `publish` was last given is the latest version. Each call of npm is noted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.calls_file = folder / "calls"
        self.does(
            'for spec; do :; done\ncase "$1" in\n'
            f"view) cat '{folder}/latest.json';;\n"
            f'pack) cp "{folder}/${{spec##*@}}.tgz" .;;\nesac'
        )

    def does(self, script: str) -> None:
        """Have npm run other lines of shell."""
        client = self.bin / "npm"
        client.write_text(f"#!/bin/sh\necho \"$@\" >> '{self.calls_file}'\n{script}\n", encoding="utf-8")
        client.chmod(0o755)

    def publish(self, version: str, *codes: Node) -> Package:
        tarball = write_package(self.folder / f"{version}.tgz", *codes)
        package = Package(NAME, version, sha512(tarball))
        self.tells({"name": NAME, "version": version, "dist": {"integrity": package.integrity}})
        return package

    def tells(self, latest: object) -> None:
        (self.folder / "latest.json").write_text(json.dumps(latest), encoding="utf-8")

    @property
    def calls(self) -> list[str]:
        return self.calls_file.read_text(encoding="utf-8").splitlines() if self.calls_file.exists() else []
