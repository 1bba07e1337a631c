"""The published tiers' facts without a file are those of their files."""

from __future__ import annotations

import pytest

from engine.checkpoint.synthetic import SyntheticSpec, full, full_8b, tiny, tiny_8b
from engine.outlook.model import open_model
from engine.outlook.published import described, published_facts, published_model
from tests.engine.outlook.conftest import Skeleton


@pytest.mark.parametrize(("tier", "spec"), [("35b", full()), ("8b", full_8b())])
def test_facts_are_those_of_full_headers(tier: str, spec: SyntheticSpec, skeleton: Skeleton) -> None:
    directory = skeleton(f"Edge0-{tier.upper()}", spec)
    opened = open_model(directory)
    for width in (2, 4):
        expected = opened.facts(width)
        found = published_facts(tier, width)
        assert {**vars(found), "name": ""} == {**vars(expected), "name": ""}
    assert published_model(tier).piece_bytes == opened.piece_bytes
    stored = sum(path.stat().st_size for path in directory.glob("*.safetensors"))
    assert 0 <= stored - published_model(tier).stored_bytes < 2 << 20  # the headers


def test_figures_of_the_releases() -> None:
    large, small = published_facts("35b", 2), published_facts("8b", 2)
    assert (large.record, large.step_set, large.all_records, large.predicted_layers) == (1_769_472, 160, 10_240, 32)
    assert (small.record, small.step_set, small.all_records, small.predicted_layers) == (1_327_104, 184, 2_944, 16)
    assert (large.cache_per_token, small.cache_per_token) == (20_480, 6_912)
    with pytest.raises(KeyError):
        published_facts("70b", 2)


@pytest.mark.parametrize("spec", [tiny(), tiny_8b()])
def test_shapes_tell_dimensions_apart(spec: SyntheticSpec) -> None:
    found = described(spec, "custom", "small").facts(4)
    assert found.shape.startswith(spec.model.family)
    assert found.shape == described(spec, "custom", "other").facts(4).shape
    assert found.shape not in {published_facts(tier, 4).shape for tier in ("35b", "8b")}
