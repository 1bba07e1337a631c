"""Writes checkpoints in the published format with random weights, at any scale.

write_synthetic(path, tiny(), seed=0)           # tests, or tiny_8b(); see SyntheticSpec for the variations
python -m engine.checkpoint.synthetic --help    # tiny, slice, full; the same with -8b
"""

from engine.checkpoint.synthetic.presets import REAL_35B, TINY, full, sliced, tiny
from engine.checkpoint.synthetic.presets_8b import REAL_8B, TINY_8B, full_8b, sliced_8b, tiny_8b
from engine.checkpoint.synthetic.spec import SyntheticSpec, layer_types, published_quant
from engine.checkpoint.synthetic.write import total_bytes, write_synthetic

__all__ = [
    "REAL_8B",
    "REAL_35B",
    "TINY",
    "TINY_8B",
    "SyntheticSpec",
    "full",
    "full_8b",
    "layer_types",
    "published_quant",
    "sliced",
    "sliced_8b",
    "tiny",
    "tiny_8b",
    "total_bytes",
    "write_synthetic",
]
