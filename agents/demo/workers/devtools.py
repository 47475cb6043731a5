"""Drives one page of a headless Chromium over its DevTools pipe, with the standard library alone.

The pipe, not the window size, sets the width: a window of headless Chromium is never laid out under 500 px,
whatever --window-size says. Protocol: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, Self

LONGEST_PAGE = 5000
ANSWER_WITHIN_SECONDS = 15.0
DESCRIBE_FOCUS = """(() => {
  const it = document.activeElement;
  if (!it || it === document.body) return "";
  const text = (it.getAttribute("aria-label") || it.labels?.[0]?.innerText || it.innerText || it.value || "").trim();
  const to = it.getAttribute("href");
  return it.tagName.toLowerCase() + " \\u201c" + text.replace(/\\s+/g, " ") + "\\u201d" + (to ? " to " + to : "");
})()"""


class BrowserFailed(RuntimeError):
    """Chromium did not start, or did not answer in time."""


class Browser:
    """One Chromium with one page; use it in a with statement so that it ends."""

    def __init__(self, binary: str) -> None:
        self.profile = tempfile.mkdtemp(prefix="demo-chromium-")
        self.received = b""
        self.last_id = 0
        to_read, self.to = os.pipe()
        self.answers, to_write = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(to_read), str(to_write), *self.command(binary)],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self.session = ""

    def command(self, binary: str) -> list[str]:
        """The command line; without its sandbox only for root, to whom Chromium refuses one."""
        return [
            binary,
            "--headless=new",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            "--remote-debugging-pipe",
            f"--user-data-dir={self.profile}",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--disable-extensions",
            "--disable-background-networking",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
            "--no-first-run",
        ]

    def __enter__(self) -> Self:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.to)  # Chromium ends when its pipe does
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends one command and waits for its answer. Raises BrowserFailed."""
        self.last_id += 1
        message: dict[str, Any] = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        try:
            os.write(self.to, json.dumps(message).encode() + b"\0")
        except BrokenPipeError as gone:
            raise BrowserFailed("Chromium has ended") from gone
        answer = self.read_until(lambda each: each.get("id") == message["id"])
        if "error" in answer:
            raise BrowserFailed(f"{method}: {answer['error'].get('message')}")
        return dict(answer["result"])

    def read_until(self, wanted: Any) -> dict[str, Any]:
        """The first message that is wanted; the others are dropped."""
        deadline = time.monotonic() + ANSWER_WITHIN_SECONDS
        while True:
            message, end, rest = self.received.partition(b"\0")
            if end:
                self.received = rest
                found: dict[str, Any] = json.loads(message)
                if wanted(found):
                    return found
                continue
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise BrowserFailed(f"Chromium did not answer within {ANSWER_WITHIN_SECONDS:.0f} s")
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise BrowserFailed("Chromium has ended")
            self.received += more

    def open(self, address: str, width: int, height: int = 800) -> None:
        """Loads the page in a viewport of that width, in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        reply = self.call("Page.navigate", url=address)
        if reply.get("errorText"):
            raise BrowserFailed(f"{address}: {reply['errorText']}")
        deadline = time.monotonic() + ANSWER_WITHIN_SECONDS
        while self.evaluate("document.readyState") != "complete":
            if time.monotonic() > deadline:
                raise BrowserFailed(f"{address} was not loaded within {ANSWER_WITHIN_SECONDS:.0f} s")
            time.sleep(0.02)
        self.call("Runtime.evaluate", expression="document.fonts.ready", awaitPromise=True)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def screenshot(self, width: int) -> bytes:
        """The whole page as PNG, exactly as wide as the viewport."""
        height = self.call("Page.getLayoutMetrics")["cssContentSize"]["height"]
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, LONGEST_PAGE), "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def tab(self) -> str:
        """Presses Tab and describes what has the focus now; empty when the focus left the page."""
        key = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)
        return str(self.evaluate(DESCRIBE_FOCUS) or "")


def become_chromium(read_end: int, write_end: int, command: list[str]) -> None:
    """Becomes Chromium, which reads commands from descriptor 3 and answers on 4. High copies first: 3 and 4 may be taken."""
    reading = fcntl.fcntl(read_end, fcntl.F_DUPFD, 10)
    writing = fcntl.fcntl(write_end, fcntl.F_DUPFD, 10)
    for end, place in ((reading, 3), (writing, 4)):
        os.dup2(end, place)
        os.close(end)
    for end in {read_end, write_end} - {3, 4}:
        os.close(end)
    os.execv(command[0], command)


if __name__ == "__main__":
    become_chromium(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
