"""How far two colours are apart, as contrast and as seen with the common kinds of colour blindness."""

from __future__ import annotations

from textual.color import Color

Triple = tuple[float, float, float]

KINDS: dict[str, tuple[Triple, Triple, Triple]] = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""Machado, Oliveira and Fernandes (2009), severity 1.0; applied to linear RGB."""

_TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
_WHITE = (0.95047, 1.0, 1.08883)


def linear(colour: Color) -> Triple:
    """sRGB's three parts as shares of light."""

    def part(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    return part(colour.r), part(colour.g), part(colour.b)


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of two colours."""
    lights = sorted((_times(_TO_XYZ, linear(Color.parse(text)))[1] for text in (one, other)), reverse=True)
    return (lights[0] + 0.05) / (lights[1] + 0.05)


def apart(one: str, other: str, kind: str = "") -> float:
    """CIE76's difference of two colours: 2 is just visible, 10 is plain at a glance. `kind` is one of `KINDS`."""
    first, second = (_lab(linear(Color.parse(text)), kind) for text in (one, other))
    return float(sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5)


def _lab(light: Triple, kind: str) -> Triple:
    if kind:
        red, green, blue = (min(1.0, max(0.0, part)) for part in _times(KINDS[kind], light))
        light = (red, green, blue)

    def curve(share: float) -> float:
        return float(share ** (1 / 3)) if share > 216 / 24389 else (24389 / 27 * share + 16) / 116

    x, y, z = (curve(part / white) for part, white in zip(_times(_TO_XYZ, light), _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _times(matrix: tuple[Triple, Triple, Triple], vector: Triple) -> Triple:
    one, two, three = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return one, two, three
