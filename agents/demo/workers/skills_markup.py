"""Work on templates: an empty state, labels, the first link of a page, a page for unknown addresses."""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Callable
from urllib.parse import urlencode

from skill import Asked, Work, skill
from skills_styles import ensure_rule
from workspace import CannotDo, Workspace, add_test

PAGE_TESTS = (
    '"""The pages, read as a browser gets them."""\n\nimport unittest\n\nfrom app.views import respond'
)
READ_PAGE = 'page = respond("{}").body.decode()'


def element(text: str, opening: str, start: int = 0) -> tuple[int, int]:
    """Where the first element whose opening tag has the pattern begins and ends, its indent and line end included."""
    found = re.compile(opening).search(text, start)
    if not found:
        raise CannotDo(f"no element {opening}")
    tag = found[0][1:].split()[0].rstrip(">")
    depth = 0
    for each in re.compile(rf"<(/?){tag}\b[^>]*>").finditer(text, found.start()):
        depth += -1 if each[1] else 1
        if depth == 0:
            begin = text.rfind("\n", 0, found.start()) + 1
            return begin, text.find("\n", each.end()) + 1
    raise CannotDo(f"{tag} is not closed")


def wrapped(text: str, opening: str, condition: str) -> str:
    """The text with that element inside an {% if %}; once is enough."""
    begin, end = element(text, opening)
    indent = re.match(r"[ \t]*", text[begin:])[0]  # type: ignore[index]
    test = f"{indent}{{% if {condition} %}}\n"
    if text[:begin].endswith(test):
        return text
    return f"{text[:begin]}{test}{text[begin:end]}{indent}{{% end %}}\n{text[end:]}"


def marked_block(text: str, condition: str, inside: str, after: int, mark: str) -> str:
    """The text with a block that is shown on a condition; a block with the same mark is replaced."""
    block = f"  {{% {condition} %}}\n{inside}  {{% end %}}\n"
    old = re.compile(rf"  \{{% if [^%]*%\}}\n  <\w+ class=\"{mark}\".*?\n  \{{% end %\}}\n", re.DOTALL)
    if old.search(text):
        return old.sub(lambda _: block, text, count=1)
    return text[:after] + block + text[after:]


class History:
    """The template that lists things, its loop and its counts, found by what the criteria call the things."""

    def __init__(self, workspace: Workspace, things: str) -> None:
        self.workspace = workspace
        self.path, match = workspace.first(rf"\{{% for (\w+) in {things} %\}}", ".html")
        self.rows, one = things, match[1]
        counted = re.search(rf"[\w.]+\.{one}_count", self.text)
        self.count = counted[0] if counted else things
        before = self.text[: match.start()]
        self.container = (
            before[before.rfind("<table") :].split(None, 1)[0][1:].rstrip(">") if "<table" in before else "ul"
        )

    @property
    def text(self) -> str:
        return self.workspace.read(self.path)

    def change(self, text: str) -> None:
        self.workspace.write(self.path, text)

    def opening(self) -> str:
        return rf"<{self.container}\b[^>]*>"

    def address(self, *, empty: bool) -> str:
        """The address of a customer with or without things, from the repository's own data."""
        view = self.path.rsplit("/", 1)[-1].removesuffix(".html")
        for path in self.workspace.listed(".json"):
            rows = json.loads(self.workspace.read(path))
            for row in rows if isinstance(rows, list) else []:
                if isinstance(row, dict) and self.rows in row and bool(row[self.rows]) is not empty:
                    return f"/{view}?" + urlencode({"customer": row["slug"]})
        raise CannotDo(f"no one in the data is {'without' if empty else 'with'} {self.rows}")

    def missing_status(self) -> str:
        """An address whose filter leaves nothing although there are things."""
        options = re.search(r'<select[^>]*name="(\w+)"', self.text)
        if not options:
            raise CannotDo("the view has no filter")
        return self.address(empty=False) + "&" + urlencode({options[1]: "none-such"})


def things_of(work: Work) -> str:
    """What the task's list lists: the criteria say "without invoices"; otherwise the only loop of a table."""
    for criterion in work.grant.criteria:
        if match := re.search(r"without (\w+)", criterion.text):
            return match[1]
    _, match = work.workspace.first(r"<table[\s\S]*?\{% for \w+ in (\w+) %\}", ".html")
    return match[1]


def empty_state(work: Work, asked: list[Asked]) -> None:
    """A block in place of the list, with the copy that the criterion quotes."""
    for each in asked:
        history = History(work.workspace, each["things"])
        history.change(wrapped(history.text, history.opening(), history.rows))
        fill_empty_block(history, each["heading"], each["sentence"], link_asked(work))
        sheet = ensure_rule(
            work.workspace,
            ".empty",
            "display: grid; justify-items: center; gap: 10px; padding: 44px 16px 36px; text-align: center;",
        )
        body = [READ_PAGE.format(history.address(empty=True)), f'self.assertIn("{each["heading"]}", page)']
        body += [f'self.assertIn("{each["sentence"]}", page)'] if each["sentence"] else []
        body += [f'self.assertNotIn("<{history.container}", page)']
        body += [
            f'self.assertNotIn("{each["heading"]}", respond("{history.address(empty=False)}").body.decode())'
        ]
        add_test(work.workspace, "respond", each.criterion.text, body, PAGE_TESTS)
        line = f"{history.path} says “{each['heading']}” in place of the {history.container}; {sheet} centres it."
        work.claim(each, line, f"the wording “{each['heading']}” at both widths")


def link_asked(work: Work) -> tuple[str, str] | None:
    """The link that a focus criterion wants in the empty state."""
    for criterion in work.grant.criteria:
        if match := FOCUS.pattern.search(criterion.text):
            return match["link"], match["to"]
    return None


def fill_empty_block(history: History, heading: str, sentence: str, link: tuple[str, str] | None) -> None:
    """Writes the block after the list, or writes it anew."""
    inside = ['  <div class="empty">', f"    <h3>{html.escape(heading)}</h3>"]
    inside += [f'    <p class="muted">{html.escape(sentence)}</p>'] if sentence else []
    if link:
        slug = "{{ customer.slug }}"
        inside.append(f'    <a class="button" href="{link[1]}?customer={slug}">{html.escape(link[0])}</a>')
    inside.append("  </div>\n")
    _, end = element(history.text, history.opening())
    after = history.text.find("{% end %}\n", end) + len("{% end %}\n")
    history.change(marked_block(history.text, f"if not {history.count}", "\n".join(inside), after, "empty"))


def focus_order(work: Work, asked: list[Asked]) -> None:
    """Takes what can have the focus out of the way of the empty state's link."""
    for each in asked:
        history = History(work.workspace, things_of(work))
        begin = history.text.rfind("<section", 0, re.search(history.opening(), history.text).start())  # type: ignore[union-attr]
        part = history.text[begin:]
        for opening in (r"<form\b[^>]*>", r"<a\b[^>]*class=\"button[^>]*href=\"/export[^>]*>"):
            if re.search(opening, part):
                part = wrapped(part, opening, history.count)
        history.change(history.text[:begin] + part)
        page = READ_PAGE.format(history.address(empty=True))
        body = [page, 'rest = page.split("</nav>", 1)[1].split("<a ", 1)[1]']
        body += [f'self.assertTrue(rest.split(">", 1)[1].startswith("{each["link"]}"))']
        body += ['self.assertNotIn("<select", page)', 'self.assertNotIn("<button", page)']
        add_test(work.workspace, "respond", each.criterion.text, body, PAGE_TESTS)
        line = f"Tab goes from the {each['after']} to “{each['link']}”: filter and export are there only with {history.rows}."
        work.claim(each, line, f"that Tab goes straight to “{each['link']}”")


def no_pagination(work: Work, asked: list[Asked]) -> None:
    """Shows the pagination only beside rows."""
    for each in asked:
        history = History(work.workspace, things_of(work))
        history.change(wrapped(history.text, r"<nav\b[^>]*[Pp]age[^>]*>", history.rows))
        address = history.address(empty=True)
        body = [f'self.assertNotIn("Pages of", respond("{address}").body.decode())']
        body += [f'self.assertIn("Pages of", respond("{history.address(empty=False)}").body.decode())']
        add_test(work.workspace, "respond", each.criterion.text, body, PAGE_TESTS)
        work.claim(each, f"{history.path} draws the pagination only when it has {history.rows} to show.")


def nothing_found(work: Work, asked: list[Asked]) -> None:
    """A sentence where only the filter leaves nothing."""
    for each in asked:
        history = History(work.workspace, things_of(work))
        history.change(wrapped(history.text, history.opening(), history.rows))
        inside = f"    {{% if not {history.rows} %}}\n    <p>{html.escape(each['sentence'])}</p>\n    {{% end %}}\n"
        inside = f'  <div class="nothing muted" role="status">\n{inside}  </div>\n'
        _, end = element(history.text, history.opening())
        after = history.text.find("{% end %}\n", end) + len("{% end %}\n")
        history.change(marked_block(history.text, f"if {history.count}", inside, after, "nothing muted"))
        body = [READ_PAGE.format(history.missing_status())]
        body += [f'self.assertIn("{each["sentence"]}", page)', 'self.assertIn("<select", page)']
        body += [
            f'self.assertNotIn("{each["sentence"]}", respond("{history.address(empty=True)}").body.decode())'
        ]
        add_test(work.workspace, "respond", each.criterion.text, body, PAGE_TESTS)
        line = f"A filter that leaves nothing keeps its place and says “{each['sentence']}”."
        work.claim(each, line, "a filter that matches nothing")


def literal(text: str) -> Callable[[re.Match[str]], str]:
    """A replacement for re.sub that is taken as it stands, backslashes too."""
    return lambda _: text


def label(work: Work, asked: list[Asked]) -> None:
    """Gives a field its visible label, and a hint that the field points at."""
    for each in asked:
        name = each["field"]
        path, match = work.workspace.first(rf'[ \t]*<input [^>]*name="{name}"[^>]*>', ".html")
        text, indent = work.workspace.read(path), match[0][: -len(match[0].lstrip())]
        tag = re.sub(r' (?:placeholder|id|aria-describedby)="[^"]*"', "", match[0].strip())
        extra = f' id="{name}"' + (f' aria-describedby="{name}-hint"' if each["hint"] else "")
        tag = tag.replace(f' name="{name}"', f'{extra} name="{name}"')
        lines = [f'<label for="{name}">{html.escape(each["label"])}</label>', tag]
        lines += (
            [f'<span class="hint" id="{name}-hint">{html.escape(each["hint"])}</span>']
            if each["hint"]
            else []
        )
        old = rf'(?:[ \t]*<label for="{name}">[^<]*</label>\n)?{re.escape(match[0])}(?:\n[ \t]*<span [^>]*id="{name}-hint">[^<]*</span>)?'
        work.workspace.write(path, re.sub(old, literal(indent + f"\n{indent}".join(lines)), text, count=1))
        page = "/" + path.rsplit("/", 1)[-1].removesuffix(".html")
        body = [
            READ_PAGE.format(page),
            f"self.assertIn('<label for=\"{name}\">{each['label']}</label>', page)",
        ]
        if each["hint"]:
            body += [
                f"self.assertIn('aria-describedby=\"{name}-hint\"', page)",
                f'self.assertIn("{each["hint"]}", page)',
            ]
        add_test(work.workspace, "respond", each.criterion.text, body, PAGE_TESTS)
        hint = f" and the hint “{each['hint']}”" if each["hint"] else ""
        work.claim(
            each,
            f"`{name}` in {path} has the label “{each['label']}”{hint}.",
            f"the wording of labels and hints in {path}",
        )


def first_link(work: Work, asked: list[Asked]) -> None:
    """Puts a link before everything else that can have the focus."""
    for each in asked:
        path, match = work.workspace.first(r"<body[^>]*>\n", ".html")
        text = work.workspace.read(path)
        if f'id="{each["to"]}"' not in text:
            raise CannotDo(f"{path} has nothing with the id {each['to']}")
        link = f'<a class="skip" href="#{each["to"]}">{html.escape(each["text"])}</a>\n'
        text = re.sub(r'<a class="skip"[^>]*>[^<]*</a>\n', "", text)
        work.workspace.write(path, text.replace(match[0], match[0] + link, 1))
        hidden = "position: absolute; left: 12px; top: -60px; padding: 10px 16px; background: var(--surface);"
        ensure_rule(work.workspace, ".skip", hidden)
        ensure_rule(work.workspace, ".skip:focus", "top: 10px;")
        body = ['body = respond("/").body.decode().split("<body>", 1)[1]']
        body += [f"self.assertTrue(body.strip().startswith('{link.strip()}'))"]
        add_test(work.workspace, "respond", each.criterion.text, body, PAGE_TESTS)
        work.claim(
            each,
            f"{path} begins with “{each['text']}”, seen when it has the focus.",
            f"Tab to “{each['text']}”",
        )


def page_call(function: ast.FunctionDef, template: str, heading: str, status: str) -> str:
    """A call of the view module's page function, its arguments by the names the function has for them."""
    known = {"template": f'"{template}"', "request": "request", "title": f'"{heading}"'}
    names = [argument.arg for argument in function.args.args]
    first = [known[name] for name in names if name in known]
    if "template" not in names or "status" not in names:
        raise CannotDo(f"{function.name} takes no template and status")
    return f"    return {function.name}({', '.join(first)}, status={status}, address=request.path)"


def missing_template(parts: dict[str, str]) -> str:
    """The page for unknown addresses, with the parts that the criteria name."""
    title = html.escape(parts["heading"])
    lines = [
        '<section class="card lost" aria-labelledby="lost-title">',
        f'  <h1 id="lost-title">{title}</h1>',
    ]
    lines += ["  <p><code>{{ address }}</code></p>"] if "escaped" in parts else []
    lines += [f"  <p>{html.escape(parts['sentence'])}</p>"] if "sentence" in parts else []
    if "link" in parts:
        lines += [f'  <p><a class="button" href="{parts["to"]}">{html.escape(parts["link"])}</a></p>']
    return "\n".join([*lines, "</section>", ""])


def unknown_address(work: Work, asked: list[Asked]) -> None:
    """A page for addresses that lead nowhere: its template, and the view that answers with it."""
    parts = {name: value for each in asked for name, value in each.match.groupdict().items() if value}
    heading = parts.get("heading")
    if not heading:
        raise CannotDo("no criterion says how the page is headed")
    functions = list(work.workspace.functions())
    page = next((node for _, node in functions if "template" in [a.arg for a in node.args.args]), None)
    path, view = next(((p, n) for p, n in functions if n.name == "missing"), ("", None))
    if page is None or view is None:
        raise CannotDo("no view answers for unknown addresses")
    folder = work.workspace.listed(".html")[0].rsplit("/", 1)[0]
    work.workspace.write(f"{folder}/missing.html", missing_template(parts))
    ensure_rule(
        work.workspace, ".lost", "display: grid; justify-items: start; gap: 16px; padding: 44px 32px;"
    )
    ensure_rule(work.workspace, ".lost code", "overflow-wrap: anywhere; color: var(--muted);")
    work.workspace.replace_lines(
        path, view.body[-1], page_call(page, "missing.html", heading, parts.get("status", "404"))
    )
    for each in asked:
        body = ['answer = respond("/nowhere/<b>")', "page = answer.body.decode()"]
        body += [f"self.assertEqual(answer.status, {each['status']})"] if each["status"] else []
        body += [
            f'self.assertIn("{each[name]}", page)' for name in ("heading", "sentence", "link") if each[name]
        ]
        body += ['self.assertIn("/nowhere/&lt;b&gt;", page)'] if each["escaped"] else []
        add_test(work.workspace, "respond", each.criterion.text, body, PAGE_TESTS)
        said = " and ".join(f"“{each[name]}”" for name in ("heading", "sentence", "link") if each[name])
        work.claim(
            each,
            f"{folder}/missing.html shows {said or 'the address, escaped'}.",
            "the page for unknown addresses",
        )


FOCUS = skill(
    r"[Ff]ocus order: after the (?P<after>[\w ]+?) comes the link “(?P<link>[^”]+)” to (?P<to>/[\w/-]*)",
    focus_order,
)

SKILLS = [
    skill(
        r"without (?P<things>\w+) sees? the heading “(?P<heading>[^”]+)”(?: and the sentence “(?P<sentence>[^”]+)”)?",
        empty_state,
    ),
    skill(r"pagination is left out", no_pagination),
    FOCUS,
    skill(r"only the filter leaves nothing.*the sentence “(?P<sentence>[^”]+)”", nothing_found),
    skill(
        r"field `(?P<field>\w+)` has the visible label “(?P<label>[^”]+)”(?: and the hint “(?P<hint>[^”]+)”)?",
        label,
    ),
    skill(
        r"first focusable element of each page is the link “(?P<text>[^”]+)” to #(?P<to>[\w-]+)", first_link
    ),
    skill(
        r"unknown address answers (?P<status>\d+) with a page headed “(?P<heading>[^”]+)”"
        r"|page (?:for it )?says “(?P<sentence>[^”]+)” and has the link “(?P<link>[^”]+)” to (?P<to>/[\w/-]*)"
        r"|address that was asked for stands in the page, (?P<escaped>escaped)",
        unknown_address,
    ),
]
