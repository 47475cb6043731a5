"""Work on style sheets: contrast of colours, and outlines that show the keyboard focus."""

from __future__ import annotations

import re

from colours import contrast, reached
from skill import Asked, Work, skill
from workspace import CannotDo, Workspace, add_test

STYLE_TESTS = '''"""The style sheets, read as text."""

import re
import unittest
from pathlib import Path

STYLES = "".join(path.read_text() for path in sorted((Path(__file__).parent.parent / "static").glob("*.css")))'''

COLOUR_TESTS = (
    STYLE_TESTS.replace("The style sheets, read as text.", "Contrast of the colours.")
    + '''


def luminance(colour):
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(mode, one, other):
    """The contrast of two colours of the style sheets, from 1 to 21."""
    pairs = {name: pair for name, *pair in re.findall(r"(--[\\w-]+): light-dark\\((#\\w+), (#\\w+)\\)", STYLES)}
    lights = [luminance(pairs[name][mode == "dark"]) for name in (one, other)]
    return (max(lights) + 0.05) / (min(lights) + 0.05)'''
)


def ensure_rule(workspace: Workspace, selector: str, declarations: str) -> str:
    """Writes a rule into the style sheet with the layout, or writes it anew. Answers the file."""
    sheets = [path for path in workspace.changeable(".css") if "body" in workspace.read(path)]
    if not sheets:
        raise CannotDo("no style sheet is in scope")
    text = workspace.read(sheets[0])
    rule = f"{selector} {{ {declarations} }}"
    if len(rule) > 110:
        rule = f"{selector} {{\n  " + declarations.replace("; ", ";\n  ") + "\n}"
    old = re.compile(rf"^{re.escape(selector)} \{{[^}}]*\}}", re.MULTILINE)
    if old.search(text):
        text = old.sub(lambda _: rule, text, count=1)
    else:
        place = text.find("\n@media")
        text = f"{text.rstrip()}\n\n{rule}\n" if place < 0 else f"{text[:place]}\n{rule}\n{text[place:]}"
    workspace.write(sheets[0], text)
    return sheets[0]


def no_outline_lost(work: Work, asked: list[Asked]) -> None:
    """Removes every declaration that takes an outline away, and rules that are empty then."""
    for each in asked:
        values = "none|0" if each["value"] in ("none", "0") else re.escape(each["value"])
        declaration = rf"\s*{re.escape(each['property'])}:\s*(?:{values})\s*;"
        removed = 0
        for path in work.workspace.changeable(".css"):
            text, count = re.subn(declaration, "", work.workspace.read(path))
            if count:
                work.workspace.write(path, re.sub(r"[^{}\n]+\{\s*\}\n", "", text))
                removed += count
        left = [
            path
            for path in work.workspace.listed(".css")
            if re.search(declaration, work.workspace.read(path))
        ]
        if left:
            raise CannotDo(f"{', '.join(left)} takes it away and is outside the scope")
        body = [f'self.assertIsNone(re.search(r"{each["property"]}:\\s*(?:{values})\\s*;", STYLES))']
        add_test(work.workspace, "styles", each.criterion.text, body, STYLE_TESTS)
        work.claim(each, f"{removed} declarations that took the {each['property']} away are gone.")


def focus_outline(work: Work, asked: list[Asked]) -> None:
    """One rule for whatever has the focus, from the width, the colour and the offset that the criterion names."""
    for each in asked:
        if not any(
            re.search(rf"{each['colour']}:", work.workspace.read(path))
            for path in work.workspace.listed(".css")
        ):
            raise CannotDo(f"no style sheet defines {each['colour']}")
        rule = f"outline: {each['width']} solid var({each['colour']}); outline-offset: {each['offset']};"
        path = ensure_rule(work.workspace, ":focus-visible", rule)
        add_test(
            work.workspace, "styles", each.criterion.text, [f'self.assertIn("{rule}", STYLES)'], STYLE_TESTS
        )
        line = (
            f"{path} outlines :focus-visible with {each['width']} of {each['colour']}, {each['offset']} off."
        )
        work.claim(each, line, "the outline around the focused filter")


def find_colour(workspace: Workspace, name: str) -> tuple[str, re.Match[str]]:
    """The file and the light and dark value of a colour."""
    for path in workspace.listed(".css"):
        if match := re.search(rf"{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", workspace.read(path)):
            return path, match
    raise CannotDo(f"no style sheet defines {name} for light and dark")


def colour_contrast(work: Work, asked: list[Asked]) -> None:
    """Moves a colour's lightness, its hue kept, just as far as the contrast that is asked for."""
    for each in asked:
        side = 2 if each["mode"] == "dark" else 1
        path, match = find_colour(work.workspace, each["colour"])
        ground = find_colour(work.workspace, each["ground"])[1][side]
        before = contrast(match[side], ground)
        colour = reached(match[side], ground, float(each["ratio"]))
        if colour is None:
            raise CannotDo(f"no lightness of {each['colour']} reaches {each['ratio']}:1 on {ground}")
        pair = [match[1], match[2]]
        pair[side - 1] = colour
        new = f"{each['colour']}: light-dark({pair[0]}, {pair[1]})"
        work.workspace.write(path, work.workspace.read(path).replace(match[0], new))
        call = f'contrast("{each["mode"]}", "{each["colour"]}", "{each["ground"]}")'
        body = [f"self.assertGreaterEqual({call}, {each['ratio']})"]
        add_test(work.workspace, "contrast", each.criterion.text, body, COLOUR_TESTS)
        now = contrast(colour, ground)
        line = f"{each['colour']} went from {match[side]} ({before:.2f}:1) to {colour} ({now:.2f}:1) on {ground}."
        work.claim(each, line, f"whether the colours still belong together in {each['mode']} mode")


def no_colour_changes(work: Work, asked: list[Asked]) -> None:
    """Compares every colour of one mode with the last commit, and puts back what differs."""
    for each in asked:
        side, same = (1 if each["mode"] == "dark" else 0), 0
        pairs = re.compile(r"(--[\w-]+): light-dark\((#\w{6}), (#\w{6})\)")
        for path in work.workspace.changeable(".css"):
            before = {name: pair for name, *pair in pairs.findall(work.workspace.at_base(path))}
            text = work.workspace.read(path)
            for name, *pair in pairs.findall(text):
                kept = list(pair)
                kept[side] = before.get(name, pair)[side]
                text = text.replace(
                    f"{name}: light-dark({pair[0]}, {pair[1]})", f"{name}: light-dark({kept[0]}, {kept[1]})"
                )
                same += 1
            work.workspace.write(path, text)
        work.claim(
            each,
            f"All {same} colours of {each['mode']} mode are as they were, compared with the last commit.",
        )


SKILLS = [
    skill(r"every `(?P<property>[\w-]+): (?P<value>\w+)` is gone", no_outline_lost),
    skill(
        r"outline of (?P<width>\d+px) in the colour `(?P<colour>--[\w-]+)`, (?P<offset>\d+px) off",
        focus_outline,
    ),
    skill(
        r"[Ii]n (?P<mode>dark|light) mode `(?P<colour>--[\w-]+)` has a contrast of at least (?P<ratio>[\d.]+):1"
        r" on `(?P<ground>--[\w-]+)`",
        colour_contrast,
    ),
    skill(r"[Ii]n (?P<mode>dark|light) mode no colour changes", no_colour_changes),
]
