"""What config.json says about quantisation: a default, and overrides keyed by absolute module path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.checkpoint.fields import Fields
from engine.checkpoint.names import canonical
from engine.checkpoint.parts import BITS, GROUP_SIZES, Quantization


@dataclass(frozen=True)
class QuantSpec:
    """`default` for every linear and embedding (None: not quantised), `overrides` by canonical module."""

    default: Quantization | None = None
    overrides: Mapping[str, Quantization | None] = field(default_factory=dict)

    def of(self, module: str) -> Quantization | None:
        """The declared (group_size, bits) of a canonical module, None when it is declared unquantised."""
        return self.overrides.get(module, self.default)


def parse_quant(config: Fields) -> QuantSpec:
    """`quantization`, or `quantization_config` (MLX writes both alike). Raises CheckpointError for other modes."""
    section = config.section("quantization" if config.has("quantization") else "quantization_config")
    if not section.raw:
        return QuantSpec()
    section.only("quant_method", "affine", "mlx")
    default = _one(section)
    overrides: dict[str, Quantization | None] = {}
    for key, value in section.raw.items():
        if isinstance(value, dict):
            overrides[canonical(key)] = _one(section.section(key))
        elif isinstance(value, bool) and "." in key:
            overrides[canonical(key)] = default if value else None
    return QuantSpec(default, overrides)


def _one(section: Fields) -> Quantization:
    section.only("mode", "affine")
    bits = section.integer("bits")
    group_size = section.integer("group_size")
    if bits not in BITS:
        raise section.fault("bits", f"is {bits}; supported: {', '.join(map(str, BITS))}")
    if group_size not in GROUP_SIZES:
        raise section.fault("group_size", f"is {group_size}; supported: {', '.join(map(str, GROUP_SIZES))}")
    return Quantization(group_size, bits)
