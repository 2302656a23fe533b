#!/usr/bin/env python3
"""Run the two commands of the README in a fresh Debian root, with an empty environment.

    fresh.py [--keep | --reuse ROOT] [--skip-run] [--test [STEP …]]

Creates a root with debootstrap, make and git, from the mirror that apt on this machine uses. Clones the
checked-out commit into it and runs `make run` there. Waits until /healthz succeeds, runs every curl line of
the README, and stops the server as Ctrl-C does. With --test it also runs `make test` there, or only the named
steps of the gate. Needs root privileges and a free port 8080. The root is removed at the end, except with
--keep. --reuse continues in a kept root with a new clone, and keeps it. All processes and mounts of the root
end with the script.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PORT = 8080
START_PATIENCE_S = 3600  # packages and two builds
SUITE = "bookworm"
INSIDE = "/root/corvo"


def say(text):
    print(f"== {text}", flush=True)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def mirror():
    """Return the URL from which apt on this machine downloads the suite."""
    rows = output("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages")
    for uri, release in (line.split() for line in rows.splitlines()):
        if release == SUITE:
            return uri
    sys.exit(f"apt is not set up for {SUITE}")


def apt_network():
    """Return the apt options that this machine needs for its mirror: proxies, and whether expired lists are
    accepted."""
    wanted = re.compile(r"^Acquire::(.*Proxy.*|Check-Valid-Until) ", re.M | re.I)
    return "".join(line + "\n" for line in output("apt-config", "dump").splitlines() if wanted.match(line))


def make_root(root):
    say(f"a fresh Debian {SUITE} with make and git")
    subprocess.run(["debootstrap", "--variant=minbase", "--include=make,git", SUITE, root, mirror()],
                   check=True, stdout=subprocess.DEVNULL)
    (root / "etc/apt/apt.conf.d/99network").write_text(apt_network())
    for name in ("etc/resolv.conf", "etc/hosts"):
        shutil.copy(f"/{name}", root / name)
    # Copy this machine's CA certificates, so that a network that uses a private CA works in the root, too.
    trusted = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
    if trusted.exists():
        local = root / "usr/local/share/ca-certificates"
        local.mkdir(parents=True, exist_ok=True)
        shutil.copy(trusted, local / "machine.crt")


def clone(root):
    shutil.rmtree(f"{root}{INSIDE}", ignore_errors=True)
    say("a clean clone of " + output("git", "-C", ROOT, "log", "-1", "--format=%h %s").strip())
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, f"{root}{INSIDE}"], check=True)


class Inside:
    """A command in the root, with an empty environment and separate process and mount namespaces."""

    def __init__(self, root, *command):
        # The root must be a mount point, as on a real machine, because ip netns changes its propagation.
        script = ('set -e; mount --bind "$0" "$0"; mount --rbind /dev "$0/dev"; mount --rbind /sys "$0/sys"; '
                  'mount -t proc proc "$0/proc"; root=$0; exec /usr/bin/env -i /usr/sbin/chroot "$root" '
                  f'/usr/bin/env -i -C {INSIDE} "$@"')
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, root, *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True)
        self.lines = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            print(f"   {line}", end="", flush=True)

    def wait(self, patience_s=None):
        code = self.process.wait(patience_s)
        self.reader.join()
        return code

    def interrupt(self):
        """Act like Ctrl-C: send SIGINT to the whole process group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def discard(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # the namespace kills everything inside it
        self.wait()


def is_healthy():
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/healthz", timeout=5) as answer:
            return answer.status == 200
    except (OSError, urllib.error.URLError):
        return False


def run_readme_lines():
    """Run every curl line of the README, in order. JOB_ID is replaced with the job_id of the last response that had
    one."""
    lines = re.findall(r"^curl .*$", (ROOT / "README.md").read_text(), re.M)
    if not lines:
        sys.exit("the README has no curl line")
    job_id = ""
    for line in lines:
        command = line.replace("JOB_ID", job_id).replace("curl -s", "curl -sS --fail-with-body --max-time 60")
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        print(f"   $ {line}\n   {done.stdout.strip()[:200]}{done.stderr.strip()}", flush=True)
        if done.returncode != 0:
            sys.exit(f"a line of the README failed: {line}")
        answer = json.loads(done.stdout)
        job_id = answer.get("job_id", job_id) if isinstance(answer, dict) else job_id


def check_run(root):
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            sys.exit(f"something listens on port {PORT} already")
    say("make run")
    began = time.monotonic()
    inside = Inside(root, "make", "run")
    try:
        while not is_healthy():
            if inside.process.poll() is not None or time.monotonic() - began > START_PATIENCE_S:
                sys.exit("make run did not come to a server that answers /healthz")
            time.sleep(0.5)
        say(f"the server answers after {time.monotonic() - began:.0f} s; the lines of the README")
        run_readme_lines()
        inside.interrupt()
        inside.wait(60)
        if not any('"msg":"stopped"' in line for line in inside.lines):
            sys.exit("the server did not stop well")
    finally:
        inside.discard()


def check_test(root, steps):
    say("make test" + (f", steps {', '.join(steps)}" if steps else ""))
    inside = Inside(root, "make", "test", f"STEPS={shlex.join(steps)}")
    try:
        if inside.wait() != 0:
            sys.exit("make test failed")
    finally:
        inside.discard()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--keep", action="store_true", help="keep the root and print where it is")
    parser.add_argument("--reuse", metavar="ROOT", type=pathlib.Path, help="go on in a root that was kept, and keep it")
    parser.add_argument("--skip-run", action="store_true", help="leave make run out")
    parser.add_argument("--test", nargs="*", metavar="STEP", help="make test too, or these steps of it")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("fresh.py needs root, for debootstrap and chroot")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    root = options.reuse or pathlib.Path(tempfile.mkdtemp(prefix="corvo-fresh-", dir="/var/tmp"))
    try:
        if not options.reuse:
            make_root(root)
        clone(root)
        if not options.skip_run:
            check_run(root)
        if options.test is not None:
            check_test(root, options.test)
    finally:
        if options.keep or options.reuse:
            say(f"kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    say("passed")


if __name__ == "__main__":
    main()
