#!/usr/bin/env python3
"""Looks at the page as a person would: Debian's chromium, driven over WebDriver by the standard library alone.

    python3 dashboards/tests/browser.py http://127.0.0.1:8600/ [--screenshots FOLDER] [--readme FOLDER]

The page may be that of `cargo run -p dashboards --example sample_page` or of `tailback demo`; it needs live data
with at least one job, and waits for contention. `--readme` writes the two pictures of the README, `--screenshots`
one of every view in both colour schemes and sizes. Ends with `N passed, M failed` and a nonzero exit when
something failed. Nothing is timed: what is waited for may take PATIENCE_S, which only ends a test that hangs.
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
# The demo begins a new scenario within two minutes; the rest is for slow machines.
PATIENCE_S = 300
# An episode's picture for the README shows at least so many seconds of it.
TELLING_S = 60
PICTURE_BYTES_MAX = 200_000


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
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
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

    def __init__(self, browser, url, folder, readme):
        self.browser, self.url, self.folder, self.readme = browser, url.rstrip("/"), folder, readme
        self.hosts, self.errors = set(), []

    def open(self, view):
        self.browser.call("POST", "/url", {"url": "about:blank"})
        self.browser.call("POST", "/url", {"url": f"{self.url}/#/{view}"})

    def open_and_wait(self, view):
        """Opens a view and waits until its first answer is drawn, charts and heat maps included."""
        self.open(view)
        self.browser.wait(DRAWN_WHOLE)

    def api(self, path):
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}", timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def collect_logs(self):
        self.errors += [f"{e['level']}: {e['message']}" for e in self.browser.log("browser") if e["level"] == "SEVERE"]
        for entry in self.browser.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                target = urlparse(message["params"]["request"]["url"])
                if target.scheme in ("http", "https", "ws", "wss"):
                    self.hosts.add(target.netloc)

    def contended(self):
        """Ids of open episodes of at least two metrics, or of one where the page knows no more; else nothing."""
        known = set(self.api("now?limit=50000")["series"]["metric"])
        episodes = self.api("episodes?open=true&limit=1000")["episodes"]
        return len({e["metric"] for e in episodes}) >= min(2, len(known)) and [e["id"] for e in episodes]

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
        self.browser.wait(DRAWN, ".heat canvas", 1)

    def check_the_keyboard_reaches_the_heat_map_and_moves_in_it(self):
        self.open("now")
        self.browser.wait(DRAWN, ".heat canvas", 1)
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

    def check_the_note_of_the_run_is_shown_whole(self):
        self.open_and_wait("now")
        self.browser.wait("document.querySelector('#run-note .whole').textContent.length > 5")
        whole = self.browser.run("return document.querySelector('#run-note .whole').textContent")
        assert self.browser.run("return document.querySelector('main .run-note').textContent") == whole
        visible = "getComputedStyle(document.querySelector('#run-note .whole')).visibility === 'visible'"
        assert not self.browser.run("return " + visible)
        self.browser.run("document.querySelector('#run-note').focus()")
        self.browser.wait(visible)

    def check_contention_is_told(self):
        self.open_and_wait("now")
        self.browser.wait("document.querySelectorAll('.figure:first-child[data-alarm=yes]').length > 0")
        self.browser.wait("document.querySelectorAll('table[aria-label=\"Series that lose most\"] tr').length > 0")

    def check_an_episode_opens_and_its_chart_is_drawn(self):
        self.open("episodes")
        self.browser.wait("document.querySelectorAll('tbody tr').length > 0")
        self.browser.run("document.querySelector('tbody a[href^=\"#/episode/\"]').click()")
        self.browser.wait("location.hash.startsWith('#/episode/')")
        self.browser.wait(DRAWN, ".uplot canvas", 3)
        self.browser.wait("document.querySelectorAll('.facts dd').length >= 6")

    def check_an_episode_is_shaded_from_its_dated_start(self):
        self.browser.wait_for(lambda: self.api("episodes?limit=1")["episodes"])
        newest = self.api("episodes?limit=1")["episodes"][0]["id"]
        answer = self.api(f"episodes/{newest}")
        assert newest in [span["id"] for span in answer["spans"]]
        self.open_and_wait(f"episode/{newest}")
        assert self.browser.run("return document.querySelector('.shade-legend').textContent")
        self.browser.wait("document.querySelector('.u-legend').textContent.includes(':')")

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

    def check_more_can_be_loaded(self):
        total = self.api("now?limit=1")["total"]
        self.open_and_wait("series")
        rows = "document.querySelectorAll('tbody tr').length"
        first = self.browser.run("return " + rows)
        if total <= first:
            return
        self.browser.run("document.querySelector('button.more').click()")
        self.browser.wait(rows + " === arguments[0]", min(2 * first, total))

    def check_a_series_opens_with_its_chart(self):
        self.open("series/" + self.api("now?order=slowdown&limit=1")["series"]["name"][0])
        self.browser.wait(DRAWN, ".uplot canvas", 3)

    def check_the_fabric_is_shown_by_group_and_a_group_can_be_opened(self):
        self.open_and_wait("fabric")
        groups = self.api("fabric")["groups"]
        rows = "document.querySelectorAll('table[aria-label=Groups] tbody tr').length"
        if not groups:
            return
        self.browser.wait(rows + " === arguments[0]", len(groups))
        self.browser.run("document.querySelector('table[aria-label=Groups] tbody a[href^=\"#/fabric?group=\"]').click()")
        self.browser.wait("location.hash.startsWith('#/fabric?group=')")
        self.browser.wait("document.querySelectorAll('table[aria-label=\"Switches and hosts\"] tbody tr').length > 0")

    def check_a_file_system_shows_its_rate_and_who_writes(self):
        mounts = self.api("files")["mounts"]
        if not mounts:
            return
        self.open("files?mount=" + mounts[0]["mount"])
        self.browser.wait("document.querySelector('main h1').textContent.includes(arguments[0])", mounts[0]["mount"])
        self.browser.wait(DRAWN, ".uplot canvas", 3)
        self.browser.wait("document.querySelectorAll('table[aria-label=\"Running jobs that write\"] tbody tr').length > 0")

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
            self.open_and_wait(view)
            wide = self.browser.run("return document.documentElement.scrollWidth")
            assert wide <= SIZES["phone"][0], f"{view} is {wide} wide"

    def check_pictures_for_the_readme(self):
        if self.readme is None:
            return
        self.readme.mkdir(parents=True, exist_ok=True)
        self.browser.resize(*SIZES["laptop"])
        self.browser.devtools("Emulation.setEmulatedMedia", {"features": [LIGHT]})
        self.open_and_wait("now")
        # What a picture must show may end while it is taken: it counts when it was there before and after.
        self.browser.wait_for(lambda: self.picture_of_now(self.readme / "now.png"))
        telling = self.browser.wait_for(self.telling_episode)
        self.open_and_wait(f"episode/{telling}")
        self.picture_for_readme(self.readme / "episode.png")

    def picture_of_now(self, path):
        """Takes it while two metrics have contended series, or the only one; says whether it shows that."""
        contended = "return [...document.querySelectorAll('.heat h3 span')].filter((n) => !/ 0 of /.test(n.textContent)).length"
        wanted = min(2, self.browser.run("return document.querySelectorAll('.heat').length"))
        if not wanted or self.browser.run(contended) < wanted:
            return False
        self.picture_for_readme(path)
        return self.browser.run(contended) >= wanted

    def telling_episode(self):
        """The latest episode that is long enough, on Lustre where there is Lustre; nothing while there is none."""
        metric = "lustre_write_rate" if self.api("now?metric=lustre_write_rate&limit=1")["total"] else None
        episodes = self.api("episodes?limit=1000")["episodes"]
        telling = [e for e in episodes if e["duration_s"] >= TELLING_S and metric in (None, e["metric"])]
        return telling and telling[0]["id"]

    def picture_for_readme(self, path):
        self.browser.picture(path)
        size = path.stat().st_size
        assert size < PICTURE_BYTES_MAX, f"{path.name} has {size} bytes"

    def check_screenshots(self):
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self.browser.wait_for(self.contended)
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            self.browser.devtools("Emulation.setEmulatedMedia", {"features": [feature]})
            for device, size in SIZES.items():
                self.browser.resize(*size, phone=device == "phone")
                for view in self.views():
                    self.open_and_wait(view)
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
        # The longest is the most telling picture, on Lustre where there is one.
        telling = [e for e in episodes if e["metric"] == "lustre_write_rate"] or episodes
        telling.sort(key=lambda e: -e["duration_s"])
        jobs = sorted(self.api("jobs")["jobs"], key=lambda job: -(job["slowdown_s"] or 0))
        series = self.api("now?order=slowdown&limit=1")["series"]["name"]
        return (["now", "episodes", "fabric", "files", "jobs", "series", "health"] + [f"episode/{e['id']}" for e in telling[:1]]
                + [f"job/{j['job_id']}" for j in jobs[:1]] + [f"series/{s}" for s in series])


# More than `arguments[1]` colours in a canvas: something is drawn in it.
DRAWN = """((canvas) => {
    if (!canvas || !canvas.width) return false;
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4 * 7) if (data[i + 3] > 0) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size > arguments[1];
})(document.querySelector(arguments[0]))"""

# The first answer is drawn, and there is something in every chart and heat map.
DRAWN_WHOLE = """document.querySelector('main').dataset.shown === 'yes'
    && [...document.querySelectorAll('main .chart')].every((chart) => chart.querySelector('canvas'))
    && [...document.querySelectorAll('main canvas')].every((canvas) => canvas.width > 0 && canvas.height > 0
        && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0))"""

LIGHT = {"name": "prefers-color-scheme", "value": "light"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--readme", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    browser = Browser()
    passed = failed = 0
    try:
        browser.resize(*SIZES["laptop"])
        checks = Checks(browser, options.url, options.screenshots, options.readme)
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
