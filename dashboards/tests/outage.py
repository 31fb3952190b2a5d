"""Checks of browser.py for a server that hangs or is gone: a `tailback serve` over the demo's store, stopped and killed."""

import pathlib
import signal
import socket
import subprocess
import urllib.error
import urllib.request

# The page promises to show an outage within this time.
SHOWN_WITHIN_S = 5
OUTAGE = "['hung', 'lost'].includes(document.documentElement.dataset.link)"
# Notes when the page shows an outage, by its own clock.
WATCH = """window.outageAt = null; window.outageFrom = performance.now(); performance.clearResourceTimings();
    new MutationObserver(() => { if (%s) window.outageAt ??= performance.now(); })
        .observe(document.documentElement, { attributes: true, attributeFilter: ['data-link'] });""" % OUTAGE
KEPT = """return ['tr', 'dd', 'canvas', '.figure', 'h2'].map((what) => document.querySelectorAll('main ' + what).length)"""
RESPONSES = """performance.getEntriesByType('resource').some((each) => each.startTime > arguments[0] && each.responseStatus === 200
    && each.name.includes('/api/v1/') && !each.name.endsWith('/stream'))"""


class Skipped(Exception):
    """What a check lacks."""


class Served:
    """One `tailback serve` on one port."""

    def __init__(self, program, store, options=()):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.command = [program, "serve", "--store", store, "--listen", self.address, *options]
        self.process = None

    def start(self, browser):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        browser.wait_for(lambda: self.responds())

    def responds(self):
        try:
            return urllib.request.urlopen(f"http://{self.address}/healthz", timeout=10).status == 200
        except urllib.error.HTTPError as refused:
            return refused.code == 401

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)


class OutageChecks:
    """Checks of the views during and after an outage; browser.py defines the rest."""

    def check_every_view_shows_an_outage_keeps_its_data_and_recovers(self):
        if self.program is None or self.store is None:
            raise Skipped("needs --program and --store")
        views, errors, hosts, url = self.views(), list(self.errors), set(self.hosts), self.url
        server = Served(self.program, self.store)
        try:
            server.start(self.browser)
            self.url = f"http://{server.address}"
            for view in views:
                self.outage_of(server, view)
        finally:
            server.kill()
            self.browser.call("POST", "/url", {"url": "about:blank"})
            self.collect_logs()
            # The browser logs each failed request of an outage as an error.
            self.errors, self.hosts, self.url = errors, hosts, url

    def outage_of(self, server, view):
        self.open_and_wait(view)
        self.browser.wait(f"document.documentElement.dataset.link && !{OUTAGE}")
        hang = lambda: server.process.send_signal(signal.SIGSTOP)
        self.shown_and_recovered(view, "hung", hang, lambda: server.process.send_signal(signal.SIGCONT))
        self.shown_and_recovered(view, "lost", server.kill, lambda: server.start(self.browser))

    def shown_and_recovered(self, view, state, begin, end):
        self.browser.run(WATCH)
        before = self.browser.run(KEPT)
        begin()
        self.browser.wait("document.documentElement.dataset.link === arguments[0]", state)
        took = self.browser.run("return (window.outageAt - window.outageFrom) / 1000")
        assert took <= SHOWN_WITHIN_S, f"{view}: {state} was shown after {took} s"
        banner = self.browser.run("const banner = document.querySelector('#banner'); return banner.hidden ? '' : banner.textContent")
        assert "server does not respond" in banner and "samplers" not in banner, f"{view}: {banner}"
        # A response that arrived before the outage may still add rows; none are removed.
        kept = self.browser.run(KEPT)
        assert all(now >= was * 0.8 for was, now in zip(before, kept)), f"{view}: {before} became {kept}"
        assert self.browser.run("return getComputedStyle(document.querySelector('main')).filter") == "grayscale(1)", view
        end()
        over = self.browser.run("return performance.now()")
        self.browser.wait(f"!{OUTAGE} && !document.querySelector('#banner').textContent.includes('does not respond')")
        # What has ended requests nothing more.
        if not view.startswith(("episode/", "region/")):
            self.browser.wait(RESPONSES, over)
        assert self.browser.run("return getComputedStyle(document.querySelector('main')).filter") == "none", view


def path_or_none(text):
    """The absolute path of a file."""
    return str(pathlib.Path(text).resolve())
