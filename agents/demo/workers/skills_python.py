"""Work on Python sources: formats learned from examples, small repairs found by search, the CSV export."""

from __future__ import annotations

import ast
import copy
import itertools
import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from skill import Asked, Work, skill
from workspace import CannotDo, Workspace, add_test, insert_import

MOST_CANDIDATES = 20_000


def function_with(workspace: Workspace, *arguments: str) -> tuple[str, ast.FunctionDef]:
    """The first function in scope that answers a text and takes arguments of these names. Raises CannotDo."""
    for path, node in workspace.functions():
        names = [argument.arg for argument in node.args.args]
        if all(name in names for name in arguments) and node.returns and ast.unparse(node.returns) == "str":
            return path, node
    raise CannotDo(f"no function in scope takes {' and '.join(arguments)}")


def new_body(workspace: Workspace, path: str, node: ast.FunctionDef, lines: list[str]) -> None:
    """Puts a new body into a function; its signature and docstring stay."""
    kept = node.body[0].end_lineno if ast.get_docstring(node) else node.body[0].lineno - 1
    source = workspace.read(path).splitlines()[node.lineno - 1 : kept]
    workspace.replace_lines(
        path, node, "\n".join([*source, *(f"    {line}" if line else "" for line in lines)])
    )


def learned_amount(cents: int, text: str) -> dict[str, Any]:
    """How an amount is written, learned from one example: sign, symbol, separators, decimals. Raises CannotDo."""
    match = re.fullmatch(
        r"(?P<minus>[-−]?)(?P<before>[^\d−-]*)(?P<digits>\d[\d.,'  ]*\d|\d)(?P<after>\D*)", text
    )
    if not match or re.sub(r"\D", "", match["digits"]).lstrip("0") != str(abs(cents)).lstrip("0"):
        raise CannotDo(f"“{text}” does not have the digits of {cents}")
    mark = re.search(r"[.,](?=\d{1,2}$)", match["digits"])
    whole = match["digits"][: mark.start()] if mark else match["digits"]
    between = re.search(r"\D", whole)
    return {
        "before": match["before"],
        "after": match["after"],
        "decimals": len(match["digits"]) - mark.end() if mark else 0,
        "mark": mark[0] if mark else None,
        "thousands": between[0] if between else None,
        "minus": match["minus"] or None,
    }


def one_of(examples: list[dict[str, Any]], name: str, otherwise: str) -> str:
    """What all examples that show it agree on. Raises CannotDo where they differ."""
    seen = {each[name] for each in examples if each[name] is not None}
    if len(seen) > 1:
        raise CannotDo(f"the examples differ in their {name}: {', '.join(sorted(seen))}")
    return str(seen.pop()) if seen else otherwise


def amount_lines(cents: str, examples: list[dict[str, Any]]) -> list[str]:
    """The body of a function that writes amounts as all the examples do."""
    thousands, mark = one_of(examples, "thousands", ","), one_of(examples, "mark", ".")
    minus, most = one_of(examples, "minus", "-"), max(each["decimals"] for each in examples)
    number = f'f"{{whole:,}}".replace(",", "{thousands}")' if thousands != "," else 'f"{whole:,}"'
    return [
        f'before, after, decimals = CURRENCIES.get(currency, ("", f" {{currency}}", {most}))',
        f"whole, rest = divmod(abs({cents}), 10**decimals)",
        f"text = {number}",
        "if decimals:",
        f'    text += f"{mark}{{rest:0{{decimals}}d}}"',
        f"return f\"{{'{minus}' if {cents} < 0 else ''}}{{before}}{{text}}{{after}}\"",
    ]


def amounts(work: Work, asked: list[Asked]) -> None:
    """Writes the function that formats amounts so that it gives every example of the criteria."""
    path, node = function_with(work.workspace, "currency")
    examples = [learned_amount(int(each["amount"]), each["text"]) for each in asked]
    new_body(work.workspace, path, node, amount_lines(node.args.args[0].arg, examples))
    rows = {each["currency"]: example for each, example in zip(asked, examples, strict=True)}
    table = ["# currency: what stands before, what stands after, how many decimals", "CURRENCIES = {"]
    table += [
        f'    "{name}": ("{e["before"]}", "{e["after"]}", {e["decimals"]}),' for name, e in rows.items()
    ]
    old = re.compile(r"# currency: what stands[^\n]*\nCURRENCIES = \{.*?\n\}\n\n\n", re.DOTALL)
    text = old.sub("", work.workspace.read(path))
    first = text.index(f"def {node.name}(")
    work.workspace.write(path, text[:first] + "\n".join([*table, "}"]) + "\n\n\n" + text[first:])
    for each in asked:
        call = f'{node.name}({each["amount"]}, "{each["currency"]}")'
        add_test(
            work.workspace, node.name, each.criterion.text, [f'self.assertEqual({call}, "{each["text"]}")']
        )
        work.claim(each, f"`{call}` gives “{each['text']}”.", "sign, symbol and separators of every example")


def date_codes(iso: str, text: str) -> set[str]:
    """Every f-string inside that writes that date so; 31 may be a day with or without its leading zero."""
    day = date.fromisoformat(iso)
    forms = ("{day.day}", "{day:%d}", "{day:%m}", "{day:%Y}", "{day:%B}", "{day:%b}", "{day:%A}", "{day:%a}")
    written = {form: str(day.day) if form == "{day.day}" else day.strftime(form[5:-1]) for form in forms}
    codes = {""}
    for part in re.findall(r"[A-Za-z]+|\d+|[^A-Za-z\d]+", text):
        fitting = [form for form in forms if written[form] == part] if part.isalnum() else [part]
        if not fitting:
            raise CannotDo(f"“{part}” of “{text}” is no part of {iso}")
        codes = {code + form for code in codes for form in fitting}
    return codes


def dates(work: Work, asked: list[Asked]) -> None:
    """Learns from the examples how dates are written; all must agree."""
    codes = set.intersection(*(date_codes(each["iso"], each["text"]) for each in asked))
    if not codes:
        raise CannotDo(f"no one way of writing gives {', '.join(each['text'] for each in asked)}")
    path, node = function_with(work.workspace, "iso")
    new_body(work.workspace, path, node, ["day = date.fromisoformat(iso)", f'return f"{max(codes)}"'])
    for each in asked:
        body = [f'self.assertEqual({node.name}("{each["iso"]}"), "{each["text"]}")']
        add_test(work.workspace, node.name, each.criterion.text, body)
        work.claim(
            each,
            f"`{node.name}` writes {each['iso']} as “{each['text']}”.",
            f"how dates like “{asked[0]['text']}” read in the history",
        )


def time_elements(work: Work, asked: list[Asked]) -> None:
    """Puts each date of the templates into a time element."""
    shown = re.compile(r"(<time [^>]*>)?\{\{ ([\w.]+)\|date \}\}")

    def timed(match: re.Match[str]) -> str:
        return match[0] if match[1] else f'<time datetime="{{{{ {match[2]} }}}}">{match[0]}</time>'

    for each in asked:
        paths = [
            path for path in work.workspace.changeable(".html") if shown.search(work.workspace.read(path))
        ]
        for path in paths:
            work.workspace.write(path, shown.sub(timed, work.workspace.read(path)))
        count = sum(work.workspace.read(path).count("</time>") for path in paths)
        body = ["for path in TEMPLATES.iterdir():", "    text = path.read_text()"]
        body += ['    self.assertEqual(text.count("|date }}"), text.count("</time>"), path.name)']
        imports = '"""Dates in the templates."""\n\nimport unittest\n\nfrom app.templating import TEMPLATES'
        add_test(work.workspace, "TEMPLATES", each.criterion.text, body, imports)
        work.claim(each, f"{count} dates in {', '.join(paths)} stand in a time element with their ISO date.")


def variants(node: ast.expr) -> list[ast.expr]:
    """What may stand in place of one small expression: one more, one less, not under one or nought."""
    text = ast.unparse(node)
    return [
        ast.parse(each.format(text), mode="eval").body
        for each in ("{} - 1", "{} + 1", "max({} - 1, 0)", "max({}, 1)", "max({}, 0)")
    ]


def repairs(function: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """The function with one, then two, of its names and numbers in its arithmetic replaced."""
    places = [
        (holder, name)
        for holder in ast.walk(function)
        if isinstance(holder, ast.BinOp | ast.Compare | ast.Return)
        for name, value in ast.iter_fields(holder)
        if isinstance(value, ast.Name | ast.Constant | ast.BinOp)
    ]
    tried = 0
    for count in (1, 2):
        for chosen in itertools.combinations(range(len(places)), count):
            options = [variants(getattr(*places[each])) for each in chosen]
            for picks in itertools.product(*options):
                tried += 1
                if tried > MOST_CANDIDATES:
                    return
                yield with_picks(function, places, dict(zip(chosen, picks, strict=True)))


def with_picks(
    function: ast.FunctionDef, places: Sequence[tuple[ast.AST, str]], picks: dict[int, ast.expr]
) -> ast.FunctionDef:
    """A copy of the function with the picked expressions in their places."""
    before = {each: getattr(*places[each]) for each in picks}
    for each, pick in picks.items():
        setattr(*places[each], pick)
    changed = copy.deepcopy(function)
    for each, value in before.items():
        setattr(*places[each], value)
    return changed


def holds(function: ast.FunctionDef, examples: list[tuple[str, str]]) -> bool:
    """Whether a function of plain numbers gives every example."""
    lonely = copy.deepcopy(function)
    lonely.returns, lonely.decorator_list = None, []
    for argument in lonely.args.args:
        argument.annotation = None
    names: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(ast.Module([lonely], [])), "candidate", "exec"), names)
    try:
        return all(eval(call, names) == ast.literal_eval(value) for call, value in examples)
    except (ArithmeticError, TypeError, ValueError):
        return False


def repair(work: Work, asked: list[Asked]) -> None:
    """Searches the smallest change of a function that makes every example of the criteria and of the tests true."""
    for name in dict.fromkeys(each["function"] for each in asked):
        path, node = next(((p, n) for p, n in work.workspace.functions() if n.name == name), ("", None))
        if node is None:
            raise CannotDo(f"no function in scope is called {name}")
        here = [each for each in asked if each["function"] == name]
        examples = [(each["call"], each["value"]) for each in here] + tested_examples(work.workspace, name)
        found = (
            node
            if holds(node, examples)
            else next((each for each in repairs(node) if holds(each, examples)), None)
        )
        if found is None:
            raise CannotDo(f"no small change of {name} makes all {len(examples)} examples true")
        if found is not node:
            work.workspace.replace_lines(path, node, ast.unparse(ast.fix_missing_locations(found)))
            restore_docstring(work.workspace, path, node)
        for each in here:
            add_test(
                work.workspace,
                name,
                each.criterion.text,
                [f"self.assertEqual({each['call']}, {each['value']})"],
            )
            line = f"`{each['call']}` is {each['value']}; now `{ast.unparse(found.body[-1])}`."
            work.claim(each, line, f"`{ast.unparse(found.body[-1])}` against your own examples")


def restore_docstring(workspace: Workspace, path: str, before: ast.FunctionDef) -> None:
    """Keeps a one-line docstring in double quotes, which unparsing does not."""
    if text := ast.get_docstring(before):
        workspace.write(path, workspace.read(path).replace(f"'{text}'", f'"{text}"'))


def tested_examples(workspace: Workspace, name: str) -> list[tuple[str, str]]:
    """The examples of a function that the tests already have, the expected failures too."""
    pattern = re.compile(rf"assertEqual\(({name}\([-\d, ]*\)), (-?\d+)\)")
    tests = (path for path in workspace.listed(".py") if path.rsplit("/", 1)[-1].startswith("test_"))
    return [(match[1], match[2]) for path in tests for match in pattern.finditer(workspace.read(path))]


def expect_success(work: Work, asked: list[Asked]) -> None:
    """Takes the expectedFailure mark off a test."""
    for each in asked:
        path, _ = work.workspace.first(rf"def {each['test']}\(", ".py")
        marked = rf"[ \t]*@unittest\.expectedFailure[^\n]*\n(?=[ \t]*def {each['test']}\()"
        work.workspace.write(path, re.sub(marked, "", work.workspace.read(path)))
        work.claim(each, f"{each['test']} in {path} has to pass now.")


def customer_lookup(workspace: Workspace) -> str:
    """The name of the function that finds a customer, as the store has it now."""
    for path in workspace.listed(".py"):
        if match := re.search(r"def (\w+)\(slug: str\) -> Customer \| None", workspace.read(path)):
            return match[1]
    raise CannotDo("no function finds a customer")


def csv_header(work: Work, asked: list[Asked]) -> None:
    """Writes the header before the rows; it must have as many columns as they."""
    for each in asked:
        columns = each["header"].split(",")
        path, match = work.workspace.first(r"(?m)^([ \t]*)(\w+) = csv\.writer\([^\n]*\n", ".py")
        text = work.workspace.read(path)
        row = re.search(rf"{match[2]}\.writerow\(\[(\w+\.[^\]]*)\]\)", text)
        if row and len(row[1].split(", ")) != len(columns):
            raise CannotDo(f"the rows have {len(row[1].split(', '))} columns, the header {len(columns)}")
        names = ", ".join(f'"{column}"' for column in columns)
        text = re.sub(rf"[ \t]*{match[2]}\.writerow\(\[\"[^\n]*\n", "", text)
        line = f"{match[1]}{match[2]}.writerow([{names}])\n"
        work.workspace.write(path, text.replace(match[0], match[0] + line, 1))
        function = next(
            n for p, n in work.workspace.functions() if p == path and "csv.writer" in ast.unparse(n)
        )
        call = f'{function.name}({customer_lookup(work.workspace)}("halyard"))'
        body = [f'self.assertEqual({call}.splitlines()[0], "{each["header"]}")']
        add_test(work.workspace, function.name, each.criterion.text, body)
        work.claim(
            each,
            f"{path} writes “{each['header']}” before the rows.",
            "the order of the header's columns against the rows",
        )


def csv_file_name(work: Work, asked: list[Asked]) -> None:
    """Names the download; {customer} stands for the customer's name in addresses."""
    for each in asked:
        path, match = work.workspace.first(r"f?[\"']attachment; filename=([^\n]*)[\"'](?=\}|,|\n)", ".py")
        text = work.workspace.read(path)
        holder = re.search(r"(\w+\.customer)\.slug|(\w+\.customer)\b", text)
        name = each["file"].replace(
            "{customer}", f"{{{(holder[1] or holder[2]) if holder else 'customer'}.slug}}"
        )
        work.workspace.write(path, text.replace(match[0], f"f'attachment; filename=\"{name}\"'", 1))
        wanted = each["file"].replace("{customer}", "kobo")
        body = ['header = respond("/export.csv?customer=kobo").headers["Content-Disposition"]']
        body += [f"self.assertEqual(header, 'attachment; filename=\"{wanted}\"')"]
        add_test(work.workspace, "respond", each.criterion.text, body)
        work.claim(
            each,
            f"{path} names the download “{each['file']}”: {wanted} for kobo.",
            "the name of the downloaded file",
        )


def csv_amounts(work: Work, asked: list[Asked]) -> None:
    """Writes the amounts of the export as decimal numbers, with the decimals that each example's currency has."""
    decimals = {
        each["currency"]: learned_amount(int(each["cents"]), each["text"])["decimals"] for each in asked
    }
    path, match = work.workspace.first(
        r"(?m)^[ \t]*amount = Decimal\((\w+)\.(\w+)\)|(?<=, )(\w+)\.(\w*cents)(?=\]\))", ".py"
    )
    row, cents = match[1] or match[3], match[2] or match[4]
    code = f"Decimal({row}.{cents}).scaleb(-DECIMALS.get({row}.currency, 2))"
    table = "DECIMALS = {" + ", ".join(f'"{name}": {count}' for name, count in decimals.items()) + "}\n"
    text = re.sub(r"DECIMALS = \{[^}]*\}\n\n\n", "", work.workspace.read(path))
    if not match[1]:
        text = re.sub(
            rf"([ \t]*)(.*, ){row}\.{cents}(\]\))", rf"\1amount = {code}\n\1\2amount\3", text, count=1
        )
    text = insert_import(text, "from decimal import Decimal")
    first = text.index("def ")
    work.workspace.write(path, f"{text[:first]}{table}\n\n{text[first:]}")
    lookup = customer_lookup(work.workspace)
    function = next(n for p, n in work.workspace.functions() if p == path and "csv.writer" in ast.unparse(n))
    beginning = '"""Amounts in the export."""\n\nimport unittest\nfrom dataclasses import replace\n\n'
    beginning += f"from app.export import {function.name}\nfrom app.store import Line, {lookup}"
    for each in asked:
        line = f'lines=(Line("", 1, {each["cents"]}),)'
        body = [f'customer = {lookup}("kobo")']
        body += [f'invoice = replace(customer.invoices[0], currency="{each["currency"]}", {line})']
        body += [f"text = {function.name}(replace(customer, invoices=(invoice,)))"]
        body += [f'self.assertTrue(text.endswith(",{each["text"]}\\n"), text)']
        add_test(work.workspace, "Line", each.criterion.text, body, beginning)
        work.claim(
            each,
            f"{each['cents']} in {each['currency']} are “{each['text']}”, by `{code}`.",
            "the amounts of both files",
        )


SKILLS = [
    skill(r"^(?P<amount>-?\d+)(?: cents)? in (?P<currency>[A-Z]{3})\b[^“]*“(?P<text>[^”]+)”", amounts),
    skill(r"^(?P<iso>\d{4}-\d\d-\d\d) reads “(?P<text>[^”]+)”", dates),
    skill(r"[Dd]ate in the templates stands in a time element", time_elements),
    skill(r"`(?P<call>(?P<function>\w+)\([-\d, ]*\))` is (?P<value>-?\d+)", repair),
    skill(r"test `(?P<test>test_\w+)` counts", expect_success),
    skill(r"export begins with the line “(?P<header>[^”]+)”", csv_header),
    skill(r"downloaded file is named “(?P<file>[^”]+)”", csv_file_name),
    skill(r"(?P<cents>\d+) in (?P<currency>[A-Z]{3}) are written as “(?P<text>[^”]+)”", csv_amounts),
]
