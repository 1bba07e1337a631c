"""What a repository of the hub holds, asked through huggingface_hub: it knows endpoints, tokens and offline mode.

It reads HF_ENDPOINT, HF_TOKEN, HF_HOME and HF_HUB_OFFLINE when it is imported, which happens only when something
is asked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from edge0_tui.manager.errors import HubError
from edge0_tui.manager.names import MAX_FILES, MAX_SMALL_BYTES, wanted
from edge0_tui.manager.repo_id import RepoId
from edge0_tui.manager.statuses import refused

TIMEOUT = 30.0
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class RemoteFile:
    """One file at one commit. Files kept in LFS have a sha256, all others the sha1 of their git blob."""

    name: str
    bytes: int
    sha256: str = ""
    git_sha1: str = ""


@dataclass(frozen=True)
class RemoteRepo:
    """The files of a repository that make a checkpoint, at the commit its revision means now."""

    repo: str
    commit: str
    files: tuple[RemoteFile, ...]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    def url(self, name: str) -> str:
        """Where a file is fetched from; it may answer with a redirect to another host."""
        from huggingface_hub import hf_hub_url

        return str(hf_hub_url(self.repo, name, revision=self.commit, endpoint=endpoint()))


def token() -> str:
    """The user's token, empty without one."""
    from huggingface_hub import get_token

    return get_token() or ""


def endpoint() -> str:
    """The hub's address."""
    from huggingface_hub import constants

    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or str(constants.ENDPOINT)


def ask(id: RepoId, timeout: float = TIMEOUT) -> RemoteRepo:
    """Commit and files of a repository. Raises `HubError` with what to do about it."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    transport: type[Exception] = HfHubHTTPError.__bases__[0]
    host = urlsplit(endpoint()).netloc
    try:
        info = HfApi(endpoint=endpoint()).model_info(
            id.repo, revision=id.revision or None, files_metadata=True, timeout=timeout
        )
        return _understood(id, info)
    except OfflineModeIsEnabled:
        raise HubError(
            "HF_HUB_OFFLINE is set, so nothing is fetched.", "Unset it, or point to a model on this disk."
        ) from None
    except HfHubHTTPError as error:
        code = str(error.response.headers.get("X-Error-Code", ""))
        after = str(error.response.headers.get("Retry-After", ""))
        raise refused(error.response.status_code, str(id), host, code, after) from None
    except transport as error:
        raise unreachable(host, error) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise HubError(f"{host} answered no description of {id}.", "Try again later.") from None


def unreachable(host: str, error: Exception) -> HubError:
    """The hub, or the network on the way to it, is down."""
    why = str(error).strip() or type(error).__name__
    return HubError(f"{host} cannot be reached ({why[:200]}).", "Check the network, or HF_ENDPOINT.")


def _understood(id: RepoId, info: Any) -> RemoteRepo:
    commit = str(info.sha or "")
    if len(commit) != 40 or not _HEX.issuperset(commit):
        raise ValueError("no commit")
    listed = {str(item.rfilename): item for item in info.siblings or ()}
    names = wanted(listed)
    if len(names) > MAX_FILES:
        raise HubError(f"{id} lists {len(names):,} files, more than the {MAX_FILES:,} a checkpoint may have.")
    if not any(name.endswith(".safetensors") for name in names) or "config.json" not in names:
        raise HubError(
            f"{id} holds no checkpoint: a config.json and *.safetensors files are needed.",
            "Choose an MLX conversion in 4 or 8 bits.",
        )
    return RemoteRepo(id.repo, commit, tuple(_file(id, name, listed[name]) for name in names))


def _file(id: RepoId, name: str, item: Any) -> RemoteFile:
    size = item.size if item.lfs is None else item.lfs.size
    sha256 = "" if item.lfs is None else str(item.lfs.sha256).lower()
    sha1 = "" if item.lfs is not None else str(item.blob_id or "").lower()
    if type(size) is not int or not 0 <= size < 1 << 48:
        raise HubError(f"The hub states no size for {name} of {id}.")
    if not name.endswith(".safetensors") and size > MAX_SMALL_BYTES:
        raise HubError(f"{name} of {id} has {size:,} bytes, more than any such file of a checkpoint.")
    if not _HEX.issuperset(sha256 + sha1) or (len(sha256), len(sha1)) not in ((64, 0), (0, 40)):
        raise HubError(f"The hub states no hash for {name} of {id}, so it could not be verified.")
    return RemoteFile(name, size, sha256, sha1)
