"""Files of text, and CSV tables: every row by column name with its place in the file, for messages that lead there."""

import csv
import io
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lexarbor.errors import CorpusError

AGAIN = "correct the file or fetch it again"
"""What to do about a file that is damaged."""

HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""Half of a character that is written in two (JSON's \\ud800…): no text that UTF-8 could hold."""


class Row(NamedTuple):
    values: Mapping[str, str]
    place: str
    """File and line, for messages."""


def read_rows(path: Path, needed: Sequence[str], remedy: str) -> list[Row]:
    """The rows of a CSV file by column name; columns that are not needed are kept too.

    `remedy` tells what to do where a needed one is missing.
    """
    table = list(_table(path))
    if not table:
        raise CorpusError(f"{path}: the file is empty; fetch it again")
    header = [name.strip() for name in table[0][1]]
    if missing := [name for name in needed if name not in header]:
        found = ", ".join(name or "(unnamed)" for name in header)[:300]
        raise CorpusError(f"{path}: no column {', '.join(missing)}, but {found}; {remedy}")
    for line, values in table:
        if len(values) != len(header):
            raise CorpusError(f"{path}, line {line}: {len(values)} values, {len(header)} columns; {AGAIN}")
    return [Row(dict(zip(header, values, strict=True)), f"{path}, line {line}") for line, values in table[1:]]


def write_rows(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def read_text(path: Path) -> str:
    """A file's text; what is not UTF-8 is named with its line."""
    return "".join(read_lines(path))


def read_lines(path: Path, remedy: str = "check the path and who may read it") -> Iterator[str]:
    """As `read_text`, line by line, each with its end; `remedy` tells what to do where the file cannot be read."""
    encoding = "utf-8-sig"
    try:
        with path.open("rb", buffering=1 << 16) as lines:  # larger than usual: large files are read
            for at, line in enumerate(lines, start=1):
                try:
                    yield line.decode(encoding)
                except UnicodeDecodeError as error:
                    raise CorpusError(f"{path}, line {at}: not UTF-8 text; save the file as UTF-8") from error
                encoding = "utf-8"
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); {remedy}") from error


def _table(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each row and the line it begins on."""
    text, before = read_text(path), 0
    with _fields_up_to(len(text)):
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            for values in reader:
                if values:
                    yield before + 1, values
                before = reader.line_num
        except csv.Error as error:
            raise CorpusError(f"{path}, line {before + 1}: not CSV ({error}); {AGAIN}") from error


_FIELD_SIZE = threading.Lock()


@contextmanager
def _fields_up_to(length: int) -> Iterator[None]:
    """Articles outgrow csv's limit, and that is the whole process's: raised for one file, then put back."""
    with _FIELD_SIZE:
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, length))
        try:
            yield
        finally:
            csv.field_size_limit(before)
