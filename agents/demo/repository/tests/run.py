"""Runs the tests and writes build/junit.xml: python3 tests/run.py."""

from __future__ import annotations

import sys
import time
import unittest
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True


class Report(unittest.TextTestResult):
    """Remembers how each test ended and how long it took."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.cases: list[ElementTree.Element] = []
        self.started = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.started = time.perf_counter()

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        module, name = type(test).__module__, test._testMethodName
        seconds = f"{time.perf_counter() - self.started:.4f}"
        case = ElementTree.Element(
            "testcase", classname=f"{module}.{type(test).__name__}", name=name, time=seconds
        )
        for tag, found in (
            ("failure", self.failures),
            ("error", self.errors),
            ("skipped", self.expectedFailures),
        ):
            for failed, text in found:
                if failed is test:
                    ElementTree.SubElement(case, tag, message=text.strip().splitlines()[-1]).text = text
        if test in self.unexpectedSuccesses:
            ElementTree.SubElement(case, "failure", message="passed, although marked expectedFailure")
        self.cases.append(case)


def write_report(result: Report, seconds: float) -> None:
    """build/junit.xml, in the form that JUnit readers know."""
    suite = ElementTree.Element(
        "testsuite",
        name="tidewater",
        tests=str(result.testsRun),
        failures=str(len(result.failures) + len(result.unexpectedSuccesses)),
        errors=str(len(result.errors)),
        skipped=str(len(result.expectedFailures)),
        time=f"{seconds:.3f}",
    )
    suite.extend(result.cases)
    target = ROOT / "build" / "junit.xml"
    target.parent.mkdir(exist_ok=True)
    ElementTree.ElementTree(suite).write(target, encoding="utf-8", xml_declaration=True)


def main() -> int:
    """0 when every test passed."""
    tests = unittest.defaultTestLoader.discover(str(ROOT / "tests"), top_level_dir=str(ROOT))
    began = time.perf_counter()
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Report).run(tests)
    assert isinstance(result, Report)
    write_report(result, time.perf_counter() - began)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
