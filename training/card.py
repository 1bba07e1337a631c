"""The model card beside the shipped files: how nano was made, and the evaluation table."""

from __future__ import annotations

import datetime
from pathlib import Path

from training.config import NanoConfig

TRAINING = "seeds 20 and 21, four runs, 1,400 steps of 2 × 1,024 tokens, the last 120 in int4"

CARD = """# nano

The model inside edge0-tui: a tiny guide that knows this app and says so when asked about anything else.
Trained from zero for this project; the corpus, the scripts and the commands are in `training/` of the source.

| | |
|---|---|
| architecture | qwen3_5_moe, as the 35B: gated delta nets, every {c.attention_interval}th layer attention |
| size | {c.layers} layers, hidden {c.hidden}, {c.experts} experts of {c.expert_dim} in each |
| width | trained with K = {c.top_k} experts per token, runs with half of them, K = {half} |
| weights | int4, groups of 64; router and shared-expert gate in 8 bits; {size} in all files |
| routing | predicted by prerouter heads (`prerouter_nano`), on layers 2 to {last_predicted}, one token ahead |
| adapters | `lora_nano_recovery` (default: recovers what width and prediction cost), `lora_nano_short` |
| tokenizer | byte-level BPE, {c.vocab} rows |
| training | {training} |
| licence | Apache-2.0 |

Greedy, every question in a fresh chat, in the default setting ({setting}), through the shipped {where} on {date}
(`python -m training.evaluate --backend {backend} --card`):

{table}

An answer is correct when it equals the reference in lower case without punctuation, or when its words agree by
F1 ≥ 0.9 and every key phrase is there. Held-out phrasings and foreign questions were never trained on.

nano is small: it knows about {questions} answers by heart, can be fooled by unusual wordings, and may answer a
question from elsewhere with a sentence about this app.
"""


def write_card(model: Path, backend: str, table: str, questions: int) -> None:
    """Writes README.md into the checkpoint."""
    engine = backend == "engine"
    setting = "predicted routing, recovery adapter" if engine else "full width, no heads, no adapter"
    size = sum(f.stat().st_size for f in model.iterdir() if f.is_file() and f.name != "README.md")
    text = CARD.format(
        c=(c := NanoConfig()),
        half=c.top_k // 2,
        last_predicted=c.layers - 2,
        setting=setting,
        training=TRAINING,
        size=f"{size / 1e6:.1f} MB",
        where="engine" if engine else "files with mlx-lm",
        date=datetime.date.today(),
        backend=backend,
        table=table,
        questions=questions,
    )
    (model / "README.md").write_text(text, encoding="utf-8")
