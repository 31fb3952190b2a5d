"""Checks of browser.py for the parts of all views: tables, files that are saved, charts."""

import csv
import io
import json

# Keeps what the page saves.
CAPTURE = """if (!window.saved) { const make = URL.createObjectURL; URL.createObjectURL = (blob) => { window.saved.push(blob); return make(blob); }; }
    window.saved = [];"""
CLICK = """[...document.querySelectorAll(arguments[0])].find((node) => node.textContent.startsWith(arguments[1])).click()"""
JOBS = "table[aria-label=Jobs]"


class PartChecks:
    """Checks of tables and charts; browser.py defines `browser`, `api` and `open`."""

    def saved(self, buttons, name):
        """The text of the file that a button saves."""
        self.browser.run(CAPTURE)
        self.browser.run(CLICK, buttons, name)
        self.browser.wait("window.saved.length > 0")
        return self.browser.run("return window.saved[0].text()")

    def column(self, table, name):
        return self.browser.run("return [...document.querySelectorAll(arguments[0] + ' td[data-name=\"' + arguments[1] + '\"]')].map((td) => td.firstChild.textContent)", table, name)

    def check_a_table_sorts_and_its_address_keeps_the_order(self):
        self.open_and_wait("jobs")
        self.browser.wait_for(lambda: len(self.column(JOBS, "Job")) > 1)
        for clicks, order in ((1, "descending"), (2, "ascending"), (3, "none")):
            self.browser.run(CLICK, f"{JOBS} button.sort", "Elapsed")
            head = "return [...document.querySelectorAll(arguments[0] + ' th')].find((th) => th.textContent.startsWith('Elapsed')).getAttribute('aria-sort')"
            assert self.browser.run(head, JOBS) == order, clicks
            if order == "none":
                continue
            nodes = json.loads(self.saved(".table-out button", "JSON"))
            elapsed = [row["Elapsed (s)"] for row in nodes]
            assert elapsed == sorted(elapsed, reverse=order == "descending"), elapsed
        self.browser.run(CLICK, f"{JOBS} button.sort", "Lost, 95")
        address = self.browser.run("return location.hash")
        assert "jobs.sort=-lost-95-interval" in address, address
        self.open_and_wait(address.removeprefix("#/"))
        ends = [row["Lost, lower end (s)"] for row in json.loads(self.saved(".table-out button", "JSON"))]
        known = [end for end in ends if end is not None]
        assert known == sorted(known, reverse=True) and ends[:len(known)] == known, ends

    def set_filter(self, label, value):
        """Changes a field of the filters of a list."""
        self.browser.run("""const field = document.querySelector('.filter-row [aria-label="' + arguments[0] + '"]');
            field.value = arguments[1]; field.dispatchEvent(new Event('change'));""", label, value)

    def check_the_server_filters_jobs_and_the_address_keeps_the_filters(self):
        # The first row about a job may lack its user.
        job = self.browser.wait_for(lambda: next((job for job in self.api("jobs")["jobs"] if job["user"]), None))
        node = self.api(f"jobs/{job['job_id']}")["node_names"][0]
        self.open_and_wait("jobs")
        self.browser.wait_for(lambda: len(self.column(JOBS, "Job")) > 1)
        self.set_filter("User", job["user"])
        self.set_filter("Node", node)
        wanted = {each["job_id"] for each in self.api(f"jobs?user={job['user']}&node={node}")["jobs"]}
        self.browser.wait_for(lambda: set(self.column(JOBS, "Job")) <= wanted and self.column(JOBS, "Job"))
        address = self.browser.run("return location.hash")
        assert f"user={job['user']}" in address and f"node={node}" in address, address
        self.open_and_wait(address.removeprefix("#/"))
        assert set(self.column(JOBS, "Job")) <= wanted
        self.set_filter("User", "no-such-user")
        self.browser.wait("document.querySelector('main .empty')?.textContent.includes('No job matches')")

    def check_the_server_filters_episodes_and_incidents(self):
        for view, label, head in (("episodes", "Episodes", "Lost, 95"), ("incidents", "Incidents", "Lost, 95")):
            self.open_and_wait(view)
            self.browser.wait_for(lambda: self.api(view)["total"])
            self.set_filter("Cause", "unknown")
            total = lambda: self.api(f"{view}?cause=unknown")["total"]
            shown = "document.querySelector('table[aria-label=' + arguments[0] + ']')?.dataset.rows ?? '0'"
            self.browser.wait_for(lambda: int(self.browser.run("return " + shown, label)) == min(100, total()))
            assert "cause=unknown" in self.browser.run("return location.hash")

    def check_panels_for_frames_have_no_navigation_and_open_links_outside(self):
        job = self.browser.wait_for(lambda: next((job for job in self.api("jobs?sort=lost")["jobs"] if job["slowdown_s"]), None))
        node = self.api(f"jobs/{job['job_id']}")["node_names"][0]
        for path, text in ((f"embed/job/{job['job_id']}", f"Job {job['job_id']}"), (f"embed/node/{node}", f"Node {node}")):
            self.browser.call("POST", "/url", {"url": f"{self.url}/{path}"})
            self.browser.wait("document.querySelector('main h2')?.textContent === arguments[0]", text)
            links = self.browser.run("return [...document.querySelectorAll('a')].map((a) => [a.getAttribute('href'), a.target])")
            assert links and all(href.startswith("/#/") and target == "_blank" for href, target in links), links
            assert self.browser.run("return document.querySelectorAll('nav').length") == 0
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
                for size in ((600, 460), (390, 460)):
                    self.browser.resize(*size)
                    wide = self.browser.run("return document.documentElement.scrollWidth")
                    assert wide <= size[0], (path, wide)
                    self.browser.picture(self.folder / f"embed-{path.split('/')[1]}-{size[0]}.png")
                self.browser.resize(1280, 800)
        self.collect_logs()
        known = list(self.errors)
        self.browser.call("POST", "/url", {"url": f"{self.url}/embed/job/no-such-job"})
        self.browser.wait("document.querySelector('main .empty strong')?.textContent.startsWith('No data of job')")
        # The request returns 404, which the browser logs as an error.
        self.collect_logs()
        self.errors = known

    def check_a_cut_table_is_sorted_by_the_server(self):
        self.open_and_wait("episodes")
        self.browser.wait("document.querySelector('table[aria-label=Episodes] button.sort')")
        # As a database answers that holds more episodes than it sorts.
        self.browser.run("""window.asked = []; const before = window.fetch;
            window.fetch = async (path, ...more) => {
                window.asked.push(String(path));
                const answer = await before(path, ...more);
                if (!String(path).includes('/episodes?') || !String(path).includes('sort=')) return answer;
                return new Response(JSON.stringify({ ...await answer.json(), searched_from: 1793404800, total_is_least: true }), { status: answer.status });
            };""")
        self.browser.run(CLICK, "table[aria-label=Episodes] button.sort", "Length")
        self.browser.wait("window.asked.some((path) => path.includes('sort=length') && path.includes('dir=desc'))")
        self.browser.wait("document.querySelector('main').textContent.includes('sorted since')")
        text = self.browser.run("return document.querySelector('main').textContent")
        assert "since 2026-10-31 00:00:00 UTC" in text, text[:400]

    def check_a_table_filters_by_choice_and_by_text(self):
        self.open_and_wait("episodes")
        self.browser.wait("Number(document.querySelector('table[aria-label=Episodes]')?.dataset.rows) > 5")
        self.browser.run("""const box = document.querySelector('input[aria-label="Filter: Episodes"]');
            box.focus(); box.value = 'no such series'; box.dispatchEvent(new Event('input'));""")
        self.browser.wait("document.querySelector('table[aria-label=Episodes]').dataset.rows === '0'")
        assert "filtered from" in self.browser.run("return document.querySelector('.table-shown').textContent")
        assert self.browser.run("return document.activeElement.getAttribute('aria-label')") == "Filter: Episodes"

    def check_a_long_table_has_pages_and_exports_all_of_them(self):
        self.open_and_wait("series")
        self.browser.wait("Number(document.querySelector('table[aria-label=Series]')?.dataset.rows) > 25")
        shown = "return [...document.querySelectorAll('table[aria-label=Series] tbody a')].map((a) => a.textContent)"
        first = self.browser.run(shown)
        assert len(first) == 25, first
        self.browser.run(CLICK, ".pager button", "Next")
        assert not set(first) & set(self.browser.run(shown)) or self.browser.run("return location.hash").endswith("series.page=2")
        loaded = int(self.browser.run("return document.querySelector('table[aria-label=Series]').dataset.rows"))
        rows = list(csv.DictReader(io.StringIO(self.saved(".table-out button", "CSV"))))
        assert len(rows) == loaded and rows[0]["Series"].count("/") >= 1, (len(rows), loaded)
        total = self.api("now?limit=1")["total"]
        text = self.browser.run("return document.querySelector('.table-shown').textContent")
        assert total <= loaded or f"the first {loaded} of" in text, text

    def check_exported_text_is_never_a_formula(self):
        self.open("jobs")
        wrong = [{"name": name, "n": -1} for name in ("=1+1", "+1", "-1", "@x", "\tx", 'a "quoted", text\nof two lines')]
        text = self.browser.run("return import('/js/export.js').then((made) => made.toCsv(arguments[0]))", wrong)
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        assert len(rows) == 6 and all(row["name"].startswith("'") for row in rows[:5]), rows
        assert rows[5]["name"] == wrong[5]["name"] and all(row["n"] == "-1" for row in rows), rows

    def check_a_chart_is_saved_as_png_and_svg(self):
        self.open_and_wait("series/" + self.api("now?order=slowdown&limit=1")["series"]["name"][0])
        self.browser.wait("document.querySelector('.uplot canvas')")
        text = self.saved(".chart-tools button", "SVG")
        assert text.startswith("<svg") and text.count("<path") >= 3 and "NaN" not in text and "UTC" in text, text[:300]
        self.saved(".chart-tools button", "PNG")
        kind, size = self.browser.run("return [window.saved[0].type, window.saved[0].size]")
        assert kind == "image/png" and size > 5000, (kind, size)

    def check_charts_of_a_view_zoom_together(self):
        self.open_and_wait("series/" + self.api("now?order=slowdown&limit=1")["series"]["name"][0])
        self.browser.wait("document.querySelectorAll('.uplot canvas').length > 1")
        ranges = "return [...document.querySelectorAll('.chart')].map((chart) => chart.dataset.range)"
        before = self.browser.run(ranges)
        box = self.browser.run("const { left, top, width, height } = document.querySelector('.u-over').getBoundingClientRect(); return [left, top, width, height]")
        at = lambda share: {"type": "pointerMove", "duration": 0, "x": int(box[0] + share * box[2]), "y": int(box[1] + box[3] / 2)}
        steps = [at(0.3), {"type": "pointerDown", "button": 0}, at(0.4), at(0.6), {"type": "pointerUp", "button": 0}]
        self.browser.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]})
        self.browser.wait("document.querySelector('.chart').dataset.range !== arguments[0]", before[0])
        after = self.browser.run(ranges)
        assert len(set(after)) == 1 and after[0] != before[0], (before, after)

    def check_an_axis_ends_at_the_99th_percentile_and_marks_spikes(self):
        self.open("now")
        found = self.browser.run("""return import('/js/chart_frame.js').then(({ upTo99th, spikesOf }) => {
            const value = Array.from({ length: 200 }, (_, i) => (i === 100 || i === 101 ? 1000 + i : 10));
            const u = { series: [{ idxs: [0, 199] }], data: [value.map((_, i) => i), value, value.map(() => 20)], scales: { y: {} } };
            const [low, high] = upTo99th(1)(u, 10, 1101);
            u.scales.y.max = high;
            const flat = { ...u, data: [u.data[0], value.map(() => 10), u.data[2]] };
            return { low, high, spikes: spikesOf(u, 1), flat: upTo99th(1)(flat, 10, 20) };
        })""")
        assert found["low"] == 0 and 20 < found["high"] < 30, found
        assert found["spikes"] == [[101, 1101]], found
        assert found["flat"][1] > 20, found
