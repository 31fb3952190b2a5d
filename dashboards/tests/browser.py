#!/usr/bin/env python3
"""Looks at the page as a person would: Debian's chromium, driven over WebDriver by the standard library alone.

    python3 dashboards/tests/browser.py http://127.0.0.1:8600/ [--screenshots FOLDER]

The page may be that of `cargo run -p dashboards --example sample_page` or of `tailback demo`; it needs live data
with at least one episode and one job. Ends with `N passed, M failed` and a nonzero exit when something failed.
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

SIZES = {"laptop": (1366, 768), "phone": (390, 844)}
KEYS = {"right": "\ue014", "down": "\ue015", "enter": "\ue007", "tab": "\ue004", "end": "\ue010"}
PATIENCE_S = 15


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
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as why:
            raise AssertionError(json.load(why)["value"]["message"]) from why

    @staticmethod
    def wait_for(question, patience=PATIENCE_S):
        """The first true answer; exceptions count as "not yet"."""
        until = time.monotonic() + patience
        last = None
        while time.monotonic() < until:
            try:
                answer = question()
                if answer:
                    return answer
            except (OSError, AssertionError) as why:
                last = why
            time.sleep(0.1)
        raise AssertionError(f"not within {patience} s" + (f": {last}" if last else ""))

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


class Checks:
    """Each method whose name starts with `check_` is one check, run in the order in which they stand here."""

    def __init__(self, browser, url, folder):
        self.browser, self.url, self.folder = browser, url.rstrip("/"), folder
        self.hosts, self.errors = set(), []

    def open(self, view):
        self.browser.call("POST", "/url", {"url": "about:blank"})
        self.browser.call("POST", "/url", {"url": f"{self.url}/#/{view}"})

    def api(self, path):
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}", timeout=10) as answer:
            return json.load(answer)

    def collect_logs(self):
        self.errors += [f"{e['level']}: {e['message']}" for e in self.browser.log("browser") if e["level"] == "SEVERE"]
        for entry in self.browser.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                target = urlparse(message["params"]["request"]["url"])
                if target.scheme in ("http", "https", "ws", "wss"):
                    self.hosts.add(target.netloc)

    def check_the_page_loads_and_is_live(self):
        self.open("now")
        self.browser.wait("document.querySelector('#link-state')?.dataset.state === 'live'")
        self.browser.wait("document.querySelectorAll('.heat canvas').length > 0")
        assert "Tailback" in self.browser.run("return document.title")

    def check_the_live_numbers_move(self):
        numbers = "[...document.querySelectorAll('.figure .number')].map((n) => n.textContent).join('|')"
        self.browser.wait(numbers + ".length > 10")
        first = self.browser.run("return " + numbers)
        self.browser.wait(numbers + " !== arguments[0]", first)

    def check_the_heat_map_has_colours(self):
        self.browser.wait(DRAWN, ".heat canvas", 3)

    def check_the_keyboard_reaches_the_heat_map_and_moves_in_it(self):
        self.open("now")
        self.browser.wait(DRAWN, ".heat canvas", 3)
        for _ in range(25):
            self.browser.keys("tab")
            if self.browser.run("return document.activeElement.tagName") == "CANVAS":
                break
        first = self.browser.wait("document.activeElement.dataset.focused")
        self.browser.keys("right")
        self.browser.wait("document.activeElement.dataset.focused !== arguments[0]", first)
        assert self.browser.wait("document.querySelector('.heat-body .tip:not([hidden]) b')?.textContent")
        self.browser.keys("enter")
        self.browser.wait("location.hash.startsWith('#/series/')")
        self.browser.wait("document.querySelectorAll('.uplot canvas').length > 0")

    def check_an_episode_opens_and_its_chart_is_drawn(self):
        self.open("episodes")
        self.browser.wait("document.querySelectorAll('tbody tr').length > 0")
        self.browser.run("document.querySelector('tbody a[href^=\"#/episode/\"]').click()")
        self.browser.wait("location.hash.startsWith('#/episode/')")
        self.browser.wait(DRAWN, ".uplot canvas", 3)
        self.browser.wait("document.querySelectorAll('.facts dd').length >= 6")

    def check_a_job_opens(self):
        self.open("jobs")
        self.browser.wait("document.querySelectorAll('tbody tr').length > 0")
        self.browser.run("document.querySelector('tbody a[href^=\"#/job/\"]').click()")
        self.browser.wait("location.hash.startsWith('#/job/')")
        self.browser.wait("document.querySelectorAll('.facts dd').length >= 6")

    def check_job_names_are_text_and_never_markup(self):
        names = [job["name"] for job in self.api("jobs")["jobs"]]
        self.open("jobs")
        self.browser.wait("document.querySelectorAll('tbody tr').length > 0")
        shown = self.browser.run("return document.querySelector('main').textContent")
        assert all(name in shown for name in names), "a job's name is not shown as it is"

    def check_the_explorer_finds_series(self):
        name = self.api("now?limit=1")["series"]["name"][0]
        self.open("series")
        self.browser.wait("document.querySelectorAll('tbody tr').length > 0")
        self.browser.run("""const box = document.querySelector('input[type=search]');
            box.value = arguments[0]; box.dispatchEvent(new Event('input'));""", name)
        self.browser.wait("document.querySelector('tbody a')?.textContent === arguments[0]", name)
        assert "search=" in self.browser.run("return location.hash")

    def check_a_series_opens_with_its_chart(self):
        self.open("series/" + self.api("now?order=slowdown&limit=1")["series"]["name"][0])
        self.browser.wait(DRAWN, ".uplot canvas", 3)

    def check_health_lists_producers(self):
        self.open("health")
        self.browser.wait("document.querySelectorAll('table[aria-label=Producers] tbody tr').length > 0")

    def check_what_does_not_exist_is_said(self):
        for view in ("episode/4000000000", "job/no-such-job", "series/no/such", "nowhere"):
            self.open(view)
            self.browser.wait("document.querySelector('main .empty strong')?.textContent.length > 5")
        # A 404 is what was asked for here; the browser logs it as an error.
        self.browser.log("browser")

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

    def check_nothing_is_wider_than_a_phone(self):
        self.browser.resize(*SIZES["phone"], phone=True)
        for view in self.views():
            self.open(view)
            time.sleep(1)
            wide = self.browser.run("return document.documentElement.scrollWidth")
            assert wide <= SIZES["phone"][0], f"{view} is {wide} wide"

    def check_screenshots(self):
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            self.browser.devtools("Emulation.setEmulatedMedia", {"features": [feature]})
            for device, size in SIZES.items():
                self.browser.resize(*size, phone=device == "phone")
                for view in self.views():
                    self.open(view)
                    time.sleep(1)
                    self.browser.wait("!document.querySelector('main').textContent.startsWith('Asking')")
                    self.browser.wait("document.querySelectorAll('main .card').length > 0")
                    time.sleep(0.6)
                    name = view.split("/")[0].split("?")[0] + ("-one" if "/" in view else "")
                    self.browser.picture(self.folder / f"{name}-{device}-{scheme}.png")

    def check_no_console_error(self):
        self.collect_logs()
        assert not self.errors, self.errors[:5]

    def check_no_request_to_another_host(self):
        here = urlparse(self.url).netloc
        assert self.hosts <= {here}, self.hosts - {here}
        assert here in self.hosts, "no request was seen at all"

    def views(self):
        episodes = self.api("episodes?limit=200")["episodes"]
        # The longest that ended is the most telling picture.
        ended = [e for e in episodes if not e["open"] and e["metric"] == "lustre_write_rate"] or episodes
        jobs = sorted(self.api("jobs")["jobs"], key=lambda job: -(job["slowdown_s"] or 0))
        series = self.api("now?order=slowdown&limit=1")["series"]["name"]
        return (["now", "episodes", "jobs", "series", "health"] + [f"episode/{e['id']}" for e in ended[-1:]]
                + [f"job/{j['job_id']}" for j in jobs[:1]] + [f"series/{s}" for s in series])


# More than `arguments[1]` colours in a canvas: something is drawn in it.
DRAWN = """((canvas) => {
    if (!canvas || !canvas.width) return false;
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4 * 7) if (data[i + 3] > 0) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size > arguments[1];
})(document.querySelector(arguments[0]))"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    browser = Browser()
    passed = failed = 0
    try:
        browser.resize(*SIZES["laptop"])
        checks = Checks(browser, options.url, options.screenshots)
        for name in [n for n in vars(Checks) if n.startswith("check_")]:
            try:
                getattr(checks, name)()
                checks.collect_logs()
                passed += 1
                print("ok  ", name[6:].replace("_", " "), flush=True)
            except (AssertionError, OSError, KeyError, IndexError) as why:
                failed += 1
                print("FAIL", name[6:].replace("_", " "), "-", why, flush=True)
    finally:
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
