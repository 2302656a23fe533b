"""The guide: served as a site, and everything in it that can run is run."""
import html.parser
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import urllib.parse

from harness import PATIENCE_S, ApiTest, Server, binary, environment, unique

ROOT = pathlib.Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs/guide"


def typescript():
    """Return the compiler of the web interface's build, with the types of Node.js."""
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

    def blocks(self, kind):
        """Return (page, text) of every code block with this info string."""
        return [(page.name, text) for page in sorted(GUIDE.glob("*.md"))
                for mark, text in re.findall(r"(?ms)^```([^\n]*)\n(.*?)^```$", page.read_text()) if mark == kind]

    def test_no_block_is_left_out(self):
        tested = {"sh run", "sh server", "sh sso", "sh make", "ini", "nginx"}
        for page in sorted(GUIDE.glob("*.md")):
            marks = re.findall(r"(?ms)^```([^\n]*)\n.*?^```$", page.read_text())
            self.assertLessEqual(set(marks), tested, page.name)

    def test_every_server_starts(self):
        """Run each block that starts a server, with the files that it names."""
        for page, text in self.blocks("sh server"):
            with self.subTest(f"{page}: {text}"):
                folder, env = self.environment()
                pathlib.Path(folder, "admin-password").write_text("correct horse battery staple")
                subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                                "-nodes", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"],
                               cwd=folder, check=True, capture_output=True)
                words = shlex.split(text.replace("/etc/corvo", folder).replace("./data", f"{folder}/data").replace("\\\n", " "))
                password = f"$(cat {folder}/admin-password)"
                words = ["correct horse battery staple" if word == password else word for word in words]
                self.assertEqual(words[:2], ["corvo", "server"])
                server = Server(*words[2:])  # fails if the server does not become ready
                self.addCleanup(server.discard)

    def test_single_sign_on_is_set(self):
        """The provider of the example does not exist: the command reports that, and stores the settings."""
        blocks = self.blocks("sh sso")
        self.assertGreaterEqual(len(blocks), 2)
        for page, text in blocks:
            password = "correct horse battery staple"
            with self.subTest(f"{page}: {text}"), \
                    Server("--trusted-proxies", "10.0.0.7", "--admin-password", password) as server:
                folder, env = self.environment()
                api = server.client().with_headers(X_API_Key=password)
                done = subprocess.run(["sh", "-ec", text], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S,
                                      check=False, env={**env, "CORVO_URL": f"http://127.0.0.1:{server.port}",
                                                   "CORVO_API_KEY": password})
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn(api.must(api.get("/api/v1/settings/sso"))["provider"], text)

    def test_metrics_exist(self):
        self.api.enqueue(unique("guide"))
        exported = set(re.findall(r"(?m)^(corvo_\w+)", self.api.get("/metrics").body.decode()))
        for page in sorted(GUIDE.glob("*.md")):
            named = set(re.findall(r"`(corvo_[a-z_]+)", page.read_text())) - {"corvo_role", "corvo_roles", "corvo_namespace"}
            self.assertLessEqual(named, exported, page.name)

    def test_targets_of_make_exist(self):
        for page, text in self.blocks("sh make"):
            for target in re.findall(r"make (\w+)", text):
                with self.subTest(f"{page}: {target}"):
                    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_units_and_proxies_are_well_formed(self):
        """Checked by the program that reads them, where it is installed."""
        for page, text in self.blocks("ini"):
            if shutil.which("systemd-analyze"):
                folder, env = self.environment()
                unit = pathlib.Path(folder, "worker.service")
                unit.write_text(text.replace("/usr/local/bin/corvo", os.path.join(folder, "corvo"))
                                .replace("EnvironmentFile=", "EnvironmentFile=-"))
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True,
                                      text=True, check=False, env=env)
                self.assertNotIn("worker.service", done.stderr, page)
        for page, text in self.blocks("nginx"):
            if shutil.which("nginx"):
                folder, env = self.environment()
                whole = f"events {{}}\npid {folder}/pid;\nhttp {{ server {{ listen 127.0.0.1:1; {text} }} }}\n"
                pathlib.Path(folder, "nginx.conf").write_text(whole)
                done = subprocess.run(["nginx", "-t", "-p", folder, "-c", "nginx.conf"], capture_output=True, text=True,
                                      check=False, env=env)
                self.assertEqual(done.returncode, 0, f"{page}: {done.stderr}")

    def prepare(self, name, folder, env):
        """Return the command that runs an example, or None if its language is not installed."""
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
