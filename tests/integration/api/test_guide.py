"""The guide: served as a site, and everything in it that can be run, run."""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse

from harness import PATIENCE_S, ApiTest, binary, environment, unique

ROOT = pathlib.Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs/guide"


def typescript():
    """The compiler of the web interface's build, with the types of Node.js beside it."""
    modules = ROOT / "build/ui/node_modules"
    types = ["--types", "node", "--typeRoots", str(modules / "@types")]
    return [str(modules / ".bin/tsc"), "--strict", "--target", "es2022", "--module", "esnext",
            "--moduleResolution", "bundler", "--skipLibCheck", *types]


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.links |= {values[name] for name in ("href", "src") if name in values}
        self.ids |= {values["id"]} if "id" in values else set()


class Site(ApiTest):
    def test_every_page_is_there_and_every_link_leads_somewhere(self):
        self.assertEqual(self.api.get("/docs/guide").headers["location"], "/docs/guide/")
        todo, pages = {"/docs/guide/"}, {}
        while todo:
            path = todo.pop()
            answer = self.api.get(path)
            self.assertEqual(answer.status, 200, path)
            self.assertIn("content-security-policy", answer.headers)
            pages[path] = Links(answer.body.decode() if answer.headers["content-type"].startswith("text/html") else "")
            for link in pages[path].links:
                target = urllib.parse.urlsplit(urllib.parse.urljoin(path, link))
                self.assertEqual((target.scheme, target.netloc), ("", ""), f"{path}: {link} leads elsewhere")
                if target.path.startswith("/docs/guide/") and target.path not in pages:
                    todo.add(target.path)
        self.assertGreaterEqual(len(pages), 14)
        for path, page in pages.items():
            for link in page.links:
                target = urllib.parse.urlsplit(urllib.parse.urljoin(path, link))
                if target.fragment:
                    self.assertIn(target.fragment, pages[target.path].ids, f"{path}: {link}")
        self.assertEqual(self.api.get("/docs/guide/nowhere.html").status, 404)

    def test_a_page_that_did_not_change_is_not_sent_again(self):
        first = self.api.get("/docs/guide/concepts.html")
        again = self.api.get("/docs/guide/concepts.html", headers={"If-None-Match": first.headers["etag"]})
        self.assertEqual((again.status, again.body), (304, b""))


class Snippets(ApiTest):
    def environment(self):
        folder = tempfile.mkdtemp(prefix="corvo-guide-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.symlink(os.path.abspath(binary()), os.path.join(folder, "corvo"))
        url = f"http://127.0.0.1:{type(self).server.port}"
        path = os.pathsep.join((folder, os.environ.get("PATH", "/usr/bin:/bin")))
        return folder, {**environment({"CORVO_URL": url}), "PATH": path, "HOME": os.environ.get("HOME", folder)}

    def test_every_block_that_is_marked_runs(self):
        if not (shutil.which("jq") and shutil.which("curl")):
            self.skipTest("the guide uses curl and jq")
        ran = 0
        for page in sorted(GUIDE.glob("*.md")):
            folder, env = self.environment()
            for block in re.findall(r"(?ms)^```sh run\n(.*?)^```", page.read_text()):
                with self.subTest(f"{page.name}: {block.splitlines()[0]}"):
                    done = subprocess.run(["sh", "-ec", block], cwd=folder, env=env, capture_output=True, text=True,
                                          timeout=PATIENCE_S, check=False)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    ran += 1
        self.assertGreater(ran, 8)

    def prepare(self, name, folder, env):
        """The command that runs an example; None if its language is not installed here."""
        source = str(GUIDE / "examples" / name)
        interpreters = {".py": "python3", ".mjs": "node", ".sh": "sh", ".rb": "ruby", ".php": "php"}
        program = os.path.join(folder, "worker")
        compilers = {".c": ["cc", "-Wall", "-Werror", source, "-lcurl", "-o", program],
                     ".go": ["go", "build", "-o", program, source],
                     ".rs": ["rustc", "-D", "warnings", "--edition", "2021", "-o", program, source],
                     ".ts": [*typescript(), source, "--outDir", folder]}
        ending = os.path.splitext(name)[1]
        if ending in interpreters:
            return [interpreters[ending], source] if shutil.which(interpreters[ending]) else None
        if shutil.which(compilers[ending][0]) is None:
            return None
        built = subprocess.run(compilers[ending], cwd=folder, capture_output=True, text=True, check=False, env=env)
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        if ending == ".ts":
            pathlib.Path(folder, "package.json").write_text('{"type": "module"}')
            return ["node", os.path.join(folder, "worker.js")]
        return [program]

    def test_every_worker_works(self):
        ran = set()
        for name in sorted(p.name for p in (GUIDE / "examples").iterdir()):
            with self.subTest(name):
                self.assertIn(f"(examples/{name})", (GUIDE / "workers.md").read_text())
                folder, env = self.environment()
                run = self.prepare(name, folder, env)
                if run is None:
                    continue
                queue = unique("guide")
                job = self.api.enqueue(queue, {"to": "ada@example.com"})
                done = subprocess.run([*run, queue, "--once"], cwd=folder, env=env, capture_output=True, text=True,
                                      timeout=PATIENCE_S, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = self.api.job(job)
                self.assertEqual(found["state"], "completed", name)
                self.assertIn(found["result"], ({"greeted": "ada@example.com"}, {"done": True}))
                ran.add(name)
        self.assertLessEqual({"worker.py", "worker.c"}, ran)
