"""A headless Chromium, spoken to over a pipe in the DevTools protocol: no driver, no port, no library."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
)
# Begins a program with two open files as its files 3 and 4, where the browser looks for them.
START = """import fcntl, os, sys
ends = [fcntl.fcntl(int(file), fcntl.F_DUPFD, 10) for file in sys.argv[1:3]]
os.dup2(ends[0], 3), os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])"""
# What the browser names the keys that are pressed here.
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "ArrowDown": (40, "")}


class Page:
    """One page of a running browser."""

    def __init__(self, to_browser, from_browser):
        self.to_browser, self.from_browser, self.number, self.session = to_browser, from_browser, 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **told):
        """The result of one command; what the browser reports meanwhile is kept in `events`."""
        self.number += 1
        session = {"sessionId": self.session} if self.session else {}
        message = {"id": self.number, "method": method, "params": told, **session}
        self.to_browser.write(json.dumps(message).encode() + b"\0")
        self.to_browser.flush()
        while (heard := self._hear()).get("id") != self.number:
            self.events.append(heard)
        assert "error" not in heard, heard
        return heard["result"]

    def open(self, url):
        """Load a page to its end."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._hear())

    def run(self, expression):
        """The value of some JavaScript."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def show(self, width, scheme="light"):
        """Make the window so many CSS pixels wide, and prefer a colour scheme."""
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key):
        code, text = KEYS[key]
        told = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **told)
        self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    def write(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path, **told):
        Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **told)["data"]))

    def complaints(self):
        """Everything that the console, the network and exceptions have reported since the page was opened."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Network.loadingFailed")
        return [event["params"] for event in self.events if event.get("method") in kinds]

    def requests(self):
        """Addresses of everything that was asked for, but for what stands in the page itself."""
        asked = [event["params"]["request"]["url"] for event in self.events
                 if event.get("method") == "Network.requestWillBeSent"]  # fmt: skip
        return [url for url in asked if not url.startswith("data:")]

    def _hear(self):
        heard = bytearray()
        while (byte := self.from_browser.read(1)) != b"\0":
            assert byte, "the browser has ended"
            heard += byte
        return json.loads(heard)


@contextmanager
def page(profile):
    """A `Page` of a browser of its own, whose profile is the folder `profile`."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    command = [sys.executable, "-c", START, str(their_in), str(their_out)]
    command += [PROGRAM, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with open(our_out, "wb") as to_browser, open(our_in, "rb") as from_browser:
        browser = subprocess.Popen(command, pass_fds=(their_in, their_out), start_new_session=True, **quiet)
        os.close(their_in), os.close(their_out)
        try:
            yield Page(to_browser, from_browser)
        finally:
            os.killpg(browser.pid, signal.SIGKILL)  # with the processes that it has started
            browser.wait()
