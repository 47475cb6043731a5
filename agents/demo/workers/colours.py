"""Contrast of two colours, and the nearest colour that has enough of it (WCAG 2.2, relative luminance)."""

from __future__ import annotations

import colorsys
import re
import sys
from pathlib import Path

STEPS = 1000


def parts(colour: str) -> tuple[float, float, float]:
    """Red, green and blue of #rrggbb, each from 0 to 1."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    """Relative luminance, from 0 to 1."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def reached(colour: str, ground: str, ratio: float) -> str | None:
    """The colour of the same hue and saturation, its lightness moved least, that reaches the ratio; or None."""
    if contrast(colour, ground) >= ratio:
        return colour
    hue, lightness, saturation = colorsys.rgb_to_hls(*parts(colour))
    brighter = luminance(ground) < 0.18
    for step in range(1, STEPS + 1):
        moved = lightness + (1 - lightness) * step / STEPS if brighter else lightness * (1 - step / STEPS)
        tried = "#" + "".join(
            f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, moved, saturation)
        )
        if contrast(tried, ground) >= ratio:
            return tried
    return None


def main(sheet: str, mode: str, ground: str, *names: str) -> None:
    """Prints the contrast of each named colour on the ground: colours.py static/tokens.css dark --surface --muted."""
    text = Path(sheet).read_text(encoding="utf-8")
    pairs = {name: pair for name, *pair in re.findall(r"(--[\w-]+): light-dark\((#\w{6}), (#\w{6})\)", text)}
    side = mode == "dark"
    print(f"{mode} mode, on {ground} {pairs[ground][side]}")
    for name in names:
        print(f"  {name:<12} {pairs[name][side]}  {contrast(pairs[name][side], pairs[ground][side]):5.2f}:1")


if __name__ == "__main__":
    main(*sys.argv[1:])
