"""Where browser.py gets axe-core: the version of axe/package-lock.json, by npm."""

import pathlib
import shutil
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).parent / "axe"
RUN = """return axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? '')).join(' | ')))"""


def source():
    """The script, or (None, why) where it is not available."""
    if shutil.which("npm") is None:
        return None, "no npm"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(FOLDER / name, folder)
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(install, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None, f"npm ci failed: {done.stderr.strip()[-200:]}"
        return (pathlib.Path(folder) / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8"), None
