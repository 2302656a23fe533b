"""The version in the file VERSION, everywhere the program reports it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from cli_harness import CliTest, LiveTest, environment
from harness import VERSION

ROOT = pathlib.Path(__file__).resolve().parents[3]
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


class Agreement(LiveTest):
    def test_everything_reports_the_same_version(self):
        told = json.loads(self.ok(self.corvo.run("version", "--output", "json")))
        self.assertEqual(told["version"], VERSION)
        self.assertRegex(told["date"], rf"\A{TIME}\Z")
        line = f"corvo {VERSION} (commit: {told['commit']}, built: {told['date']})\n"
        self.assertEqual(self.ok(self.corvo.run("version")), line)
        self.assertEqual(self.ok(self.corvo.run("--version")), line)
        self.assertEqual(json.loads(self.ok(self.corvo.run("version", "-o", "json"))), told)
        self.assertEqual(self.ok(self.corvo.run("--log-level", "debug", "--version")), line)
        started = self.server.events("starting corvo server")[0]
        self.assertEqual({name: started[name] for name in told}, told)
        api = self.server.client()
        self.assertEqual(api.get("/api/v1/info").json["server_version"], VERSION)
        self.assertEqual(api.get("/openapi.json").json["info"]["version"], VERSION)
        page = self.ok(self.corvo.run("man", "search"))
        self.assertIn(f'.TH "corvo\\-search" "1" "{told["date"][:10]}" "corvo {VERSION}"', page)


class Stamp(CliTest):
    """Runs tools/version.py in a copy of the tree, first without and then with a git folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-version-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "tools").mkdir()
        shutil.copy(ROOT / "tools/version.py", self.folder / "tools")
        (self.folder / "VERSION").write_text("1.2.3\n", encoding="ascii")
        os.utime(self.folder / "VERSION", (1, 1))

    def stamp(self, *flags, env=None):
        target = self.folder / "out.c"
        done = subprocess.run([self.folder / "tools/version.py", *flags, target], env=environment(env),
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr
        return re.findall(r'\[\] = "(.*)";', target.read_text(encoding="ascii"))

    def git(self, *args):
        names = {"GIT_AUTHOR_DATE": "@86400 +0000", "GIT_COMMITTER_DATE": "@86400 +0000"}
        return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *args],
                              cwd=self.folder, env=environment(names), capture_output=True, text=True,
                              check=True).stdout.strip()

    def test_without_a_git_folder_it_has_the_date_of_the_file(self):
        self.assertEqual(self.stamp(), ["1.2.3", "unknown", "1970-01-01T00:00:01Z"])
        self.assertEqual(self.stamp("--plain"), ["1.2.3", "unknown", "unknown"])

    def test_with_a_git_folder_it_has_commit_and_date_of_the_commit(self):
        self.git("init", "-q")
        self.git("add", "VERSION")
        self.git("commit", "-q", "-m", "x")
        commit = self.git("rev-parse", "--short=12", "HEAD")
        self.assertEqual(self.stamp(), ["1.2.3", commit, "1970-01-02T00:00:00Z"])
        self.assertEqual(self.stamp("--plain"), ["1.2.3", "unknown", "unknown"])

    def test_a_given_date_wins_so_that_builds_can_be_repeated(self):
        self.assertEqual(self.stamp(env={"SOURCE_DATE_EPOCH": "1000000000"})[2], "2001-09-09T01:46:40Z")

    def test_what_is_no_version_is_refused(self):
        (self.folder / "VERSION").write_text('1.2"3\n', encoding="ascii")
        self.assertIn("is not a version", self.stamp())
