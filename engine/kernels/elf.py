"""Where a loaded Linux library keeps the address of a function it imports."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NULL, _DT_PLTRELSZ, _DT_STRTAB, _DT_SYMTAB, _DT_JMPREL = 0, 2, 5, 6, 23
_RELA, _SYM = 24, 24  # sizes of one entry in 64-bit files


def mapped(name: str) -> list[tuple[int, int, str, str]]:
    """(start, end, permissions, path) of every mapping of this process whose file is called `name`."""
    found = []
    for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and Path(fields[5]).name == name:
            start, end = (int(part, 16) for part in fields[0].split("-"))
            found.append((start, end, fields[1], fields[5]))
    return found


def import_slot(path: str, symbol: str) -> int | None:
    """Offset from the load address at which library `path` keeps its imported `symbol`, or None.

    Reads the procedure linkage relocations (System V ABI, 64-bit little-endian, DT_JMPREL with addends).
    """
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _find(path, data, symbol)


def _find(path: str, data: mmap.mmap, symbol: str) -> int | None:
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", data, start + i * size) for i in range(count)]

    def offset(address: int) -> int:
        for kind, _, begin, virtual, _, length, *_ in headers:
            if kind == _PT_LOAD and virtual <= address < virtual + length:
                return int(begin + address - virtual)
        raise ValueError(f"{path}: address {address:#x} lies in no segment")

    entries: dict[int, int] = {}
    for kind, _, begin, _, _, length, *_ in headers:
        for at in range(begin, begin + length, 16) if kind == _PT_DYNAMIC else ():
            tag, value = struct.unpack_from("<QQ", data, at)
            if tag == _DT_NULL:
                break
            entries.setdefault(tag, value)
    if not {_DT_PLTRELSZ, _DT_STRTAB, _DT_SYMTAB, _DT_JMPREL} <= entries.keys():
        return None
    symbols, strings, table = (offset(entries[tag]) for tag in (_DT_SYMTAB, _DT_STRTAB, _DT_JMPREL))
    wanted = symbol.encode() + b"\0"
    for at in range(table, table + entries[_DT_PLTRELSZ], _RELA):
        slot, info, _ = struct.unpack_from("<QQq", data, at)
        name = strings + struct.unpack_from("<I", data, symbols + _SYM * (info >> 32))[0]
        if data[name : name + len(wanted)] == wanted:
            return int(slot)
    return None
