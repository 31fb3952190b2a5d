"""The checks of browser.py for the views."""

import re

# More than `arguments[1]` colours in a canvas: it has a drawing.
DRAWN = """((canvas) => {
    if (!canvas || !canvas.width) return false;
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4 * 7) if (data[i + 3] > 0) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size > arguments[1];
})(document.querySelector(arguments[0]))"""

# The first response is drawn, and no chart or heat map is blank.
DRAWN_WHOLE = """document.querySelector('main').dataset.shown === 'yes'
    && [...document.querySelectorAll('main .chart')].every((chart) => chart.querySelector('canvas'))
    && [...document.querySelectorAll('main canvas')].every((canvas) => canvas.width > 0 && canvas.height > 0
        && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0))"""


class ViewChecks:
    """Checks by view, run in this order; browser.py defines `browser`, `api` and `open`."""

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

    def check_contention_is_shown(self):
        self.open_and_wait("now")
        self.browser.wait("document.querySelectorAll('.figure:first-child[data-alarm=yes]').length > 0")
        self.browser.wait("document.querySelectorAll('table[aria-label=\"Series with the largest loss\"] tr').length > 0")

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

    def check_losses_have_their_interval_and_rank_by_its_lower_end(self):
        self.browser.wait_for(lambda: any(job["slowdown_s"] for job in self.api("jobs")["jobs"]))
        self.open_and_wait("jobs")
        cells = self.browser.run("""return [...document.querySelectorAll('td[data-name^="Lost, 95"]')]
            .map((cell) => [cell.firstChild.textContent, cell.querySelector('small')?.textContent ?? ''])""")
        assert cells and all(value == "–" or " – " in under for value, under in cells), cells
        ends = [job["slowdown_lo_s"] or 0 for job in self.api("jobs?sort=lost")["jobs"]]
        assert ends == sorted(ends, reverse=True), ends

    def check_losses_are_drawn_as_ranges(self):
        lost = lambda job: (job["slowdown_s"] or 0) > 0 and job["slowdown_hi_s"] > job["slowdown_lo_s"]
        job = self.browser.wait_for(lambda: next((job for job in self.api("jobs?sort=lost")["jobs"] if lost(job)), None))
        self.browser.wait_for(lambda: self.api("paid")["paid"])
        self.open_and_wait("now")
        self.browser.wait("[...document.querySelectorAll('.figure.range')].some((f) => / – /.test(f.querySelector('.number').textContent) && f.textContent.includes('best estimate'))")
        self.browser.wait("document.querySelectorAll('.piles .whisker').length > 0")
        # Grey where the interval reaches 0, and only there.
        grey = "return [...document.querySelectorAll('.figure.range')].map((f) => [f.querySelector('.number').textContent, f.dataset.sure])"
        assert all((text.startswith("0.0") and not text.endswith("0.0 s")) == (sure == "no") for text, sure in self.browser.run(grey))
        self.open_and_wait("job/" + job["job_id"])
        # A band has as many points again as the line; an area below the line has two more.
        points = "document.querySelector('.spark path' + arguments[0])?.getAttribute('d').split('L').length"
        self.browser.wait(points + " > 2", ":not(.area)")
        line, band = (self.browser.run("return " + points, kind) for kind in (":not(.area)", ".area"))
        assert band == 2 * line, (line, band)

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
        rows = "Number(document.querySelector('table[aria-label=Series]')?.dataset.rows)"
        self.browser.wait(rows + " > 0")
        first = self.browser.run("return " + rows)
        if total <= first:
            return
        self.browser.run("document.querySelector('button.more').click()")
        self.browser.wait(rows + " === arguments[0]", min(2 * first, total))

    def check_a_series_opens_with_its_chart(self):
        self.open("series/" + self.api("now?order=slowdown&limit=1")["series"]["name"][0])
        self.browser.wait(DRAWN, ".uplot canvas", 3)

    def check_a_tile_shows_its_raw_counters(self):
        names = self.api("now?metric=aries_stall_ratio&order=slowdown&limit=50")["series"]["name"]
        tiles = [name for name in names if name.count("/") == 2]
        assert tiles, names
        self.open("series/" + tiles[0])
        self.browser.wait("[...document.querySelectorAll('.card')].some((c) => /^Raw counters/.test(c.innerText) && c.querySelector('.uplot canvas'))")

    def check_the_fabric_is_shown_by_group_and_a_group_can_be_opened(self):
        self.open_and_wait("fabric")
        groups = self.api("fabric")["groups"]
        rows = "Number(document.querySelector('table[aria-label=Groups]')?.dataset.rows)"
        if not groups:
            return
        self.browser.wait(rows + " === arguments[0]", len(groups))
        self.browser.run("document.querySelector('table[aria-label=Groups] tbody a[href^=\"#/fabric?group=\"]').click()")
        self.browser.wait("location.hash.startsWith('#/fabric?group=')")
        self.browser.wait("document.querySelectorAll('table[aria-label=\"Switches and hosts\"] tbody tr').length > 0")

    def check_link_classes_and_the_imbalance_of_parallel_links_are_shown(self):
        self.open_and_wait("fabric")
        fabric = self.browser.wait_for(lambda: (lambda f: f if f["groups"] else None)(self.api("fabric")))
        if fabric["links_known"] == 0:
            self.browser.wait("document.querySelector('main').textContent.includes('No topology is configured')")
            return
        rows = "[...document.querySelectorAll('table[aria-label=\"' + arguments[0] + '\"] tbody tr')]"
        classes = [c["class"] for c in fabric["classes"]]
        assert classes, "links are known, but no class of them"
        self.browser.wait(rows + ".length === arguments[1]", "Link classes", len(classes))
        shown = self.browser.run("return " + rows + ".map((row) => row.cells[0].firstChild.textContent)", "Link classes")
        assert sorted(shown) == sorted(classes), shown
        assert fabric["parallel_known"] == 0 or self.browser.wait(rows + ".length > 0", "Imbalance of parallel links")
        self.browser.wait("document.querySelector('table[aria-label=\"Imbalance of parallel links\"] td[data-name=\"Worst link\"] a')")

    def check_links_with_the_largest_loss_are_listed(self):
        self.open_and_wait("fabric")
        worst = self.browser.wait_for(lambda: self.api("fabric")["worst"])
        self.browser.wait("document.querySelectorAll('table[aria-label=\"Links with the largest loss\"] tbody tr').length > 0")
        assert all(not link["series"].startswith("lustre_") for link in worst), worst

    def check_a_router_opens_with_six_rows_of_eight_tiles(self):
        series = self.api("now?metric=aries_stall_ratio&limit=1")["series"]
        if not series["name"]:
            return
        self.open_and_wait("router/" + series["component"][0])
        tiles = "document.querySelectorAll('table[aria-label=\"Tiles of the router\"] tbody tr > td')"
        self.browser.wait(tiles + ".length === 48")
        reported = len([tile for tile in self.api("routers/" + series["component"][0])["tiles"] if tile["part"]])
        self.browser.wait("[..." + tiles + "].filter((td) => td.querySelector('a[href^=\"#/series/\"]')).length === arguments[0]", reported)

    def check_incidents_and_cost_are_on_the_first_view(self):
        self.browser.wait_for(lambda: self.api("regions")["regions"])
        self.open_and_wait("now")
        self.browser.wait("document.querySelector('table[aria-label=Incidents] a[href^=\"#/region/\"]')")
        self.browser.wait_for(lambda: self.api("paid")["paid"])
        self.open_and_wait("now")
        self.browser.wait("document.querySelectorAll('.piles rect').length > 0")

    def check_a_job_has_its_neighbours_and_earlier_runs(self):
        jobs = self.browser.wait_for(lambda: [j["job_id"] for j in self.api("jobs")["jobs"] if self.api(f"jobs/{j['job_id']}/neighbours")["neighbours"]])
        self.open_and_wait("job/" + jobs[0])
        self.browser.wait("document.querySelectorAll('table[aria-label=Neighbours] tbody a[href^=\"#/job/\"]').length > 0")
        self.browser.wait("[...document.querySelectorAll('main h2')].some((h) => h.textContent === 'Earlier runs')")

    def check_a_job_lists_its_victims_and_the_ledger_its_pairs(self):
        pairs = self.browser.wait_for(lambda: self.api("blame")["pairs"])
        self.open_and_wait("job/" + pairs[0]["aggressor"]["job_id"])
        victim = "document.querySelector('table[aria-label=Victims] tbody a[href=\"#/job/' + arguments[0] + '\"]')"
        self.browser.wait(victim, pairs[0]["victim"]["job_id"])
        self.open_and_wait("blame")
        self.browser.wait("document.querySelector('table[aria-label=Pairs] tbody a[href=\"#/job/' + arguments[0] + '\"]')", pairs[0]["victim"]["job_id"])
        self.browser.wait("document.querySelectorAll('table[aria-label=Ledger] td.ledger-cell a').length > 0")

    def check_causes_of_losses_that_may_be_0_are_suspected(self):
        may_be_0 = lambda job: job["slowdown_lo_s"] == 0 < job["slowdown_s"] and job["causes"] and job["causes"][0]["cause"] != "unknown"
        self.browser.wait_for(lambda: [job for job in self.api("jobs")["jobs"] if job["slowdown_s"] and may_be_0(job)])
        self.open_and_wait("jobs")
        suspected = """[...document.querySelectorAll('table[aria-label=Jobs] tbody tr')].filter((row) => row.querySelector('.cause-strip'))
            .map((row) => [row.querySelector('.cause-strip').dataset.sure, row.querySelector('.cause-strip').nextSibling.textContent.endsWith(', suspected'),
                row.querySelector('[data-name^="Lost, 95"] .muted') !== null])"""
        self.browser.wait(suspected + ".some(([sure]) => sure === 'no')")
        for sure, named, grey in self.browser.run("return " + suspected):
            assert (sure == "no") == named == grey, (sure, named, grey)

    def check_running_losers_of_now_are_suspected_where_the_loss_may_be_0(self):
        self.open_and_wait("now")
        rows = """[...document.querySelectorAll('table[aria-label="Running jobs with the largest loss"] tbody tr')]
            .filter((row) => !row.textContent.includes('cause unknown')).map((row) => [row.querySelector('small').textContent.endsWith(', suspected'), row.querySelector('.num .muted') !== null])"""
        self.browser.wait(rows + ".some(([suspected]) => suspected)")
        for suspected, grey in self.browser.run("return " + rows):
            assert suspected == grey, (suspected, grey)

    def check_a_job_that_was_not_judged_is_not_said_to_be_free_of_contention(self):
        unjudged = lambda: [job for job in self.api("jobs")["jobs"] if job["slowdown_s"] == 0 and (job["completeness"] or 0) - (job["judged"] or 0) > 0.005]
        self.browser.wait_for(unjudged)
        self.open_and_wait("job/" + unjudged()[0]["job_id"])
        self.browser.wait("document.querySelector('main').textContent.includes('No episode in what was judged; not judged')")

    def check_costs_above_0_never_look_like_0(self):
        self.browser.wait_for(lambda: self.api("paid")["paid"])
        self.open_and_wait("now")
        self.browser.wait("document.querySelectorAll('.paid-legend > div').length > 0")
        above_0 = {each["cause"] for each in self.api("paid")["paid"] if each["node_hours_hi"] >= 0.0005}
        for cause, words in self.browser.run("return [...document.querySelectorAll('.paid-legend > div')].map((each) => [each.dataset.cause, each.textContent])"):
            assert cause not in above_0 or not re.search(r", 0(\.0+)?\]", words), words

    def check_the_ledger_takes_a_span_of_time_and_seconds_have_intervals(self):
        self.browser.wait_for(lambda: self.api("blame")["pairs"])
        self.open_and_wait("jobs?t=1h")
        self.browser.wait("document.querySelector('nav a[data-view=blame]').getAttribute('href') === '#/blame?t=1h'")
        self.open_and_wait("blame?t=1h")
        self.browser.wait("document.querySelector('select[aria-label=\"Span of time\"]')?.value === '1h'")
        self.browser.wait("/ – .* (s|min|h)$/.test(document.querySelector('table[aria-label=Pairs] td[data-name^=\"Time lost\"] small')?.textContent)")
        self.open_and_wait("blame?from=5&to=6")
        self.browser.wait("document.querySelector('main .empty')?.textContent.includes('in this span')")

    def check_lists_take_a_span_of_time_from_the_address(self):
        for view in ("jobs", "episodes", "incidents"):
            self.open_and_wait(view + "?t=1h")
            self.browser.wait("document.querySelector('select[aria-label=\"Span of time\"]')?.value === '1h'")
            self.browser.wait("document.querySelector('nav a[data-view=jobs]').getAttribute('href') === '#/jobs?t=1h'")
            self.browser.wait("document.querySelector('main table tbody tr')")
        self.open_and_wait("jobs?from=5&to=6")
        self.browser.wait("document.querySelector('main .empty')?.textContent.includes('No job matches')")

    def check_a_region_opens_with_its_history(self):
        self.open_and_wait("fabric")
        self.browser.wait_for(lambda: self.api("fabric")["regions"])
        self.browser.wait("document.querySelector('table[aria-label=Regions] tbody a[href^=\"#/region/\"]')")
        self.browser.run("document.querySelector('table[aria-label=Regions] tbody a[href^=\"#/region/\"]').click()")
        self.browser.wait("location.hash.startsWith('#/region/')")
        self.browser.wait(DRAWN, ".uplot canvas", 3)
        self.browser.wait("document.querySelectorAll('table[aria-label=Timeline] tbody tr').length > 0")
        self.browser.wait("document.querySelectorAll('table[aria-label=Links] tbody a[href^=\"#/series/\"]').length > 0")
        first = "document.querySelector('table[aria-label=Timeline] td[data-name=Change]').textContent"
        change = self.browser.run("return " + first)
        assert change == "began" or change.startswith("split off"), change

    def check_a_file_system_has_its_rate_and_jobs(self):
        mounts = self.api("files")["mounts"]
        if not mounts:
            return
        self.open("files?mount=" + mounts[0]["mount"])
        self.browser.wait("document.querySelector('main h1').textContent.includes(arguments[0])", mounts[0]["mount"])
        self.browser.wait(DRAWN, ".uplot canvas", 3)
        self.browser.wait("document.querySelectorAll('table[aria-label=\"Running jobs by rate\"] tbody tr').length > 0")
        for metric in self.api("files")["metrics"]:
            self.browser.run("[...document.querySelectorAll('nav[aria-label=Metric] a')].find((a) => a.textContent.startsWith(arguments[0])).click()", metric["title"])
            self.browser.wait("document.querySelector('nav[aria-label=Metric] a[aria-current]')?.textContent.startsWith(arguments[0])", metric["title"])
            self.browser.wait("document.querySelector('.card.figure .under').textContent.startsWith(arguments[0])", metric["title"])

    def check_health_lists_producers(self):
        self.open("health")
        self.browser.wait("document.querySelectorAll('table[aria-label=Producers] tbody tr').length > 0")

    def contended_time(self):
        """The end of the step of the history with most contended links, while a link of the map is contended; false before."""
        history = self.api("history")
        for links, start in sorted(zip(history["links"], history["time"]), reverse=True)[:5]:
            at = start + history["step_s"]
            if links and at < history["clock"] and "2" in self.api(f"map/now?at={at}")["edges"]:
                return at
        return False

    def check_the_map_is_drawn_and_moves_to_a_single_port(self):
        self.open_and_wait("map")
        self.browser.wait(DRAWN, ".map-canvas", 3)
        names = self.api("map")["vertices"]["name"]
        shown = "Number(document.querySelector('.map-canvas').dataset.switches)"
        every = self.browser.wait(shown)
        assert every == self.api("map")["switches"], every
        # Keys: a switch is reached, zoomed in and opened.
        self.browser.run("document.querySelector('.map-canvas').focus()")
        self.browser.keys("right", "right")
        first = self.browser.wait("document.querySelector('.map-canvas').dataset.focused")
        assert first in names, first
        assert self.browser.wait("document.querySelector('.map-body .tip:not([hidden]) b')?.textContent") == first
        self.browser.keys("enter")
        self.browser.wait("location.hash.includes('vertex=')")
        rows = "Number(document.querySelector('table[aria-label=\"Links of the switch\"]')?.dataset.rows)"
        self.browser.wait(rows + " === arguments[0]", len(self.api(f"map?vertex={first}")["links"]))
        self.browser.run("for (let i = 0; i < 4; i += 1) document.querySelector('.map-button').click()")
        self.browser.wait(shown + " < arguments[0]", every)
        self.browser.run("document.querySelector('table[aria-label=\"Links of the switch\"] tbody a').click()")
        self.browser.wait("location.hash.startsWith('#/series/')")

    def check_a_job_lights_up_on_the_map(self):
        self.browser.wait_for(lambda: self.api("jobs?state=running")["jobs"])
        self.open_and_wait("map")
        self.browser.wait("document.querySelector('.map-jobs button')")
        self.browser.wait("(document.querySelector('.map-jobs button')?.click(), document.querySelector('.map-canvas').dataset.lit)")
        assert "job=" in self.browser.run("return location.hash")

    def check_the_map_shows_contended_links_of_an_earlier_time(self):
        at = self.browser.wait_for(self.contended_time)
        self.open_and_wait(f"map?at={at:.0f}")
        self.browser.wait("document.querySelectorAll('table[aria-label=\"Contended links of the map\"] tbody tr').length > 0")
        self.browser.wait("document.querySelector('.rewind').dataset.live === 'no'")
        # A usual drawing takes less than a frame of 30 a second; another program may delay a single one.
        self.browser.wait("Number(document.querySelector('.map-canvas').dataset.medianMs) < 33")

    def check_now_is_rewound_by_keys_and_pointer_and_returns_to_live(self):
        self.open_and_wait("now")
        self.browser.wait("document.querySelector('.rewind-strip svg')")
        words = "document.querySelector('.rewind-words').textContent"
        self.browser.wait(words + ".startsWith('live')")
        self.browser.run("document.querySelector('.rewind-strip').focus()")
        self.browser.keys("left", "left", "left")
        self.browser.wait("location.hash.includes('at=')")
        title = "document.querySelector('.figure:last-child .name').textContent"
        self.browser.wait(title + " === 'Time shown, UTC'")
        shown = "document.querySelector('.figure:last-child .number').textContent"
        first = self.browser.run("return " + shown)
        at = float(self.browser.run("return location.hash.split('at=')[1]"))
        past = self.api(f"map/now?at={at}")
        self.browser.wait("document.querySelector('.figure .number').textContent === String(arguments[0])", past["links"]["contended"])
        # The pointer moves the handle to the beginning of the strip.
        self.browser.run("""const strip = document.querySelector('.rewind-strip'); const { left, top, width } = strip.getBoundingClientRect();
            strip.setPointerCapture = () => {};
            for (const [kind, x] of [['pointerdown', 0.6], ['pointermove', 0.2], ['pointerup', 0.2]])
                strip.dispatchEvent(new PointerEvent(kind, { clientX: left + width * x, clientY: top + 5, bubbles: true }));""")
        self.browser.wait(shown + " !== arguments[0]", first)
        self.browser.run("[...document.querySelectorAll('.rewind button')].find((b) => b.textContent === 'Back to live').click()")
        self.browser.wait(title + " === 'Event clock, UTC' && !location.hash.includes('at=')")

    def check_rewind_counts_live_what_the_tiles_count(self):
        self.open("jobs")
        # Another history than the ticks have, as one of some seconds before is.
        self.browser.run("""const before = window.fetch;
            window.fetch = async (path, ...more) => {
                const answer = await before(path, ...more);
                if (!String(path).includes('/history')) return answer;
                const history = await answer.json();
                for (const name of ['links', 'clients']) history[name] = history[name].map(() => 99999);
                return new Response(JSON.stringify(history), { headers: { 'Content-Type': 'application/json' } });
            };""")
        self.browser.run("location.hash = '#/now'")
        self.browser.wait("document.querySelector('.rewind-strip svg')")
        self.browser.wait("""(() => {
            const [links, clients] = [...document.querySelectorAll('.figure .number')].map((n) => n.textContent.replace('–', '0'));
            const words = document.querySelector('.rewind-words').textContent;
            return words.startsWith(`live · ${links} link`) && words.includes(` and ${clients} client`);
        })()""")

    def check_a_time_that_is_not_stored_is_reported(self):
        self.open_and_wait("now?at=1000000000")
        self.browser.wait("document.querySelector('main .empty strong')?.textContent === 'Not kept'")
        self.open_and_wait("map?at=1000000000")
        self.browser.wait("document.querySelector('.map-note').textContent.startsWith('Not kept')")

    def check_the_fabric_and_file_systems_take_a_span_of_time(self):
        self.browser.wait_for(lambda: self.api("regions")["regions"])
        for view in ("fabric", "files"):
            self.open_and_wait(view + "?t=1h")
            self.browser.wait("document.querySelector('select[aria-label=\"Span of time\"]')?.value === '1h'")
        self.open_and_wait("fabric?from=5&to=6")
        self.browser.wait("document.querySelector('main .empty')?.textContent.includes('in this span')")

    def check_missing_objects_are_reported(self):
        known = list(self.errors)
        for view in ("episode/4000000000", "region/4000000000", "job/no-such-job", "series/no/such", "nowhere"):
            self.open(view)
            self.browser.wait("document.querySelector('main .empty strong')?.textContent.length > 5")
        # These requests return 404, which the browser logs as an error.
        self.collect_logs()
        self.errors = known
