"""make install: the installed files and whether they work."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from cli_harness import CliTest, Corvo, Server, binary, environment

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILES = """usr/bin/corvo
usr/share/man/man1/corvo.1
usr/share/man/man1/corvo-server.1
usr/share/bash-completion/completions/corvo
usr/share/zsh/site-functions/_corvo
usr/share/fish/vendor_completions.d/corvo.fish
usr/lib/systemd/system/corvo.service
usr/share/doc/corvo/corvo.conf
etc/corvo/corvo.conf""".split()


class Install(CliTest):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-install-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def install(self, *args, **env):
        done = subprocess.run([ROOT / "tools/install.sh", *args], capture_output=True, text=True, check=False,
                              env=environment({"DESTDIR": str(self.folder), "PREFIX": "/usr", **env}))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def files(self):
        return {str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file()}

    def test_what_is_installed_is_removed_again(self):
        self.install("install", binary())
        self.assertLessEqual(set(FILES), self.files())
        self.assertEqual((self.folder / "etc/corvo/corvo.conf").stat().st_mode & 0o777, 0o600)
        shown = subprocess.run([self.folder / "usr/bin/corvo", "version"], env=environment(), capture_output=True,
                               text=True, check=True).stdout
        self.assertEqual(shown, Corvo("").run("version").stdout)
        subprocess.run(["bash", "-n", self.folder / FILES[3]], env=environment(), check=True)
        self.install("uninstall")
        self.assertEqual(self.files(), set())
        self.install("uninstall")

    def test_a_configuration_of_ones_own_is_kept(self):
        conf = self.folder / "etc/corvo/corvo.conf"
        conf.parent.mkdir(parents=True)
        conf.write_text("bind = :9999\n", encoding="ascii")
        self.assertIn("is kept as it is", self.install("install", binary()))
        self.assertIn("kept because it was changed", self.install("uninstall"))
        self.assertEqual(conf.read_text(encoding="ascii"), "bind = :9999\n")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_accepts_the_unit(self):
        self.install("install", binary(), DESTDIR="", PREFIX=str(self.folder / "usr"),
                     SYSCONFDIR=str(self.folder / "etc"))
        unit = self.folder / "usr/lib/systemd/system/corvo.service"
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], env=environment(),
                              capture_output=True, text=True, check=False)
        ours = [line for line in done.stderr.splitlines() if "corvo" in line]
        self.assertEqual((done.returncode, ours), (0, []))


class Sample(CliTest):
    """The installed sample configuration. The server must accept it, also with every line enabled."""

    def setUp(self):
        self.text = self.ok(Corvo("").run("server", "--sample-config"))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-sample-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, text):
        """Start a server with this configuration. Return its effective settings from the log."""
        path = self.folder / "corvo.conf"
        path.write_text(text, encoding="utf-8")
        with Server("--config", str(path)) as server:
            told = server.events("starting corvo server")[0]
        return {k: v for k, v in told.items() if k not in ("time", "data_dir", "config")}

    def test_each_line_is_a_setting_with_its_default(self):
        lines = re.findall(r"^# ([a-z-]+ =.*)$", self.text, re.M)
        self.assertGreater(len(lines), 20)
        self.assertEqual(self.start("\n".join(lines)), self.start(self.text))

    def test_it_has_every_setting_that_has_an_effect(self):
        described = self.ok(Corvo("").run("server", "--help"))
        named = {name for name, text in re.findall(r"^  --([a-z-]+) +(.*)$", described, re.M)
                 if "without effect" not in text and not text.startswith("Scheduled-DB:")}
        in_sample = set(re.findall(r"^# ([a-z-]+) =", self.text, re.M))
        self.assertEqual(named - in_sample, {"config", "sample-config"})
        self.assertEqual(in_sample - named, set())
