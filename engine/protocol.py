"""What the engine process and its client say to each other: one JSON object a line.

Requests travel on the worker's standard input, events on its standard output. Every message is a frozen
dataclass; `engine.wire` writes and reads the lines.
Times are in seconds, sizes in bytes. Counters in `Counters` are cumulative for one reply unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Routing = Literal["exact", "predicted"]
Role = Literal["system", "user", "assistant"]
Channel = Literal["answer", "thinking"]
FinishReason = Literal["stop", "length", "cancelled", "error"]


# --- values -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Message:
    """One turn as the chat template sees it."""

    role: Role
    content: str
    thinking: str = ""


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen. Temperature 0 is greedy."""

    temperature: float = 0.7
    top_k: int = 64
    top_p: float = 0.95
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    max_tokens: int = 2048


@dataclass(frozen=True)
class Allocator:
    """What MLX's allocator reports: live buffers now, their highest sum since the load, and its free cache."""

    active: int = 0
    peak: int = 0
    cache: int = 0


@dataclass(frozen=True)
class Ttft:
    """Time to the first token, split: tokenise and render, blocked on reads, and the rest."""

    total: float = 0.0
    tokenise: float = 0.0
    read: float = 0.0
    compute: float = 0.0


@dataclass(frozen=True)
class ExpertCounters:
    """Traffic of the expert arena. `requested` counts the bytes needed, `bytes_read` what was read for them."""

    slots: int = 0
    hits: int = 0
    misses: int = 0
    bytes_read: int = 0
    bytes_requested: int = 0
    dropped: int = 0

    @property
    def read_amplification(self) -> float:
        """Bytes read ÷ bytes of the records that were missing (1.0 when nothing had to be read)."""
        return self.bytes_read / self.bytes_requested if self.bytes_requested else 1.0


@dataclass(frozen=True)
class RoutingReport:
    """How tokens were routed. `agreement` is the mean share of the true router's experts that were used."""

    mode: Routing = "exact"
    predicted_layers: int = 0
    agreement: float | None = None
    agreement_by_layer: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Counters:
    """Everything the live panel shows, measured in the engine process at the moment of the event.

    `dropped_messages` counts the oldest messages that were left out because `Generate.drop_oldest` allowed it.
    """

    prompt_tokens: int = 0
    reused_tokens: int = 0
    dropped_messages: int = 0
    completion_tokens: int = 0
    thinking_tokens: int = 0
    prefill_tok_s: float = 0.0
    decode_tok_s: float = 0.0
    decode_tok_s_now: float = 0.0
    ttft: Ttft = field(default_factory=Ttft)
    allocator: Allocator = field(default_factory=Allocator)
    footprint_bytes: int = 0
    cached_pages_bytes: int | None = None
    kv_bytes: int = 0
    kv_bytes_per_token: int = 0
    recurrent_bytes: int = 0
    context_used: int = 0
    context_limit: int = 0
    experts: ExpertCounters = field(default_factory=ExpertCounters)
    io_wait_s: float = 0.0
    io_bandwidth: float = 0.0
    routing: RoutingReport = field(default_factory=RoutingReport)


@dataclass(frozen=True)
class PlanItem:
    """One line of the memory plan."""

    name: str
    bytes: int
    note: str = ""


@dataclass(frozen=True)
class AdapterReport:
    """What became of an adapter's targets when it was put on.

    applied, not_found and skipped (never adapted here: routed experts, embeddings) count modules; `names` holds the
    first few that were not applied. `seconds` is what reading and attaching took.
    """

    format: str
    path: str
    rank: int
    scale: float
    applied: int
    not_found: int = 0
    skipped: int = 0
    names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class ModelInfo:
    """What is loaded, as the header, panel and transcripts name it.

    `load_seconds` is what the last load took, be it only a switch; `base_seconds` the last one that read the base.
    """

    name: str
    tier: str
    path: str
    revision: str = ""
    family: str = ""
    adapter: str = "none"
    adapters_available: list[str] = field(default_factory=list)
    adapter_report: AdapterReport | None = None
    routing: Routing = "exact"
    predicted_available: bool = False
    experts_per_token: int = 0
    layers: int = 0
    experts_per_layer: int = 0
    context_limit: int = 0
    supports_thinking: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    budget_bytes: int = 0
    plan: list[PlanItem] = field(default_factory=list)
    slots: int = 0
    load_seconds: float = 0.0
    base_seconds: float = 0.0


# --- requests -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """Load a checkpoint. `model` is `nano` or a directory; `adapter` is a name, a file, `none`, or empty for
    the checkpoint's own default; `routing` empty means predicted where heads exist. `adapters_dir` is a folder
    with more adapters to choose from by name."""

    id: str
    model: str
    adapter: str = ""
    routing: str = ""
    memory_bytes: int | None = None
    context: int | None = None
    adapters_dir: str = ""


@dataclass(frozen=True)
class Generate:
    """Continue a conversation. With `raw` the last message's content is the prompt itself, without a template.

    When the last message is an assistant turn, the reply is its rest: the model goes on from where that text stops,
    and the events carry only what is new. `drop_oldest` leaves out as many of the oldest turns as do not fit the
    context; without it such a prompt is refused (`Failed.kind` "context").
    """

    id: str
    messages: list[Message]
    sampling: Sampling | None = None
    routing: str = ""
    thinking: bool = False
    raw: bool = False
    measure_agreement: bool = False
    drop_oldest: bool = False


@dataclass(frozen=True)
class Stop:
    """Stop the load or reply with this id within one step or chunk."""

    id: str


@dataclass(frozen=True)
class Count:
    """Count the tokens of texts as the loaded checkpoint's tokenizer splits them. Waits for a reply under way."""

    id: str
    texts: list[str]


@dataclass(frozen=True)
class Reset:
    """Forget every conversation state (not the model)."""


@dataclass(frozen=True)
class Shutdown:
    """Leave in good order."""


Request = Load | Generate | Count | Stop | Reset | Shutdown


# --- events -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ready:
    """The process is up; nothing is loaded yet."""

    pid: int
    version: str
    device: str
    kernels: str


@dataclass(frozen=True)
class Loading:
    """Progress of a load; `total` 0 means unknown."""

    id: str
    phase: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Loaded:
    id: str
    info: ModelInfo


@dataclass(frozen=True)
class Prefilling:
    """Prompt tokens computed so far; `reused` came from an earlier state and cost nothing."""

    id: str
    done: int
    total: int
    reused: int
    counters: Counters


@dataclass(frozen=True)
class Piece:
    """Text of one channel."""

    channel: Channel
    text: str


@dataclass(frozen=True)
class Delta:
    """New text since the last event, in order, and the counters so far."""

    id: str
    pieces: list[Piece]
    counters: Counters


@dataclass(frozen=True)
class Finished:
    """The reply is over. Text fields hold the whole reply, so a client that missed deltas loses nothing."""

    id: str
    finish_reason: FinishReason
    text: str
    thinking: str
    prompt_ids: list[int]
    ids: list[int]
    counters: Counters
    seed: int | None = None


@dataclass(frozen=True)
class Counted:
    """Tokens of each text of a `Count`, in its order; `model` is the path of what counted them."""

    id: str
    tokens: list[int]
    model: str


@dataclass(frozen=True)
class Failed:
    """A request ended in an error. `kind` is a key of `engine.errors.KINDS`. Partial text is kept."""

    id: str
    kind: str
    message: str
    hint: str = ""
    text: str = ""
    thinking: str = ""


@dataclass(frozen=True)
class Heartbeat:
    """Sent every second by a thread that holds no lock of the computing one."""

    uptime: float
    busy: str = ""
    footprint_bytes: int = 0


Event = Ready | Loading | Loaded | Prefilling | Delta | Finished | Counted | Failed | Heartbeat
