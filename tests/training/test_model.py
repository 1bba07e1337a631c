"""The training model against plain renderings of the same maths. Needs PyTorch."""

import pytest

pytest.importorskip("torch")

import torch

from training.config import NanoConfig
from training.model.delta import chunked, sequential
from training.model.moe import routed, sparse_block
from training.model.nano import logits, loss
from training.model.params import TOPIC, initialise, shapes
from training.quantise import bits_of, dequantise, pack, quantise

SMALL = NanoConfig(vocab=256, hidden=64, layers=4, heads=2, kv_heads=1, head_dim=32, experts=8)


def test_chunked_delta_rule_equals_the_recurrence() -> None:
    torch.manual_seed(0)
    q, v = torch.randn(2, 3, 96, 32), torch.randn(2, 3, 96, 16)
    k = torch.nn.functional.normalize(torch.randn(2, 3, 96, 32), dim=-1)
    parts = (q, k, v, -3 * torch.rand(2, 3, 96), torch.rand(2, 3, 96))
    one = [x.clone().requires_grad_() for x in parts]
    two = [x.clone().requires_grad_() for x in parts]
    a, b = sequential(*one), chunked(*two)
    torch.testing.assert_close(a, b, atol=2e-5, rtol=1e-4)
    weight = torch.randn_like(a)
    (a * weight).sum().backward()
    (b * weight).sum().backward()
    for x, y in zip(one, two, strict=True):
        torch.testing.assert_close(x.grad, y.grad, atol=5e-4, rtol=1e-3)


def test_grouped_experts_equal_a_loop_over_rows() -> None:
    p = initialise(SMALL, 1)
    name = "language_model.model.layers.0.mlp"
    x = torch.randn(20, SMALL.hidden, requires_grad=True)
    chosen = torch.stack([torch.randperm(SMALL.experts)[: SMALL.top_k] for _ in range(20)])
    weights = torch.rand(20, SMALL.top_k)
    stacks = [p[f"{name}.switch_mlp.{n}_proj.weight"] for n in ("gate", "up", "down")]

    def plain() -> torch.Tensor:
        rows = []
        for t in range(20):
            g, u, d = (s[chosen[t]] for s in stacks)
            h = torch.nn.functional.silu(g @ x[t]) * (u @ x[t])
            rows.append(((d @ h[..., None])[..., 0] * weights[t, :, None]).sum(0))
        return torch.stack(rows)

    want = plain()
    got = routed(SMALL, p, name, x, chosen, weights)
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)
    for a, b in zip(
        torch.autograd.grad(got.square().sum(), [x, *stacks]),
        torch.autograd.grad(want.square().sum(), [x, *stacks]),
        strict=True,
    ):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-3)


def test_even_routing_has_balance_one() -> None:
    p = initialise(SMALL, 2)
    _, balance = sparse_block(SMALL, p, "language_model.model.layers.1.mlp", torch.randn(512, SMALL.hidden))
    assert 0.9 < float(balance.detach()) < 1.6


def test_logits_do_not_look_ahead_and_any_length_works() -> None:
    p = initialise(SMALL, 3)
    ids = torch.randint(0, SMALL.vocab, (1, 45))
    whole = logits(SMALL, p, ids)
    torch.testing.assert_close(whole[:, :17], logits(SMALL, p, ids[:, :17]), atol=1e-4, rtol=1e-3)


def test_loss_is_finite_and_reaches_every_parameter() -> None:
    p = initialise(SMALL, 4)
    assert set(p) == set(shapes(SMALL))
    ids = torch.randint(0, SMALL.vocab, (4, 64))
    topic = torch.full_like(ids, -1)
    topic[:, 9] = torch.arange(4)
    p[TOPIC] = torch.zeros(5, SMALL.hidden, requires_grad=True)
    answer, named, balance = loss(SMALL, p, ids, torch.ones_like(ids, dtype=torch.bool), topic)
    (answer + named + 0.01 * balance).backward()
    assert torch.isfinite(answer)
    assert all(w.grad is not None and torch.isfinite(w.grad).all() for w in p.values())


@pytest.mark.parametrize("bits", [4, 8])
def test_quantisation_is_close_and_packs_low_bits_first(bits: int) -> None:
    torch.manual_seed(5)
    w = torch.randn(3, 128)
    codes, scale, bias = quantise(w, bits)
    step = scale.abs().repeat_interleave(64, -1)
    error = (dequantise(codes, scale, bias) - w).abs() / step
    assert error.max() < 1.6  # one end may be clipped, and the bias is rounded to bfloat16
    assert error.mean() < 0.5
    words = pack(codes, bits).to(torch.int64)
    per = 32 // bits
    for j in range(per):
        assert torch.equal((words >> (j * bits)) & (2**bits - 1), codes[:, j::per].to(torch.int64))


@pytest.mark.parametrize("bits", [4, 8])
def test_quantisation_agrees_with_mlx(bits: int) -> None:
    mx = pytest.importorskip("mlx.core")
    torch.manual_seed(6)
    w = torch.randn(8, 128).bfloat16().float()
    codes, scale, bias = quantise(w, bits)
    ours = dequantise(codes, scale, bias)
    theirs = mx.dequantize(*mx.quantize(mx.array(w.numpy()), group_size=64, bits=bits), group_size=64, bits=bits)
    step = scale.abs().max()
    assert (ours - torch.tensor(theirs.tolist())).abs().max() < 1.1 * step
    parts = (mx.array(x.numpy()) for x in (pack(codes, bits), scale, bias))
    read = mx.dequantize(*parts, group_size=64, bits=bits)
    torch.testing.assert_close(torch.tensor(read.tolist()), ours, atol=1e-6, rtol=1e-5)


def test_only_the_gates_have_eight_bits() -> None:
    eight = {n for n in shapes(SMALL) if bits_of(n) == 8}
    assert len(eight) == 2 * SMALL.layers
