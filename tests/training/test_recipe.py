"""The recipe: the training model decodes as the engine does, files have the published form, the split holds."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from tokenizers import Tokenizer

from engine.checkpoint.checkpoint import open_checkpoint
from engine.checkpoint.prerouter import read_prerouter
from engine.checkpoint.read_lora import read_lora
from training.corpus.expand import normalise
from training.corpus.load import held_phrases
from training.recipe import heads as head_files
from training.recipe import lora
from training.recipe.base import HALF, owners, shipped
from training.recipe.fit import HeadFitter, Memory
from training.recipe.forward import Seen, trunk, words
from training.recipe.heads import Heads
from training.recipe.merge import BASE_FILES, merge
from training.recipe.rows import Decoded, collate, draw, start_of

NANO = Path(__file__).parents[2] / "engine" / "nano"
ASK, ANSWER = "how do i make a new line", "Press ctrl+j for a new line.<|im_end|>"


def base_only(directory: Path) -> Path:
    """The base's files without heads and adapters."""
    directory.mkdir()
    for name in BASE_FILES:
        shutil.copyfile(NANO / name, directory / name)
    return directory


def some_heads(seed: int = 1) -> Heads:
    """Heads that predict something else than the routers."""
    gen = torch.Generator().manual_seed(seed)
    made = head_files.initialise(HALF, owners(HALF), seed)
    return Heads(
        {n: (torch.randn(w.shape, generator=gen) * 0.1).half().float() for n, w in made.p.items()}, made.owners
    )


def some_adapter(seed: int = 2) -> lora.Adapter:
    """An adapter that changes every module by a few per cent."""
    gen = torch.Generator().manual_seed(seed)
    made = lora.initialise(HALF, seed)
    return {
        n: (w.detach() if n.endswith("lora_A") else torch.randn(w.shape, generator=gen) * 0.02).half().float()
        for n, w in made.items()
    }


def test_the_training_model_decodes_as_the_engine_does(tmp_path: Path) -> None:
    pytest.importorskip("mlx.core")
    from engine.bench.forced import force
    from engine.protocol import Load, Message
    from engine.session import Session

    directory, heads, adapter = base_only(tmp_path / "nano"), some_heads(), some_adapter()
    head_files.write(HALF, heads, directory / "prerouter_test.safetensors", "test")
    lora.write(HALF, adapter, directory / "lora_test.safetensors", "test")
    session = Session()
    info = session.load(Load("l", str(directory)), lambda *_: None, lambda: False)
    assert (info.experts_per_token, info.routing, info.adapter) == (HALF.top_k, "predicted", "lora_test")
    tok = Tokenizer.from_file(str(NANO / "tokenizer.json"))
    prompt = session.loaded.codec.encode_chat([Message("user", ASK)]).ids
    ids = prompt + tok.encode(ANSWER, add_special_tokens=False).ids
    opinion = torch.zeros(len(ids) - len(prompt), 1)
    batch = collate([Decoded(ids, len(prompt), opinion, opinion)])
    wanted = batch.ids[:, 1:][batch.asked[:, :-1]]
    for routing, used in (("predicted", heads), ("exact", None)):
        theirs = force(session, [Message("user", ASK)], ANSWER, "predicted" if used else "exact")
        p = lora.applied(shipped(NANO), adapter)
        with torch.no_grad():
            found = words(p, trunk(HALF, p, batch.ids, batch.start, used, Seen()), batch.asked)
        ours = found.gather(-1, wanted[:, None])[:, 0]
        torch.testing.assert_close(torch.tensor(theirs.log_probabilities), ours, atol=2e-3, rtol=2e-3, msg=routing)
    session.close()


def test_files_are_read_as_published(tmp_path: Path) -> None:
    directory = base_only(tmp_path / "nano")
    head_files.write(HALF, some_heads(), directory / "prerouter_a.safetensors", "test")
    lora.write(HALF, some_adapter(), directory / "lora_a.safetensors", "test")
    heads, adapter = (
        read_prerouter(directory / "prerouter_a.safetensors"),
        read_lora(directory / "lora_a.safetensors"),
    )
    assert (heads.owners, heads.experts_per_token, heads.num_experts) == (owners(HALF), HALF.top_k, HALF.experts)
    assert (adapter.rank, adapter.scale, len(adapter.targets)) == (16, 2.0, len(lora.targets(HALF)))
    assert open_checkpoint(directory).experts_per_token == HALF.top_k


def test_rows_for_the_recipe_hold_nothing_held_out() -> None:
    tok = Tokenizer.from_file(str(NANO / "tokenizer.json"))
    for row in draw(tok, 60, 400):
        turns = tok.decode(row.ids, skip_special_tokens=False).split("<|im_start|>user\n")[1:]
        asked = {normalise(turn.split("<|im_end|>")[0]) for turn in turns}
        assert asked and not asked & held_phrases()
        assert all(row.wanted[start_of(row) :]) and not row.wanted[start_of(row) - 1]


def test_heads_learn_what_they_are_shown() -> None:
    """A next route that follows from the features must be found, at the right shift in layer and token."""
    torch.manual_seed(3)
    c, layers = HALF, owners(HALF)[:1]
    ids = torch.zeros(8, 64, dtype=torch.long)
    batch = collate([Decoded([1] * 64, 4, torch.zeros(60, 1), torch.zeros(60, 1))] * 8)
    seen = Seen()
    seen.inputs[1] = torch.randn(*ids.shape, c.hidden)
    seen.used[1] = torch.randint(0, c.experts, (*ids.shape, 1))
    rule = torch.randn(c.experts, c.hidden)
    seen.router[2] = (seen.inputs[1] @ rule.t()).roll(1, 1).softmax(-1)
    memory = Memory(c)
    memory.add(layers, seen, batch)
    fitter = HeadFitter(head_files.initialise(c, layers, 4), memory, 1e-2, 5)
    before = fitter.step()
    for _ in range(120):
        after = fitter.step()
    assert after[0] < before[0] / 2
    assert after[1] > 0.75 > 2 * before[1]


def test_merging_writes_the_sum_rounded_to_the_base_format(tmp_path: Path) -> None:
    directory, adapter = base_only(tmp_path / "nano"), some_adapter()
    merge(directory, adapter, tmp_path / "merged")
    before, after = shipped(directory), shipped(tmp_path / "merged")
    wanted = lora.applied(before, adapter)
    for name, w in wanted.items():
        if name.removesuffix(".weight") not in lora.targets(HALF):
            assert torch.equal(after[name], before[name]), name
            continue
        groups = w.unflatten(-1, (-1, 64))
        step = (groups.amax(-1) - groups.amin(-1)) / 15
        error = (after[name] - w).unflatten(-1, (-1, 64)).abs()
        assert (error < 1.1 * step[..., None] + 1e-6).all(), name
        assert math.isclose(float((error / step[..., None]).mean()), 0.25, abs_tol=0.1), name
