#!/usr/bin/env python3
"""Tests the page in Debian's chromium, driven over WebDriver by the standard library alone.

    python3 dashboards/tests/browser.py http://127.0.0.1:8600/ [--program TAILBACK --store FILE] [--screenshots FOLDER]
        [--readme FOLDER]

The page may be that of `cargo run -p dashboards --example sample_page` or of `tailback demo`; it needs live data
with at least one job, and waits for contention. `--program` and `--store` name the program and the store of the page, for
the checks of an outage. `--readme` writes the three pictures of README and docs, `--screenshots`
one of every view in both colour schemes and sizes. It prints `N passed, M failed` last; the exit
status is nonzero after a failure. Nothing is timed: TIMEOUT_S only ends a test that hangs.
"""

import argparse
import base64
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.parse import urlparse

import axe
from outage import OutageChecks, Skipped, path_or_none
from past import PastChecks
from sessions import SessionChecks
from tables import PartChecks
from views import DRAWN_WHOLE, ViewChecks

SIZES = {"desk": (1440, 900), "laptop": (1280, 800), "phone": (390, 844)}
# A page of a phone is at most this many screens high.
SCREENS_MAX = 8
KEYS = {"left": "\ue012", "right": "\ue014", "down": "\ue015", "enter": "\ue007", "tab": "\ue004", "end": "\ue010"}
# The demo starts a new scenario within two minutes; the rest is for slow machines.
TIMEOUT_S = 300
# Minimum length in seconds of the episode in the picture for the docs.
LONG_EPISODE_S = 60
PICTURE_BYTES_MAX = 200_000
# Chromium ends all requests when an interface of the machine comes or goes. Suites beside this one make networks of their own.
NETWORK_CHANGED = "ERR_NETWORK_CHANGED"
OPENED_MAX = 10


class Browser:
    """One chromium behind one chromedriver."""

    def __init__(self):
        driver = shutil.which("chromedriver")
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if driver is None or chromium is None:
            sys.exit("browser.py needs chromium and chromium-driver (Debian packages of these names)")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.process = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        self.wait_for(lambda: self.call("GET", "/status")["ready"])
        options = {"binary": chromium, "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                                                "--force-color-profile=srgb", "--disable-dev-shm-usage"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += "/session/" + session["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as why:
            raise AssertionError(json.load(why)["value"]["message"]) from why

    @staticmethod
    def wait_for(condition, timeout_s=TIMEOUT_S):
        """Returns the first true result of `condition`; an exception counts as "not yet"."""
        until = time.monotonic() + timeout_s
        last = None
        while time.monotonic() < until:
            try:
                answer = condition()
                if answer:
                    return answer
            except (OSError, AssertionError) as why:
                last = why
            time.sleep(0.1)
        raise AssertionError(f"not within {timeout_s} s" + (f": {last}" if last else ""))

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments):
        return self.wait_for(lambda: self.run("return " + script, *arguments))

    def resize(self, width, height, phone=False):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)

    def devtools(self, command, parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def keys(self, *names):
        actions = [{"type": kind, "value": KEYS[name]} for name in names for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(10)


class Checks(ViewChecks, PastChecks, PartChecks, SessionChecks, OutageChecks):
    """Each method whose name starts with `check_` is one check: first those of the views, then those of the page as a whole."""

    def __init__(self, browser, options):
        self.browser, self.url, self.folder, self.readme = browser, options.url.rstrip("/"), options.screenshots, options.readme
        self.program, self.store = options.program, options.store
        self.hosts, self.errors, self.network_changed = set(), [], False

    def skip(self, what, why):
        print(f"browser: skipped: {what}: {why}", flush=True)

    def open(self, view):
        """Opens a view, again where the page was not loaded as a whole because the machine's network changed."""
        for _ in range(OPENED_MAX):
            self.browser.call("POST", "/url", {"url": "about:blank"})
            self.collect_logs()
            self.network_changed = False
            self.browser.call("POST", "/url", {"url": f"{self.url}/#/{view}"})
            self.collect_logs()
            if not self.network_changed:
                return

    def open_and_wait(self, view):
        """Opens a view and waits until its first response is drawn, charts and heat maps included."""
        self.open(view)
        self.browser.wait(DRAWN_WHOLE)

    def api(self, path):
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}", timeout=TIMEOUT_S) as answer:
            return json.load(answer)

    def collect_logs(self):
        errors = [f"{e['level']}: {e['message']}" for e in self.browser.log("browser") if e["level"] == "SEVERE"]
        self.network_changed |= any(NETWORK_CHANGED in error for error in errors)
        self.errors += [error for error in errors if NETWORK_CHANGED not in error]
        for entry in self.browser.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                target = urlparse(message["params"]["request"]["url"])
                if target.scheme in ("http", "https", "ws", "wss"):
                    self.hosts.add(target.netloc)

    def contended(self):
        """Ids of open episodes if they are of two metrics, or of the only one; else a false value."""
        known = set(self.api("now?limit=50000")["series"]["metric"])
        episodes = self.api("episodes?state=open&limit=1000")["episodes"]
        return len({e["metric"] for e in episodes}) >= min(2, len(known)) and [e["id"] for e in episodes]

    def check_the_scheme_is_remembered(self):
        self.open("now")
        scheme = "return document.documentElement.dataset.scheme"
        before = self.browser.run(scheme)
        self.browser.run("document.querySelector('#theme').click()")
        after = self.browser.run(scheme)
        assert before != after
        self.open("now")
        assert self.browser.run(scheme) == after
        self.browser.run("document.querySelector('#theme').click()")

    def check_pictures_for_the_readme(self):
        if self.readme is None:
            return
        self.readme.mkdir(parents=True, exist_ok=True)
        self.browser.resize(*SIZES["laptop"])
        self.browser.devtools("Emulation.setEmulatedMedia", {"features": [LIGHT]})
        self.open_and_wait("now")
        # Contention may end while a picture is taken: the picture counts if contention was there before and after.
        self.browser.wait_for(lambda: self.picture_of_now(self.readme / "now.png"))
        long = self.browser.wait_for(self.long_episode)
        self.open_and_wait(f"episode/{long}")
        self.picture_for_readme(self.readme / "episode.png")
        self.open_and_wait("fabric")
        self.browser.wait_for(lambda: self.picture_of_fabric(self.readme / "fabric.png"))

    def picture_of_now(self, path):
        """Takes the picture while two metrics have contended series, or the only one; returns whether it shows that."""
        contended = "return [...document.querySelectorAll('.heat h3 span')].filter((n) => !/ 0 of /.test(n.textContent)).length"
        wanted = min(2, self.browser.run("return document.querySelectorAll('.heat').length"))
        if not wanted or self.browser.run(contended) < wanted:
            return False
        self.picture_for_readme(path)
        return self.browser.run(contended) >= wanted

    def picture_of_fabric(self, path):
        """Takes the picture while a region is open; returns whether it shows that."""
        is_open = "return document.querySelectorAll('table[aria-label=Regions] .tag[data-kind=open]').length > 0"
        if not self.browser.run(is_open):
            return False
        self.picture_for_readme(path)
        return self.browser.run(is_open)

    def long_episode(self):
        """The latest long episode, on Lustre if there is Lustre; a false value while there is none."""
        metric = "lustre_write_rate" if self.api("now?metric=lustre_write_rate&limit=1")["total"] else None
        episodes = self.api("episodes?limit=1000")["episodes"]
        long = [e for e in episodes if e["duration_s"] >= LONG_EPISODE_S and metric in (None, e["metric"])]
        return long and long[0]["id"]

    def picture_for_readme(self, path):
        self.browser.picture(path)
        size = path.stat().st_size
        assert size < PICTURE_BYTES_MAX, f"{path.name} has {size} bytes"

    def check_every_view_in_every_size_and_scheme(self):
        """Rules of axe, width, height, and a picture of each."""
        script, why = axe.source()
        if script is None:
            self.skip("axe", why)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.browser.wait_for(self.contended)
        wrong = []
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            self.browser.devtools("Emulation.setEmulatedMedia", {"features": [feature]})
            for device, size in SIZES.items():
                self.browser.resize(*size, phone=device == "phone")
                for view in self.views():
                    self.open_and_wait(view)
                    name = view.split("/")[0].split("?")[0] + ("-one" if "/" in view else "")
                    if self.folder is not None:
                        self.browser.picture(self.folder / f"{name}-{device}-{scheme}.png")
                    wrong += [f"{name} {device} {scheme}: {what}" for what in self.faults(device, size, script)]
        assert not wrong, f"{len(wrong)} faults:\n" + "\n".join(wrong)

    def faults(self, device, size, script):
        """What is wrong with the view that is open."""
        wide, high = self.browser.run("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        faults = [f"{wide} pixels wide"] if wide > size[0] else []
        if device == "phone" and high > SCREENS_MAX * size[1]:
            faults.append(f"{high} pixels high")
        tabs = "return [...document.querySelectorAll('.top nav a')].filter((tab) => { const { left, right } = tab.getBoundingClientRect(); return left < 0 || right > innerWidth; }).map((tab) => tab.textContent)"
        faults += [f"the tab {tab} is not visible" for tab in self.browser.run(tabs)]
        if script is not None:
            self.browser.run(script)
            faults += self.browser.run(axe.RUN)
        return faults

    def check_no_console_error(self):
        self.collect_logs()
        assert not self.errors, self.errors[:5]

    def check_no_request_to_another_host(self):
        here = urlparse(self.url).netloc
        assert self.hosts <= {here}, self.hosts - {here}
        assert here in self.hosts, "no request was seen"

    def views(self):
        episodes = self.api("episodes?limit=200")["episodes"]
        # The longest episode, on Lustre if there is one.
        long = [e for e in episodes if e["metric"] == "lustre_write_rate"] or episodes
        long.sort(key=lambda e: -e["duration_s"])
        jobs = sorted(self.api("jobs")["jobs"], key=lambda job: -(job["slowdown_s"] or 0))
        series = self.api("now?order=slowdown&limit=1")["series"]["name"]
        routers = self.api("now?metric=aries_stall_ratio&order=slowdown&limit=1")["series"]["component"]
        regions = sorted(self.api("fabric")["regions"], key=lambda region: -region["links_most"])
        return (["now", "incidents", "episodes", "map", "fabric", "files", "jobs", "blame", "alerts", "series", "health"] + [f"episode/{e['id']}" for e in long[:1]]
                + [f"router/{r}" for r in routers]
                + [f"region/{r['id']}" for r in regions[:1]] + [f"job/{j['job_id']}" for j in jobs[:1]] + [f"series/{s}" for s in series])


LIGHT = {"name": "prefers-color-scheme", "value": "light"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--program", type=path_or_none, metavar="TAILBACK")
    parser.add_argument("--store", type=path_or_none, metavar="FILE")
    parser.add_argument("--only", default="", metavar="WORD", help="checks whose name has this word")
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--readme", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    every = [n for part in (ViewChecks, PastChecks, PartChecks, SessionChecks, OutageChecks, Checks) for n in vars(part) if n.startswith("check_")]
    names = [n for n in every if options.only in n]
    if not names:
        parser.error(f"no check has {options.only!r} in its name; there are: {', '.join(n[6:] for n in every)}")
    if options.only:
        print(f"browser: {len(names)} checks: {', '.join(n[6:] for n in names)}", flush=True)
    browser = Browser()
    passed = failed = 0
    try:
        browser.resize(*SIZES["laptop"])
        checks = Checks(browser, options)
        for name in names:
            try:
                getattr(checks, name)()
                checks.collect_logs()
                passed += 1
                print("browser: ok:", name[6:].replace("_", " "), flush=True)
            except Skipped as why:
                checks.skip(name[6:].replace("_", " "), why)
            except (AssertionError, OSError, KeyError, IndexError) as why:
                failed += 1
                print("browser: FAILED:", name[6:].replace("_", " "), "-", why, flush=True)
    finally:
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
