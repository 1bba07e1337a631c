"""Reads checkpoint directories: nothing is loaded here, everything is checked here. No mlx.

c = open_checkpoint(path, repo="", experts_per_token=None)   # CheckpointError names file and tensor
c.path c.name c.revision c.tier ("35b" "8b" "nano" "custom") c.family c.notes
c.config                      Qwen35MoeConfig or BailingMoeV3Config, both a ModelConfig
c.experts_per_token           K to run (tiers.py has the rule), not config.num_experts_per_tok
c.tensors["layers.3.self_attn.q_proj.weight"] → TensorInfo(name, dtype, shape, path, offset, nbytes)
c.modules["layers.3.self_attn.q_proj"] → Quantization(group_size, bits) | None (plain floats)
c.raw_layout                  True: add 1 to shifted norms (PlainPart.shifted; the 8B has none), move conv axes
c.dense_bytes, c.expert_bytes
c.records.layout              RecordLayout(parts, nbytes, gate_up, down); parts as in records.PARTS
c.records.ranges(layer, expert) → nine ByteRange(path, offset, nbytes)
c.files                       CheckpointFiles(directory, shards, index, adapters, heads)
read_tensor(info) → numpy array in aligned memory, BF16 as uint16 (from_bfloat16 → float32)

lora = read_lora(path)        a file or a folder in the published layout, mlx-lm's or PEFT's → LoraFile(path, name,
                              format, rank, alpha, scale, targets {module: LoraTarget(a, b, scale)}, skipped,
                              metadata)
heads = read_prerouter(path)  PrerouterFile(path, owners, experts_per_token, features, hidden, num_experts,
                              heads {owner: PrerouterHead(fc1, fc2, linear_init)}, metadata)
match_lora(lora, c) → LoraMatch(targets, applied, not_found, skipped, misshapen, notes)
require_lora(lora, c) → the same, refusing another tier's
require_heads(heads, c) → HeadsMatch(applied, not_found, consumers, notes)

engine.checkpoint.synthetic   write_synthetic(path, spec, seed) with tiny(), sliced(layers), full(),
                              or tiny_8b(), sliced_8b(layers), full_8b()
"""

from engine.checkpoint.adapter_match import HeadsMatch, LoraMatch, match_lora, require_heads, require_lora
from engine.checkpoint.adapter_metadata import AdapterMetadata
from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config
from engine.checkpoint.checkpoint import Checkpoint, open_checkpoint
from engine.checkpoint.dtypes import from_bfloat16, to_bfloat16
from engine.checkpoint.expected import ExpectedTensor, expected_tensors
from engine.checkpoint.headers import Header, TensorInfo, read_header
from engine.checkpoint.lora import LoraFile, LoraTarget
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.parts import LinearPart, PlainPart, Quantization
from engine.checkpoint.prerouter import PrerouterFile, PrerouterHead, read_prerouter
from engine.checkpoint.quant import QuantSpec
from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig
from engine.checkpoint.read_lora import read_lora
from engine.checkpoint.read_tensor import aligned_bytes, read_tensor
from engine.checkpoint.records import ByteRange, RecordLayout, RecordPart, Records

__all__ = [
    "AdapterMetadata",
    "BailingMoeV3Config",
    "ByteRange",
    "Checkpoint",
    "ExpectedTensor",
    "Header",
    "HeadsMatch",
    "LinearPart",
    "LoraFile",
    "LoraMatch",
    "LoraTarget",
    "ModelConfig",
    "PlainPart",
    "PrerouterFile",
    "PrerouterHead",
    "QuantSpec",
    "Quantization",
    "Qwen35MoeConfig",
    "RecordLayout",
    "RecordPart",
    "Records",
    "TensorInfo",
    "aligned_bytes",
    "expected_tensors",
    "from_bfloat16",
    "match_lora",
    "open_checkpoint",
    "read_header",
    "read_lora",
    "read_prerouter",
    "read_tensor",
    "require_heads",
    "require_lora",
    "to_bfloat16",
]
