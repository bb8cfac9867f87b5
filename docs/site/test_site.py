"""The site: its links, its search, and in Chromium the page that judges commands as the program does.

`ENGINE=FILE.wasm DOORWARD_BINARY=PATH` tries the page in Chromium, too; without them only what needs no browser.
"""

import functools
import html
import http.server
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

CALLS = 1000
DRIVER = """<script>
const ready = () => window.doorward && document.getElementById("verdict").textContent !== "loading …";
const wait = setInterval(async () => {
  if (!ready()) return;
  clearInterval(wait);
  const loaded = performance.now();
  const world = JSON.parse(document.getElementById("world").value);
  const calls = await (await fetch("calls.json")).json();
  const shown = document.getElementById("verdict").textContent;
  const answers = calls.map((call) => window.doorward({ ...call, world }));
  const took = performance.now() - loaded;
  await fetch("answers", { method: "POST", body: JSON.stringify({ loaded, shown, took, answers: answers.map(({ effects, ...rest }) => rest) }) });
}, 5);
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.server.said.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(204)
        self.end_headers()


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="doorward-site-"))
        cls.site = cls.room / "site"
        cls.engine = os.environ.get("ENGINE")
        words = ["--engine", cls.engine] if cls.engine else []
        cls.ran = subprocess.run([sys.executable, HERE / "build.py", "--out", cls.site, *words], capture_output=True, text=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.room)

    def test_no_link_is_broken(self):
        self.assertEqual(self.ran.returncode, 0, self.ran.stdout + self.ran.stderr)

    def test_every_address_in_every_page_is_there(self):
        for page in self.site.rglob("*.html"):
            text = page.read_text()
            # No page but the one that tries commands may name another place to load from.
            for address in re.findall(r'(?:href|src)="([^"]*)"', text):
                if re.match(r"https?:|mailto:", address):
                    continue
                path, _, anchor = html.unescape(address).partition("#")
                target = (page.parent / path).resolve() if path else page
                self.assertTrue(target.is_file(), f"{page.name}: {address}")
                if anchor:
                    self.assertIn(f'id="{anchor}"', target.read_text(), f"{page.name}: {address}")

    def test_a_broken_link_is_found(self):
        import build

        menu = build.pages()
        writer = build.Writer(menu, False)
        page = writer.by_source["README.md"]
        page.text += "\n[a](docs/nowhere.md) [b](ARCHITECTURE.md#no-such-heading) [c](#neither)\n"
        for _, group in menu:
            for other in group:
                writer.body(other)
        writer.check()
        self.assertEqual(len(writer.broken), 3, writer.broken)

    def test_the_index_has_every_page_and_its_words(self):
        text = (self.site / "pages.js").read_text()
        found = json.loads(text[len("const PAGES = "):-2])
        self.assertEqual({page["at"] for page in found} | ({"try.html"} if self.engine else set()), {str(path.relative_to(self.site)) for path in self.site.rglob("*.html")})
        self.assertTrue(any("statusline" in page["text"] for page in found))

    def test_the_page_judges_as_the_program_does(self):
        browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if not (self.engine and browser):
            self.skipTest("ENGINE is not set, or Chromium is not installed")
        calls = []
        for path in sorted((ROOT / "corpus").glob("*.jsonl")):
            for line in path.read_text().splitlines():
                row = json.loads(line)
                if not set(row) & {"world", "user_message", "agent", "mode", "config", "root", "attended", "session"}:
                    calls.append({"tool": row["tool"], "input": row["input"], **({"cwd": row["cwd"]} if "cwd" in row else {})})
        # Spread over all files.
        calls = calls[:: max(1, len(calls) // CALLS)][:CALLS]
        self.assertEqual(len(calls), CALLS)
        (self.room / "calls.jsonl").write_text("".join(json.dumps({"id": at, **call}) + "\n" for at, call in enumerate(calls)))
        ran = subprocess.run([os.environ["DOORWARD_BINARY"], "check", "--jsonl", self.room / "calls.jsonl", "--world", ROOT / "corpus/world.json"], capture_output=True, text=True, check=True)
        wanted = [json.loads(line) for line in ran.stdout.splitlines()]
        (self.site / "calls.json").write_text(json.dumps(calls))
        page = (self.site / "try.html").read_text()
        (self.site / "driver.html").write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page) + DRIVER)
        handler = functools.partial(Quiet, directory=str(self.site))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            server.said = queue.Queue()
            threading.Thread(target=server.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{server.server_port}/"
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", f"--user-data-dir={self.room}/profile"]
            plain = subprocess.run([*command, "--virtual-time-budget=60000", "--dump-dom", address + "try.html"], capture_output=True, text=True, timeout=180).stdout
            # In real time, and with a browser that has just been started.
            running = subprocess.Popen([*command, "--remote-debugging-port=0", address + "driver.html"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                said = server.said.get(timeout=120)
            finally:
                running.kill(), running.wait()
            server.shutdown()
        self.assertTrue(said["shown"].startswith("BLOCK"), said["shown"])
        self.assertIn("BLOCK", plain, "with the page's own security policy")
        different = []
        for call, ours, theirs in zip(calls, said["answers"], wanted):
            same = [reason["because"] for reason in ours.get("reasons", [])] == theirs["reasons"]
            if not same or any(ours.get(name) != theirs.get(name) for name in ("verdict", "cleared_by", "settled_by", "rule", "coverage")):
                different.append((call, ours, theirs))
        self.assertEqual(different[:3], [], f"{len(different)} of {CALLS} differ")
        self.assertLessEqual(said["loaded"], 2000, "milliseconds until the first verdict was on the page")
        print(f"\n{CALLS} calls judged alike; first verdict after {said['loaded']:.0f} ms, all after {said['took']:.0f} ms more", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
