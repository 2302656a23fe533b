#!/usr/bin/env python3
"""Run everything that gates a landing, the cheap refusals first, and count.

Each step is a command. A step that runs ctest counts as its tests, any other step as one. The output
of a step that fails is shown, and the gate stops, unless it was a test: those that follow may have
more to say. `gate.py NAME …` runs only those steps.
"""
import os
import re
import subprocess
import sys
import time

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

CORES = os.cpu_count() or 2


def build(preset, *targets):
    configure = ["cmake", "--preset", preset]
    make = ["cmake", "--build", "--preset", preset, "-j", str(CORES)]
    return [configure, make + (["--target", *targets] if targets else [])]


def ctest(preset, *extra):
    """One test more than there are cores: suites of whole processes wait as often as they work."""
    return [["ctest", "--test-dir", f"build/{preset}", "-j", str(CORES + 1), "--output-on-failure",
             "--no-tests=error", *extra]]


# The modules with threads; the others gain nothing from ThreadSanitizer, and a test of theirs opens a
# store in a forked child, which it cannot follow.
THREADED = ["os", "raftnet", "raftlog", "kv", "auth", "event", "outgoing", "courier", "http", "cluster", "engine",
            "audit", "view", "webhook", "sso", "discover", "svc", "relay", "front", "hub", "rest"]

# What runs where: unit tests, saved fuzz inputs, requests and crashes where a sanitizer watches (a build
# without one would show nothing more), simulations and crashes where the compiler optimises, because they
# are long, and in the release the suites of whole processes, because that is what people run.
STEPS = [
    ("layers", [["python3", "tools/check_layers.py"]]),
    ("docs", [["python3", "tools/docs.py", "check"]]),
    ("source", [["python3", "tools/check_source.py"]]),
    ("citations", [["python3", "tools/check_citations.py"]]),
    ("format", [["tools/format.sh", "--check"]]),
    ("ui", [["python3", "tools/ui.py", "check", "build/ui"]]),
    ("asan build", build("asan", "corvo", "crash_child", "lossy_disk", "names", "unit_tests", "replays")),
    ("symbols", [["python3", "tools/check_symbols.py", "build/asan"], ["python3", "tools/check_circles.py", "build/asan"]]),
    ("asan tests", ctest("asan", "-LE", "sim", "-E", "integration/(cli|failover)")),
    ("profile", [["tools/profile.py"]]),
    ("release build", build("release", "corvo", "nemesis", "names")),
    ("release tests", ctest("release", "-L", "integration", "-E", "integration/(api|crash)")),
    ("count build", build("count", "corvo", "crash_child", "lossy_disk", "simulations")),
    ("count tests", ctest("count", "-R", "^sim/|^integration/crash")),
    ("instructions", [["python3", "-B", "bench/instructions.py", "build/count/corvo"]]),
    ("tsan build", build("tsan", *(f"{name}_test" for name in THREADED))),
    ("tsan tests", ctest("tsan", "-R", f"unit/({'|'.join(THREADED)})$")),
    ("clang-tidy", [["tools/tidy.sh"]]),
    ("cppcheck", [["tools/cppcheck.sh"]]),
]


def run(commands):
    """Run the commands of one step; return success, the number of tests, how many failed, output."""
    output, passed, failed, tests = [], 0, 0, False
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        output.append(done.stdout)
        if found := re.search(r"(\d+) tests failed out of (\d+)", done.stdout):
            tests = True
            failed += int(found[1])
            passed += int(found[2]) - int(found[1])
        if done.returncode != 0:
            return False, passed, max(failed, 1), "".join(output)
    return True, passed if tests else 1, failed, "".join(output)


def main():
    wanted = sys.argv[1:]
    passed_total = failed_total = 0
    for name, commands in STEPS:
        if wanted and name not in wanted:
            continue
        start = time.monotonic()
        print(f"== {name}", flush=True)
        ok, passed, failed, output = run(commands)
        passed_total += passed
        failed_total += failed
        print(f"   {'ok' if ok else 'FAILED'}: {passed} passed, {failed} failed, "
              f"{time.monotonic() - start:.0f} s", flush=True)
        if not ok:
            print(output[-20000:])
            if not name.endswith(" tests"):
                break
    print(f"{passed_total} passed, {failed_total} failed")
    return 1 if failed_total else 0


sys.exit(main())
