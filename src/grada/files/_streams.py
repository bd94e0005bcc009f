"""Bytes and lines of a file: compression, encoding and damage are dealt with here."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from grada.files.errors import FileError

#: No line of a table is longer; one that is would have to be held in memory whole.
LONGEST_LINE = 16 * 2**20

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_SUFFIXES = {".gz": "gzip", ".zst": "zstd"}
_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_OTHER = {
    b"PK\x03\x04": "an Excel or zip file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF": "a PDF file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3": "a database",
    b"\x89HDF": "an HDF5 file",
    b"ARROW1": "a Feather (Arrow) file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"7z\xbc\xaf": "a 7-Zip file",
}


class _Hashing(io.RawIOBase):
    """Pass bytes on and add them to a checksum."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.sha256 = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = cast(io.FileIO, self.file).readinto(buffer) or 0
        self.sha256.update(memoryview(buffer)[:count])
        return count


class ByteSource:
    """A user's file as bytes, unpacked; remembers the checksum of what lies on the disk.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        _check_is_file(path)
        with self._opened() as raw:
            self.compression = _compression(path, raw.read(8))
        self.sha256: str | None = None
        with self.unpacked(whole=False) as stream:
            self.head = self.read(stream, 4096)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            with self.path.open("rb", buffering=0) as raw:
                yield cast(BinaryIO, raw)
        except OSError as error:
            raise _in_words(self.path, error) from None

    @contextmanager
    def unpacked(self, *, whole: bool = True) -> Iterator[io.BufferedReader]:
        """The bytes, without their compression; read as a whole they give the checksum."""
        with self._opened() as raw:
            hashing = _Hashing(raw)
            stream: io.RawIOBase = hashing
            if self.compression is not None:
                packed = pa.PythonFile(io.BufferedReader(hashing, 2**20), mode="r")
                stream = cast(io.RawIOBase, pa.CompressedInputStream(packed, self.compression))
            yield io.BufferedReader(stream, 2**20)
            if whole:
                while hashing.read(2**20):  # what follows the last byte that was needed
                    pass
                self.sha256 = hashing.sha256.hexdigest()

    def read(self, stream: io.BufferedReader, most: int) -> bytes:
        """Some bytes of an unpacked stream; damage ends in words."""
        try:
            return stream.read(most)
        except (OSError, EOFError) as error:
            raise self._damaged(error) from None

    def checksum(self) -> str:
        """The SHA-256 of the file as it lies on the disk, compressed or not."""
        digest = hashlib.sha256()
        with self._opened() as raw:
            while block := raw.read(2**20):
                digest.update(block)
        return digest.hexdigest()

    @contextmanager
    def seekable(self) -> Iterator[BinaryIO]:
        """The unpacked bytes where one can jump, through a temporary file if need be."""
        if self.compression is None:
            with self._opened() as raw:
                yield raw
            return
        with tempfile.TemporaryFile() as copy:
            with self.unpacked() as stream:
                try:
                    shutil.copyfileobj(stream, copy, 2**20)
                except (OSError, EOFError) as error:
                    raise self._damaged(error) from None
            copy.seek(0)
            yield cast(BinaryIO, copy)

    def lines(self, encoding: str | None = None) -> Iterator[str]:
        """The lines as text, never more than one of them in memory."""
        used = encoding or self.encoding()
        with self.unpacked() as stream:
            if used in ("utf-16", "utf-32"):
                yield from self._wide_lines(stream, used)
                return
            number = 0
            while line := self._line(stream, number + 1):
                number += 1
                try:
                    text = line.decode("utf-8-sig" if used == "utf-8-sig" and number == 1 else used)
                except UnicodeDecodeError as error:
                    raise self._not_utf8(error, number) from None
                if "\0" in text:
                    raise FileError(self.path, f"line {number:,} holds a zero byte. {_TEXT_ONLY}")
                yield text

    def encoding(self) -> str:
        """How the text is written, by the mark at its start; UTF-8 without one."""
        head = self.head
        for mark, name in _MARKS.items():
            if head.startswith(mark):
                return name
        zeros = sorted((head[::2].count(0), head[1::2].count(0)))
        if zeros[1] > len(head) // 4 and zeros[0] < len(head) // 40:
            raise FileError(
                self.path, "looks like UTF-16 without a mark at its start. Save it as UTF-8."
            )
        return "utf-8"

    def _line(self, stream: io.BufferedReader, number: int) -> bytes:
        try:
            line = stream.readline(LONGEST_LINE)
        except (OSError, EOFError) as error:
            raise self._damaged(error, number) from None
        if len(line) >= LONGEST_LINE:
            raise self._too_long(number)
        return line

    def _wide_lines(self, stream: io.BufferedReader, encoding: str) -> Iterator[str]:
        text = io.TextIOWrapper(stream, encoding=encoding, newline="\n")
        number = 0
        while True:
            try:
                line = text.readline(LONGEST_LINE)
            except UnicodeError:
                raise FileError(
                    self.path, f"is damaged {encoding.upper()} after line {number:,}. {_TEXT_ONLY}"
                ) from None
            except (OSError, EOFError) as error:
                raise self._damaged(error, number + 1) from None
            if not line:
                text.detach()  # closing is left to the one who opened
                return
            number += 1
            if len(line) >= LONGEST_LINE:
                raise self._too_long(number)
            if "\0" in line:
                raise FileError(self.path, f"line {number:,} holds a zero byte. {_TEXT_ONLY}")
            yield line

    def _too_long(self, number: int) -> FileError:
        return FileError(
            self.path,
            f"line {number:,} is longer than {LONGEST_LINE // 2**20} MB. Is this a table?",
        )

    def _not_utf8(self, error: UnicodeDecodeError, number: int) -> FileError:
        byte = error.object[error.start]
        return FileError(
            self.path,
            f"line {number:,}, byte {error.start + 1:,}: 0x{byte:02X} is not UTF-8. If the file is "
            f"Latin-1 or Windows-1252, convert it: "
            f"iconv -f WINDOWS-1252 -t UTF-8 {self.path.name} > utf8-{self.path.name}",
        )

    def _damaged(self, error: BaseException, number: int | None = None) -> FileError:
        if self.compression is None:
            return _in_words(self.path, error)
        where = "" if number is None else f" near line {number:,}"
        cut = "ends too early" if "Truncated" in str(error) else "is damaged"
        return FileError(
            self.path, f"the {self.compression} data {cut}{where}. Copy or pack the file again."
        )


_TEXT_ONLY = "A table is text (CSV, TSV) or Parquet: is this the right file?"


def _check_is_file(path: Path) -> None:
    try:
        found = path.exists()
        if found and not path.is_dir() and not path.is_file():
            raise FileError(path, "is no ordinary file. Save it as one first.")
    except (OSError, ValueError) as error:
        raise _in_words(path, error) from None
    if path.is_dir():
        raise FileError(path, "is a folder. Give a file.")
    if not found:
        raise FileError(path, "there is no such file.")


def _in_words(path: Path, error: BaseException) -> FileError:
    if isinstance(error, FileError):
        return error
    if isinstance(error, PermissionError):
        return FileError(path, "may not be read: permission denied.")
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        return FileError(path, "there is no such file.")
    return FileError(path, f"cannot be read: {os.strerror(number) if number else error}.")


def _compression(path: Path, start: bytes) -> str | None:
    """By content; a name that promises what the content does not hold is refused."""
    found = next((name for mark, name in _COMPRESSED.items() if start.startswith(mark)), None)
    said = _SUFFIXES.get(path.suffix.lower())
    if said is not None and found != said and start:
        raise FileError(path, f"is named {path.suffix} but is not packed with {said}.")
    if not start:
        raise FileError(path, "is empty.")
    return found


def refuse_other_formats(path: Path, head: bytes) -> None:
    """Files that people take for tables, named for what they are."""
    for mark, what in _OTHER.items():
        if head.startswith(mark):
            raise FileError(path, f"is {what}. Save the table as CSV, TSV or Parquet.")
    if not head:
        raise FileError(path, "is empty.")
