#!/usr/bin/env python3
"""Run all checks that a change must pass, cheap checks first, and count the results.

Each step is a command. A step that runs ctest counts as its tests, any other step as one. There are
two lanes, each with one step at a time, in the order of the table: one for work (builds, linters) and one
for tests. Tests wait about as often as they compute, and the work lane uses the time they leave: it has a
lower priority (nice). Steps whose result would be distorted by load run alone, at the end.

A step is announced when it begins. Its numbers follow when it ends. Its output is in build/gate/NAME.log,
and printed if the step failed: its last lines first, because they say what failed. After a failure no other
step begins, unless the failed step was a test: the remaining tests may report more. `gate.py NAME …` runs
only those steps.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

CORES = os.cpu_count() or 2
LOGS = pathlib.Path("build/gate")
SHOWN = 40000  # characters of a failed step
LAST = 1500  # characters that are shown first

WORK, TEST, ALONE = "work", "test", "alone"  # the lanes
NICE = ["nice", "-n", "5"]


def build(preset, *targets):
    return [["cmake", "--preset", preset],
            ["cmake", "--build", "--preset", preset, "-j", str(CORES), "--target", *targets]]


def ctest(preset, *extra):
    """Return the ctest command. It runs one test more than there are cores, because suites of whole processes wait
    about as often as they compute."""
    return [["ctest", "--test-dir", f"build/{preset}", "-j", str(CORES + 1), "--output-on-failure",
             "--no-tests=error", *extra]]


# The modules with threads. The others gain nothing from ThreadSanitizer, and one of their tests opens a store in a
# forked child, which ThreadSanitizer cannot follow.
THREADED = ["os", "raftnet", "raftlog", "kv", "auth", "event", "outgoing", "courier", "http", "cluster", "engine",
            "audit", "view", "webhook", "trace", "sso", "discover", "svc", "relay", "front", "hub", "rest"]

# Which tests run in which build:
# - with a sanitizer: unit tests, saved fuzz inputs, the API tests and crashes. Builds without one would show
#   nothing more.
# - with optimization: simulations, because they take long.
# - in the release: the suites of whole processes, because users run the release.
#
# Lane, name, step that must have passed before, commands.
STEPS = [
    (WORK, "layers", None, [["python3", "tools/check_layers.py"]]),
    (WORK, "docs", None, [["python3", "tools/docs.py", "check"]]),
    (WORK, "source", None, [["python3", "tools/check_source.py"]]),
    (WORK, "citations", None, [["python3", "tools/check_citations.py"]]),
    (WORK, "format", None, [["tools/format.sh", "--check"]]),
    (WORK, "asan build", None, build("asan", "corvo", "crash_child", "lossy_disk", "names", "unit_tests", "replays")),
    (WORK, "symbols", None, [["python3", "tools/check_symbols.py", "build/asan"],
                             ["python3", "tools/check_circles.py", "build/asan"]]),
    (TEST, "asan tests", "asan build", ctest("asan", "-LE", "sim", "-E", "integration/(cli|failover)")),
    (WORK, "count build", None, build("count", "corvo", "simulations")),
    (TEST, "count tests", "count build", ctest("count", "-R", "^sim/")),
    (WORK, "ui", None, [["python3", "tools/ui.py", "check", "build/ui"]]),
    (WORK, "profile", None, [["tools/profile.py"]]),
    (WORK, "release build", None, build("release", "corvo", "nemesis", "names")),
    (TEST, "release tests", "release build", ctest("release", "-L", "integration", "-E", "integration/(api|crash|member)")),
    (WORK, "tsan build", None, build("tsan", *(f"{name}_test" for name in THREADED))),
    (TEST, "tsan tests", "tsan build", ctest("tsan", "-R", f"unit/({'|'.join(THREADED)})$")),
    (WORK, "cppcheck", None, [["tools/cppcheck.sh"]]),
    (WORK, "clang-tidy", None, [["tools/tidy.sh"]]),
    (ALONE, "instructions", None, [["python3", "-B", "bench/instructions.py", "build/count/corvo"]]),
]


class Step:
    """A step of the table and, once it has begun, its progress."""

    def __init__(self, lane, name, after, commands):
        self.lane, self.name, self.after, self.commands = lane, name, after, list(commands)
        self.path = LOGS / f"{name.replace(' ', '-')}.log"
        self.process, self.began, self.cpu_s = None, 0.0, 0.0
        self.ok = None  # None until it has ended

    def begin(self):
        print(f"-- {self.name}", flush=True)
        self.began = time.monotonic()
        self.path.unlink(missing_ok=True)
        self.next_command()

    def next_command(self):
        command = self.commands.pop(0)
        with open(self.path, "ab") as log:
            self.process = subprocess.Popen((NICE if self.lane == WORK else []) + command, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)

    def command_ended(self, status, usage):
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s += usage.ru_utime + usage.ru_stime
        if self.process.returncode == 0 and self.commands:
            self.next_command()
        else:
            self.ok = self.process.returncode == 0

    def report(self):
        """Print the result. Return the numbers of passed and failed tests."""
        output = self.path.read_text(errors="replace")
        passed, failed = int(self.ok), int(not self.ok)
        if found := re.findall(r"(\d+) tests failed out of (\d+)", output):
            failed = max(failed, int(found[-1][0]))
            passed = int(found[-1][1]) - int(found[-1][0])
        print(f"== {self.name}\n   {'ok' if self.ok else 'FAILED'}: {passed} passed, {failed} failed, "
              f"{time.monotonic() - self.began:.0f} s ({self.cpu_s:.0f} s of CPU)", flush=True)
        if not self.ok:
            print(f"…{output[-LAST:]}\n   the output of {self.name}, which is in {self.path}:\n{output[-SHOWN:]}", flush=True)
        return passed, failed


def next_step(lane, waiting, under_way):
    """Return the first step of the lane that may begin now, or None. The lane must be free, and the step that it
    needs must have ended."""
    busy = {step.lane for step in under_way}
    if lane in busy or ALONE in busy or (lane == ALONE and busy):
        return None
    pending = {step.name for step in waiting + under_way}
    return next((step for step in waiting if step.lane == lane and step.after not in pending), None)


def run(waiting):
    """Run the steps. Return the numbers of passed and failed tests."""
    under_way, passed_total, failed_total = [], 0, 0
    while True:
        for lane in (WORK, TEST, ALONE):
            if step := next_step(lane, waiting, under_way):
                waiting.remove(step)
                under_way.append(step)
                step.begin()
        if not under_way:
            return passed_total, failed_total
        pid, status, usage = os.wait4(-1, 0)
        step = next(step for step in under_way if step.process.pid == pid)
        step.command_ended(status, usage)
        if step.ok is None:
            continue
        under_way.remove(step)
        passed, failed = step.report()
        passed_total += passed
        failed_total += failed
        if not step.ok and not step.name.endswith(" tests"):
            waiting.clear()


def main():
    wanted = sys.argv[1:]
    if unknown := set(wanted) - {name for _, name, _, _ in STEPS}:
        sys.exit(f"gate.py: no step is called {', '.join(sorted(unknown))}")
    LOGS.mkdir(parents=True, exist_ok=True)
    passed, failed = run([Step(*step) for step in STEPS if not wanted or step[1] in wanted])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
