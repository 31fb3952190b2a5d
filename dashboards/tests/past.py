"""Checks of browser.py for what is not live: a time in the past, and a store that gets no new data."""

import contextlib
import pathlib
import sqlite3
import tempfile

from outage import Served, Skipped

ROWS = """[...document.querySelectorAll('table[aria-label="' + arguments[0] + '"] tbody tr')].map((row) => row.textContent)"""
# A number and the small print below it, as one text.
NOT_STORED = "not storedloss by then"
BY_THEN = "by then, no interval"
WORDS = "document.querySelector('.rewind-words').textContent"
UNDER = "[...document.querySelectorAll('.figure')].find((f) => f.textContent.startsWith(arguments[0])).querySelector('.under').textContent"


class PastChecks:
    """Checks of what the page may say of a time; browser.py defines the rest."""

    def past_with_losses(self):
        """A time at which an incident, an episode and a job with a loss by then were under way, and their lists; a false value before."""
        history = self.api("history")
        for incidents, start in sorted(zip(history["incidents"], history["time"]), reverse=True)[:20]:
            at = round(start + history["step_s"])
            span = f"from={at}&to={at}"
            found = [self.api(f"{view}?{span}{more}")[view] for view, more in
                     (("incidents", "&limit=5"), ("jobs", f"&at={at}&sort=lost&limit=4"), ("episodes", f"&at={at}&sort=lost&limit=8"))]
            if incidents and at < history["clock"] and all(found) and any(job["lost_until_s"] for job in found[1]):
                return at, *found
        return False

    def check_an_earlier_time_shows_what_was_lost_by_then_or_nothing(self):
        at, incidents, jobs, episodes = self.browser.wait_for(self.past_with_losses)
        self.open_and_wait(f"now?at={at}")
        rows = self.browser.wait_for(lambda: self.browser.run("return " + ROWS, "Incidents at this time"))
        assert len(rows) == len(incidents) and all(NOT_STORED in row for row in rows), rows
        for label, lines in (("Jobs at this time", jobs), ("Episodes at this time", episodes)):
            rows = self.browser.run("return " + ROWS, label)
            assert len(rows) == len(lines), (label, rows)
            assert all(BY_THEN in row or NOT_STORED in row for row in rows), (label, rows)
        tags = "return document.querySelectorAll('.losing .tag').length"
        assert self.browser.run(tags) == 0
        assert all(job["lost_until_s"] is None or job["lost_until_s"] <= job["slowdown_s"] + 1e-6 for job in jobs), jobs
        self.open_and_wait(f"map?at={at}")
        rows = self.browser.wait_for(lambda: self.browser.run("return " + ROWS, "Jobs on the map"))
        assert all(BY_THEN in row or NOT_STORED in row for row in rows), rows

    @contextlib.contextmanager
    def served_copy(self):
        """A server over a copy of the store while links are contended; its run has ended and closed all episodes."""
        if self.program is None or self.store is None:
            raise Skipped("needs --program and --store")
        url, hosts = self.url, set(self.hosts)
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "stopped.db"
            server = Served(self.program, str(copy))
            try:
                self.browser.wait_for(lambda: self.copy_while_contended(copy))
                server.start(self.browser)
                self.url = f"http://{server.address}"
                yield
            finally:
                # A page that is open while its server ends logs that as an error.
                self.browser.call("POST", "/url", {"url": "about:blank"})
                server.kill()
                self.collect_logs()
                self.url, self.hosts = url, hosts

    def copy_while_contended(self, copy):
        copy.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(self.store)) as store, contextlib.closing(sqlite3.connect(copy)) as target:
            store.backup(target)
            target.execute("UPDATE episodes SET open = 0")
            target.commit()
            contended = "SELECT count(*) FROM series_latest WHERE state = 'contended' AND time >= (SELECT now FROM clock) - 5"
            return target.execute(contended).fetchone()[0] > 0

    def check_a_store_without_new_data_shows_the_time_of_its_latest_data(self):
        with self.served_copy():
            totals = self.api("now?limit=1")["totals"]
            contended = totals["links"]["contended"] + totals["clients"]["contended"]
            assert contended > 0 and totals["open_episodes"] == 0, totals
            self.open_and_wait("now")
            self.browser.wait("document.documentElement.dataset.link === 'stored'")
            words = self.browser.wait_for(lambda: (lambda text: text if "contended" in text else None)(self.browser.run("return " + WORDS)))
            assert words.startswith("latest data 20") and "live" not in words, words
            assert "now" not in self.browser.run("return document.querySelector('.rewind-ends').textContent")
            for name in ("Contended links", "Contended clients"):
                self.browser.wait(UNDER + ".endsWith('at the end of the data')", name)
            self.browser.wait(UNDER + " === 'ended with the data'", "Open episodes")
            assert self.browser.run("return document.querySelectorAll('.figure:nth-child(-n+2)[data-alarm=yes]').length") == 0
