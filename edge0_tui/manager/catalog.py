"""The two published checkpoints, pinned: revision, files, sizes and, where published, sha256."""

from __future__ import annotations

from dataclasses import dataclass

from edge0_tui.manager.repo_id import RepoId


@dataclass(frozen=True)
class CatalogFile:
    """One file as published. Size None and an empty sha256: what the hub says for the pinned revision is taken."""

    name: str
    bytes: int | None = None
    sha256: str = ""


@dataclass(frozen=True)
class CatalogEntry:
    """A checkpoint this application was made for. `name` is the tier, and its folder below the models folder.

    `files` are all that is needed, their names with * where only the beginning is known. Each has to exist at that
    revision, apart from those that are `optional`.
    """

    name: str
    title: str
    repo: str
    revision: str
    files: tuple[CatalogFile, ...]
    optional: tuple[str, ...]

    @property
    def id(self) -> RepoId:
        return RepoId(self.repo, self.revision)

    @property
    def bytes(self) -> int:
        """The download's size as far as sizes are published; the missing ones are small text files."""
        return sum(file.bytes or 0 for file in self.files)


_SMALL = ("tokenizer_config.json", "chat_template.jinja", "generation_config.json", "special_tokens_map.json")

CATALOG: tuple[CatalogEntry, ...] = (
    CatalogEntry(
        "8b",
        "Edge0 8B-A1B",
        "Edge0/Edge0-8B-A1B-preview",
        "269b9a2c4a69d897c50e9f4e125328481d7c0fcf",
        (
            CatalogFile(
                "model.safetensors",
                4_508_697_328,
                "5bcde14438cfe13a547965573471e8ddc830de3a047dd2dfd38a0eb2b390d2b6",
            ),
            CatalogFile("config.json", 3_069, "5790c795d490d7b90eb04b269f5db4faad08bcc560f8da6e30b61057b1606340"),
            CatalogFile(
                "tokenizer.json",
                12_205_732,
                "40fb9d7d7795b8bd305aeff39ce9963f3f450915b9553f2938e009be9a1fed60",
            ),
            CatalogFile("tokenizer_config.json"),
            CatalogFile("chat_template.jinja"),
            CatalogFile("generation_config.json"),
            CatalogFile(
                "lora_edge0_*.safetensors",
                16_413_656,
                "a32ff07ba3d3b3c9811146c43a3f0e96af4ec2960ebc5072910f9a6663dc2e2e",
            ),
            CatalogFile(
                "prerouter_edge0_*.safetensors",
                38_802_304,
                "5f05d25e52ce18103d0867e5a0c79ec4e3334ad8c8906c22ec6266a95db2047c",
            ),
        ),
        _SMALL,
    ),
    CatalogEntry(
        "35b",
        "Edge0 35B-A3B",
        "Edge0/Edge0-35B-A3B-preview",
        "1ff9f4478890faec0368c5463b621d1036d5b518",
        (
            CatalogFile(
                "model-00001-of-00004.safetensors",
                4_395_019_264,
                "f7fff28fecb8221e53787c6339c938b113bcb94c7bbc60d09a8826eba08ef1ab",
            ),
            CatalogFile(
                "model-00002-of-00004.safetensors",
                5_368_472_749,
                "31dcdb1c49eebdb1505bd14e3cb33f9cf900bd2546b638f2464694ae763a033f",
            ),
            CatalogFile(
                "model-00003-of-00004.safetensors",
                5_368_324_139,
                "3e66de06a1f03dade16a612a368cfce4a4c9caa4efd7d28185454384082cec03",
            ),
            CatalogFile(
                "model-00004-of-00004.safetensors",
                4_377_211_365,
                "a5d0cf03519c26f8b506df6b0ba60526e5c08c8cea22d0c21ce92950e58a5422",
            ),
            CatalogFile("model.safetensors.index.json", 180_182),
            CatalogFile("config.json", 23_591),
            CatalogFile("tokenizer.json", 19_989_343),
            CatalogFile("tokenizer_config.json", 1_139),
            CatalogFile("chat_template.jinja", 7_764),
            CatalogFile("generation_config.json", 202),
            CatalogFile(
                "lora_edge0_*.safetensors",
                42_413_928,
                "a407f6d27bb55e39e6461bd4bce1fd90489e70c7582b68a796fb764bdb441ec1",
            ),
            CatalogFile("prerouter_edge0_*.safetensors", 138_422_000),
        ),
        _SMALL,
    ),
)


def entry(name: str) -> CatalogEntry | None:
    """The entry called `8b` or `35b`, or that of the repository `owner/name`."""
    return next((item for item in CATALOG if name.lower() in (item.name, item.repo.lower())), None)


def pinned(id: RepoId) -> CatalogEntry | None:
    """The entry that is exactly this repository at this revision."""
    return next((item for item in CATALOG if item.id == id), None)
