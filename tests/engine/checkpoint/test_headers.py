"""The header reader: what it accepts, what it refuses, and how it says so."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.checkpoint import read_header
from engine.checkpoint.headers import MAX_HEADER_BYTES
from engine.errors import CheckpointError

WriteRaw = Callable[[Path, bytes, bytes], Path]


def entry(dtype: str, shape: list[object], begin: object, end: object) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


A = entry("F32", [1], 0, 4)
B = entry("BF16", [2, 1], 4, 8)


@pytest.mark.parametrize("padding", [0, 1, 2, 7])
def test_unsorted_keys_and_any_padding(padding: int, tmp_path: Path, write_raw: WriteRaw) -> None:
    header = json.dumps({"z": B, "__metadata__": {"format": "mlx"}, "a": A}).encode() + b" " * padding
    result = read_header(write_raw(tmp_path / "x.safetensors", header, bytes(8)))
    assert list(result.tensors) == ["z", "a"]
    assert result.metadata == {"format": "mlx"}
    z = result.tensors["z"]
    assert (z.dtype, z.shape, z.nbytes, z.offset) == ("BF16", (2, 1), 4, 8 + len(header) + 4)


def test_scalars_and_empty_tensors(tmp_path: Path, write_raw: WriteRaw) -> None:
    header = {"scalar": entry("F32", [], 0, 4), "empty": entry("U8", [0, 3], 2, 2), "tail": entry("U8", [0], 4, 4)}
    # an empty tensor lies nowhere, but its range must not lie inside another's
    with pytest.raises(CheckpointError, match=r"'empty'.*overlaps"):
        read_header(write_raw(tmp_path / "x.safetensors", json.dumps(header).encode(), bytes(4)))
    del header["empty"]
    result = read_header(write_raw(tmp_path / "x.safetensors", json.dumps(header).encode(), bytes(4)))
    assert result.tensors["scalar"].shape == () and result.tensors["tail"].nbytes == 0


BAD_HEADERS: dict[str, tuple[object, str]] = {
    "overlap": ({"a": A, "b": entry("F32", [1], 2, 6)}, "'b'.*overlaps with tensor 'a'"),
    "same range": ({"a": A, "b": A}, "overlaps"),
    "gap": ({"a": A, "b": entry("F32", [1], 8, 12)}, "'b'.*4 bytes before it belong to no tensor"),
    "data left over": ({"a": A}, "8 bytes at its end belong to no tensor"),
    "truncated": ({"a": A, "b": entry("F32", [4], 4, 20)}, "'b'.*truncated.*8 bytes too early"),
    "size": ({"a": entry("F32", [2], 0, 4)}, "'a'.*needs 8 bytes, not 4"),
    "huge product": ({"a": entry("F32", [1 << 40, 1 << 40], 0, 4)}, "'a'.*needs"),
    "huge size": ({"a": entry("F32", [1 << 80], 0, 4)}, "'a'.*shape"),
    "negative size": ({"a": entry("F32", [-1], 0, 4)}, "'a'.*shape"),
    "size is true": ({"a": entry("U8", [True], 0, 1)}, "'a'.*shape"),
    "size is 1.0": ({"a": entry("U8", [1.0], 0, 1)}, "'a'.*shape"),
    "rank": ({"a": entry("U8", [1] * 9, 0, 1)}, "'a'.*shape"),
    "no shape": ({"a": {"dtype": "U8", "data_offsets": [0, 1]}}, "'a'.*shape"),
    "dtype": ({"a": entry("Q4", [1], 0, 4)}, "'a'.*unknown element type 'Q4'"),
    "no dtype": ({"a": {"shape": [1], "data_offsets": [0, 4]}}, "'a'.*unknown element type"),
    "offsets reversed": ({"a": entry("F32", [1], 4, 0)}, "'a'.*data_offsets"),
    "offset negative": ({"a": entry("F32", [1], -4, 0)}, "'a'.*data_offsets"),
    "three offsets": ({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1, 2]}}, "'a'.*data_offsets"),
    "entry": ({"a": [1]}, "'a'.*not an object"),
    "metadata": ({"__metadata__": {"x": 1}}, "__metadata__ is not a table of strings"),
    "list": ([1], "not a JSON object"),
    "long name": ({"n" * 600: A}, "600 characters"),
    "empty name": ({"": A}, "0 characters"),
}


@pytest.mark.parametrize("case", BAD_HEADERS)
def test_refuses_and_names_file_and_tensor(case: str, tmp_path: Path, write_raw: WriteRaw) -> None:
    header, message = BAD_HEADERS[case]
    path = write_raw(tmp_path / "model-00002.safetensors", json.dumps(header).encode(), bytes(12))
    with pytest.raises(CheckpointError, match=message) as error:
        read_header(path)
    assert error.value.message.startswith("model-00002.safetensors: ") and error.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"a":1,"a":2}', "the key 'a' appears twice"),
        (b'{"a":{"dtype":"U8","dtype":"U8"}}', "the key 'dtype' appears twice"),
        (b'{"a":NaN}', "NaN is not JSON"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a":' + b"1" * 5_000 + b"}", "too many digits"),
        (b'{"\xff":1}', "not UTF-8"),
        (b'{"a":', "not valid JSON"),
        (b"{}garbage", "not valid JSON"),
    ],
)
def test_refuses_bad_json(text: bytes, message: str, tmp_path: Path, write_raw: WriteRaw) -> None:
    with pytest.raises(CheckpointError, match=message):
        read_header(write_raw(tmp_path / "x.safetensors", text, b""))


def test_oversized_header_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    with path.open("wb") as file:
        file.write((1 << 62).to_bytes(8, "little"))
        file.truncate(1 << 40)  # sparse: reading it would never end
    with pytest.raises(CheckpointError, match="declares a header of 4,611,686,018,427,387,904 bytes"):
        read_header(path)
    path.write_bytes((MAX_HEADER_BYTES + 1).to_bytes(8, "little") + b" " * 10)
    with pytest.raises(CheckpointError, match="declares a header"):
        read_header(path)


def test_truncated_header_and_tiny_files(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes((100).to_bytes(8, "little") + b"{}")
    with pytest.raises(CheckpointError, match=r"x\.safetensors: is truncated"):
        read_header(path)
    path.write_bytes(b"1234")
    with pytest.raises(CheckpointError, match="no safetensors file: 4 bytes"):
        read_header(path)


def test_pipes_and_absent_files_do_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.safetensors")
    with pytest.raises(CheckpointError, match=r"pipe\.safetensors: is not a regular file"):
        read_header(tmp_path / "pipe.safetensors")
    with pytest.raises(CheckpointError, match=r"gone\.safetensors: cannot be opened"):
        read_header(tmp_path / "gone.safetensors")


def test_names_from_files_reach_messages_harmless(tmp_path: Path, write_raw: WriteRaw) -> None:
    header = json.dumps({"\x1b[2J\ud800": entry("F32", [2], 0, 4)}).encode()
    with pytest.raises(CheckpointError) as error:
        read_header(write_raw(tmp_path / "x.safetensors", header, bytes(4)))
    assert str(error.value).isprintable() and str(error.value).isascii()
