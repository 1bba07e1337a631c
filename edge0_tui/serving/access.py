"""Who may talk to the server. Pure.

Listening on 127.0.0.1 alone keeps other machines out, but neither the other people of this one nor the pages of
other sites in one's own browser. So the address has a secret in it, and names and origins are compared.
"""

from __future__ import annotations

from urllib.parse import urlsplit

LOCAL = ("127.0.0.1", "localhost", "::1")


def refusal(host: str, origin: str | None, listens_on: str) -> str:
    """Why a request with these headers is not answered; empty if it is.

    A name that is not ours leads here only when a name server says so (DNS rebinding). Where the server was
    told to listen on all addresses, its names are not known, and the secret has to do.
    """
    name = urlsplit(f"//{host}").hostname or ""
    if listens_on in LOCAL and name not in LOCAL:
        return f"{name or 'This name'} is not this server's."
    if origin is not None and urlsplit(origin).netloc != host:
        return "Another site's page cannot use this server."
    return ""


def address(listens_on: str, port: int, secret: str) -> str:
    """What to open in a browser of this machine."""
    name = "127.0.0.1" if listens_on in ("0.0.0.0", "::", "") else listens_on
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/{secret}/"
