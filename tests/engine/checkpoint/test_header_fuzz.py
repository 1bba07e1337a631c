"""Whatever happens to a header's bits: an answer or a CheckpointError, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.checkpoint import open_checkpoint, read_header
from engine.errors import CheckpointError

FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def small_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = (
        b'{"__metadata__":{"format":"mlx"},"a.weight":{"dtype":"U32","shape":[2,4],"data_offsets":[0,32]},'
        b'"a.scales":{"dtype":"BF16","shape":[2,1],"data_offsets":[32,36]}} '
    )
    path = tmp_path_factory.mktemp("fuzz") / "small.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(36))
    assert len(read_header(path).tensors) == 2
    return path


@FUZZ
@given(data=st.data())
def test_flipped_bits(small_file: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(small_file.read_bytes())
    bits = data.draw(st.lists(st.integers(0, (len(content) - 36) * 8 - 1), min_size=1, max_size=4))
    for bit in bits:
        content[bit // 8] ^= 1 << bit % 8
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(content)
    try:
        header = read_header(damaged)
    except CheckpointError as error:
        assert "damaged.safetensors" in error.message
    else:
        assert all(info.offset + info.nbytes <= len(content) for info in header.tensors.values())


@FUZZ
@given(text=st.binary(max_size=200), data=st.binary(max_size=20))
def test_arbitrary_bytes(text: bytes, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "any.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    try:
        read_header(path)
    except CheckpointError as error:
        assert "any.safetensors" in error.message


@settings(FUZZ, max_examples=40)
@given(data=st.data())
def test_flipped_bits_of_a_whole_checkpoint(single_copy: Path, data: st.DataObject) -> None:
    """One bit flipped in the entries of real weights is always noticed."""
    shard = single_copy / "model.safetensors"
    content = shard.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    # the metadata's value comes first and means nothing; padding, if any, comes last
    begin = content.index(b"}") + 1
    bit = data.draw(st.integers(begin * 8, content.rindex(b"}", 0, end) * 8 + 7))
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    shard.write_bytes(damaged)
    try:
        with pytest.raises(CheckpointError):
            open_checkpoint(single_copy)
    finally:
        shard.write_bytes(content)
