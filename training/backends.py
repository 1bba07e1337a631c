"""Where answers come from: the shipped engine, or mlx-lm as an independent check. Greedy, one fresh chat each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.protocol import Generate, Load, Message, Sampling

Answer = Callable[[str], str]
MOST_TOKENS = 96


def engine(model: Path) -> Answer:
    """Answers through the shipped engine, as ``edge0-tui run -p ... --greedy`` gets them."""
    from engine.session import Session

    session = Session()
    session.load(Load("load", str(model.resolve())), lambda *_: None, lambda: False)
    sampling = Sampling(temperature=0.0, max_tokens=MOST_TOKENS)

    def answer(ask: str) -> str:
        request = Generate("ask", [Message("user", ask)], sampling)
        return session.generate(request, lambda _: None, lambda: False).text

    return answer


def mlx_lm(model: Path) -> Answer:
    """Answers through mlx-lm, in float32."""
    import mlx.core as mx
    from mlx_lm import load, stream_generate
    from mlx_lm.sample_utils import make_sampler

    network, tokenizer = load(str(model))
    network.set_dtype(mx.float32)
    sampler = make_sampler(temp=0.0)

    def answer(ask: str) -> str:
        prompt = tokenizer.apply_chat_template([{"role": "user", "content": ask}], add_generation_prompt=True)
        steps = stream_generate(network, tokenizer, prompt, max_tokens=MOST_TOKENS, sampler=sampler)
        return "".join(step.text for step in steps)

    return answer


BACKENDS: dict[str, Callable[[Path], Answer]] = {"engine": engine, "mlx-lm": mlx_lm}
