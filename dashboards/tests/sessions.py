"""Checks of browser.py for logging in and silencing: a `tailback serve` over the demo's store that wants tokens."""

import pathlib
import tempfile

import axe
from outage import Served, Skipped

READ, SILENCE = "a-token-to-read-with", "a-token-to-silence-with"
LOG_IN = """const box = document.querySelector('form.login input'); box.value = arguments[0]; box.form.requestSubmit();"""
SIZES = {"desk": (1440, 900), "laptop": (1280, 800), "phone": (390, 844)}


class SessionChecks:
    """Checks of the page of a server that wants a token; browser.py defines the rest."""

    def check_a_reader_logs_in_and_out_and_may_silence_with_the_right_token(self):
        if self.program is None or self.store is None:
            raise Skipped("needs --program and --store")
        errors, hosts, url = list(self.errors), set(self.hosts), self.url
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, name) for name in ("read", "silence")]
            for file, token in zip(files, (READ, SILENCE)):
                file.write_text(token)
            server = Served(self.program, self.store, ["--token-file", str(files[0]), "--silence-token-file", str(files[1])])
            try:
                server.start(self.browser)
                self.url = f"http://{server.address}"
                self.log_in_and_out()
                self.silence_and_end(server)
            finally:
                server.kill()
                self.browser.call("POST", "/url", {"url": "about:blank"})
                self.collect_logs()
                # The browser logs each refused request as an error.
                self.errors, self.hosts, self.url = errors, hosts, url

    def log_in_and_out(self):
        self.open("jobs")
        self.browser.wait("document.querySelector('form.login')")
        assert self.browser.run("return document.querySelector('#log-out').hidden")
        self.look("login")
        self.browser.run(LOG_IN, "a-token-that-is-wrong")
        self.browser.wait("document.querySelector('form.login [role=status]').textContent === 'wrong token'")
        self.browser.run(LOG_IN, READ)
        # The page returns to the view of the address.
        self.browser.wait("document.querySelectorAll('table[aria-label=Jobs] tbody tr').length > 0")
        self.browser.wait("document.querySelector('#link-state').dataset.state !== 'waiting'")
        self.open_and_wait("alerts")
        assert not self.browser.run("return document.querySelector('.silence-form')"), "a reader may not silence"
        assert not self.browser.run("return document.cookie"), "scripts see the cookie"
        self.browser.run("document.querySelector('#log-out').click()")
        self.browser.wait("document.querySelector('form.login') && document.querySelector('#log-out').hidden")

    def silence_and_end(self, server):
        self.browser.run(LOG_IN, SILENCE)
        self.browser.wait("document.querySelector('.silence-form')")
        self.browser.run("""const [labels, author, comment] = document.querySelectorAll('.silence-form input');
            labels.value = 'alertname=no_such_rule subject=a router'; author.value = 'ann'; comment.value = 'test'; labels.form.requestSubmit();""")
        row = "document.querySelector('table[aria-label=Silences] tbody tr')"
        self.browser.wait(row + "?.textContent.includes('subject=a router')")
        self.look("silencing")
        self.browser.run("return " + row + ".querySelector('button').click()")
        self.browser.wait("!" + row)
        # A session ends with its server: the open page asks for the token again.
        server.kill()
        server.start(self.browser)
        self.browser.wait("document.querySelector('form.login')")

    def look(self, name):
        """Rules of axe, width, and a picture in every size and scheme."""
        script, _ = axe.source()
        for scheme in ("light", "dark"):
            self.browser.devtools("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for device, size in SIZES.items():
                self.browser.resize(*size, phone=device == "phone")
                self.browser.wait("document.documentElement.dataset.scheme === arguments[0]", scheme)
                if self.folder is not None:
                    self.folder.mkdir(parents=True, exist_ok=True)
                    self.browser.picture(self.folder / f"{name}-{device}-{scheme}.png")
                faults = self.faults(device, size, script)
                assert not faults, f"{name} {device} {scheme}: {faults}"
        self.browser.resize(*SIZES["laptop"])
