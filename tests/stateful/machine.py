"""Hypothesis' side: a schedule is a list of steps, and after each of them model and tables agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.stateful import commands
from tests.stateful.abstract import FIRST, SECOND, Abstract, Row
from tests.stateful.commands import Draws
from tests.stateful.graph import begin
from tests.stateful.model import Command, step
from tests.stateful.operating import Sighting
from tests.stateful.reading import of_model, of_tables
from tests.stateful.real import Real, as_kept, said
from tests.stateful.wire import Wire, the_cut_one_has_ended
from tests.support import invariants

answered: Counter[str] = Counter()
"""How many steps of which kind have run in this process, and how each verb was answered."""

NUMBERS = st.integers(0, 2**32 - 1)
ASK_AGAIN = ("OUTCOME_UNKNOWN", "IN_PROGRESS")
"""What may be answered to a cut wire; the second, where the first try still has the key for a moment."""
KEPT_CALLS = 6
STEPS_A_CHECK = 25

_USUAL = "claiming*3 holding*2 handing_in*3 deciding*2 operating*2 preparing*2 governing sending*3 observing*3 settling*3 time*2 again*2 cut*2"
_OF_EFFECTS = "sending*6 observing*5 settling*6 claiming handing_in operating preparing time*3 again*2 cut"
_OF_GRAPHS = "claiming*4 holding handing_in*5 deciding*5 operating preparing*3 again cut"
_OF_OPERATORS = "claiming*3 holding*2 handing_in*2 deciding*2 operating*5 governing*2 time*4 again cut"


def _mood(words: str) -> tuple[str, ...]:
    pairs = (word.partition("*") for word in words.split())
    return tuple(kind for kind, _, times in pairs for _ in range(int(times or 1)))


MOODS = [_mood(words) for words in (_USUAL, _OF_EFFECTS, _OF_GRAPHS, _OF_EFFECTS, _OF_OPERATORS)]
"""What a schedule is mostly about; each kind as often as it is drawn."""


class Schedule(RuleBasedStateMachine):
    """A pool with two lineages, three agents and their people, on real commits."""

    model: Abstract
    real: Real
    wire: Wire

    @initialize(number=NUMBERS)
    def found(self, number: int) -> None:
        self.model = Abstract()
        draw = Draws(number, self.model)
        for lineage in (FIRST, SECOND):
            is_auto, is_unreviewed = draw.one_of([True, False]), draw.one_of([True, False, False])
            begin(self.model, Row(lineage, 1, draw.variant(), is_auto, is_unreviewed, "preparer"))
        self.real = Real(self.model.rows)
        self.calls: list[tuple[Command, Callable[[], Any], Callable[[], Any], Any]] = []
        self.seen: list[tuple[int, Sighting]] = []
        self.steps, self.mood = 0, draw.one_of(MOODS)
        self._agree()

    def _cut(self, command: Command, when: str) -> None:
        """The connection ends while COMMIT is on its way. What is not known forks the model in two."""
        if not _has_a_key(command):
            self._run(command)
            return
        call = self.real.prepare(command, f"cut-{answered.total()}")
        after, expected = step(self.model, command)
        self.wire.cut, before = when, self.wire.cuts
        answer = said(call())
        self.wire.cut = ""
        note(f"{command} with the wire cut {when} COMMIT -> {answer}")
        answered[f"cut {when} {self.wire.cuts - before} {answer}"] += 1
        assert answer in (expected, *ASK_AGAIN), f"{command} was answered {answer} instead of {expected}"
        if answer != expected:
            the_cut_one_has_ended()
            did_not_happen = of_tables(self.real.see()) == of_model(self.model, self.real.names)
            never_again = command.verb == "execute" and not did_not_happen
            assert said(call()) == ("MUST_RECONCILE" if never_again else expected)
        self.model = after
        self._agree()
        self._look()

    def _next(self, draw: Draws, kind: str) -> Command:
        """A command of this kind; where nobody holds a claim, mostly one that leads to one."""
        is_idle = all(row.attempt is None for row in self.model.rows)
        if kind not in commands.KINDS or (is_idle and draw.is_usual()):
            return commands.going_on(draw)
        for each in (kind, *(draw.one_of(list(commands.KINDS)) for _ in range(3))):
            command = commands.KINDS[each](draw)
            if command is not None:
                return command
        return commands.going_on(draw)

    def _run(self, command: Command) -> None:
        """One command on both sides."""
        key = f"call-{answered.total()}"
        call = self.real.prepare(command, key)
        after, expected = step(self.model, command)
        answer = call()
        answered[f"{command.verb}: {said(answer)}"] += 1
        note(f"{command} -> {said(answer)}")
        assert said(answer) == expected, f"{command} was answered {answer}; the model says {expected}"
        self.model = after
        self._agree()
        if _has_a_key(command) and not said(answer).isupper() and said(answer) != "Grants 0":
            other = self.real.prepare(command, key, "another body")
            self.calls = [*self.calls, (command, call, other, answer)][-KEPT_CALLS:]
        self._look()

    def _agree(self) -> None:
        seen = self.real.see()
        self.real.names.learn(self.model, seen)
        assert of_tables(seen) == of_model(self.model, self.real.names)

    def _look(self) -> None:
        """Operators read the pages of what has moved."""
        for number, row in enumerate(self.model.rows):
            sighting = Sighting(row.version, row.lease.token if row.lease else None)
            if (number, sighting) not in self.seen:
                self.seen.append((number, sighting))

    @rule(number=NUMBERS)
    def somebody_acts(self, number: int) -> None:
        """One step of the schedule: a call, a repeated call, a cut wire, or time."""
        draw = Draws(number ^ self.steps * 0x9E3779B1, self.model, self.seen)
        kind = draw.one_of(self.mood)
        if kind == "time":
            self._time_passes(draw)
        elif kind == "again" and self.calls:
            self._answer_was_lost(draw)
        elif kind == "cut":
            self._cut(self._next(draw, draw.one_of(list(commands.KINDS))), draw.one_of(["before", "after"]))
        else:
            self._run(self._next(draw, kind))
        self.steps += 1
        if self.steps % STEPS_A_CHECK == 0:
            self._check()

    def _time_passes(self, draw: Draws) -> None:
        """A lease, a window, a permit or an approval runs out; an agent is switched on again."""
        model = self.model
        leased = [number for number, row in enumerate(model.rows) if row.lease is not None]
        if leased:
            self._lease_ends(draw.one_of(leased), draw.mostly(False, True))
        live = [number for number, permit in enumerate(model.permits) if permit.age < 2]
        if live and draw.one_of([True, False]):
            permit = draw.one_of(live)
            self.real.age_permit(permit)
            model.permits[permit].age += 1
        for number, effect in enumerate(model.effects):
            if effect.approvals and effect.approvals[-1].state == "GRANTED" and draw.mostly(False, True):
                self.real.run_out(number)
                effect.approvals[-1].has_run_out = True
        for runner in sorted(model.disabled):
            self.real.switch_on(runner)
        model.disabled.clear()
        answered["time passes"] += 1
        self._agree()

    def _lease_ends(self, row: int, is_window: bool) -> None:
        lease = self.model.rows[row].lease
        if lease is None:
            return
        if is_window:
            self.real.end_window(row)
            lease.is_at_its_window = True
            return
        self.real.expire_lease(row)
        lease.is_expired, lease.token = True, self.model.next_token()

    def _answer_was_lost(self, draw: Draws) -> None:
        """A caller who never got an answer asks again with the same key, however late."""
        command, call, other, first = draw.one_of(self.calls)
        answer = call()
        note(f"again: {command} -> {said(answer)}")
        answered[f"again {command.verb}: {said(answer)}"] += 1
        if command.verb == "execute":
            assert said(answer) == "MUST_RECONCILE"
        else:
            assert as_kept(answer) == as_kept(first), f"{command}: first {first}, and then {answer}"
        assert said(other()) == "KEY_REUSED"
        self._agree()

    def teardown(self) -> None:
        if hasattr(self, "real"):
            self._check()

    def _check(self) -> None:
        """What the tables alone must hold, histories from their beginning included."""
        for number in range(len(self.model.rows)):
            invariants.check(self.real.row_id(number))


def _has_a_key(command: Command) -> bool:
    """The server's own sweeps carry no key."""
    return command.verb not in ("lapse", "settle", "expire_permit", "disable_agent")
