"""HTTP statuses of the hub in words."""

from __future__ import annotations

from edge0_tui.manager.errors import HubError

FINAL = frozenset({400, 401, 403, 404, 405, 410, 451})
"""Asking again does not help."""


def refused(status: int, what: str, host: str, code: str = "", after: str = "") -> HubError:
    """The error for an answer that is a refusal. `code`: the hub's X-Error-Code; `after`: Retry-After."""
    said = f"{host} answered {status}"
    if status == 401 and code == "RepoNotFound":
        return HubError(
            f"{what} does not exist on {host}, or is private ({status}).", "Check the name, or set HF_TOKEN."
        )
    if status == 401:
        return HubError(
            f"{host} wants to know who you are to give out {what} ({status}).", "Set HF_TOKEN to a valid token."
        )
    if status == 403 or code == "GatedRepo":
        return HubError(
            f"{host} does not give {what} to this account ({status}).",
            "Accept the model's conditions on its page, or use a token that may read it.",
        )
    if status == 404 and code == "RevisionNotFound":
        return HubError(f"{what}: {host} knows no such revision ({status}).", "Check what stands after the @.")
    if status in (404, 410):
        return HubError(f"{what} does not exist on {host} ({status}).", "Check the name and the revision.")
    if status == 429:
        when = f"in {after} s" if after.isdigit() else "in a few minutes"
        return HubError(f"{said}: too many requests.", f"Try again {when}; with HF_TOKEN set more are allowed.")
    if status >= 500:
        return HubError(f"{said}: it is in trouble itself.", "Try again later.")
    return HubError(f"{said} for {what}, which was not expected.", "Check HF_ENDPOINT.")
