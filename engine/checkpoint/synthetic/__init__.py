"""Writes checkpoints in the published format with random weights, at any scale.

write_synthetic(path, tiny(), seed=0)                      # tests; see SyntheticSpec for the variations
python -m engine.checkpoint.synthetic --help               # tiny, slice, full
"""

from engine.checkpoint.synthetic.presets import REAL_35B, TINY, full, sliced, tiny
from engine.checkpoint.synthetic.spec import SyntheticSpec, layer_types, published_quant
from engine.checkpoint.synthetic.write import total_bytes, write_synthetic

__all__ = [
    "REAL_35B",
    "TINY",
    "SyntheticSpec",
    "full",
    "layer_types",
    "published_quant",
    "sliced",
    "tiny",
    "total_bytes",
    "write_synthetic",
]
