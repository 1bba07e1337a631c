"""What the writer needs from each family; one module a family implements it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.checkpoint.expected import ExpectedTensor
from engine.checkpoint.strict_json import JsonObject
from engine.checkpoint.synthetic import bailing_moe_v3, qwen3_5_moe
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.style import TextStyle


class FamilyWriter(Protocol):
    """The functions of such a module."""

    def gain(self, module: str, inputs: int) -> float:
        """Standard deviation of a module's outputs when its inputs have one."""

    def plain_values(
        self, t: ExpectedTensor, spec: SyntheticSpec, random: np.random.Generator
    ) -> npt.NDArray[np.float32]:
        """Values of a tensor that is not quantised."""

    def config_json(self, spec: SyntheticSpec) -> JsonObject:
        """config.json as the family publishes it."""

    def leftovers(self, spec: SyntheticSpec) -> tuple[ExpectedTensor, ...]:
        """Tensors of training that the published file still has and the engine ignores."""

    def text_style(self, spec: SyntheticSpec) -> TextStyle:
        """What the small files beside the weights say."""


WRITERS: dict[str, FamilyWriter] = {"qwen3_5_moe": qwen3_5_moe, "bailing_moe_v3": bailing_moe_v3}


def writer(spec: SyntheticSpec) -> FamilyWriter:
    """The family of the model `spec` describes."""
    return WRITERS[spec.model.family]
