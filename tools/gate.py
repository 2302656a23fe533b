#!/usr/bin/env python3
"""Run everything that gates a landing, the cheap refusals first, and count.

Each step is a command. A step that runs ctest counts as its tests, any other step as one. The output
of a step that fails is shown, and the gate stops, unless it was a test: those that follow may have
more to say. `gate.py NAME …` runs only those steps.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

JOBS = str(os.cpu_count() or 2)


def build(preset, *targets):
    configure = ["cmake", "--preset", preset]
    make = ["cmake", "--build", "--preset", preset, "-j", JOBS]
    return [configure, make + (["--target", *targets] if targets else [])]


def ctest(preset, *extra):
    return [["ctest", "--test-dir", f"build/{preset}", "-j", JOBS, "--output-on-failure",
             "--no-tests=error", *extra]]


# The modules with threads; the others gain nothing from ThreadSanitizer, and a test of theirs opens a
# store in a forked child, which it cannot follow.
THREADED = ["os", "raftnet", "raftlog", "kv", "auth", "event", "outgoing", "courier", "http", "cluster", "engine",
            "audit", "view", "webhook", "sso", "discover", "svc", "relay", "front", "hub", "rest"]

SIMULATIONS = sorted(path.stem for path in pathlib.Path("tests/sim").glob("*_sim.c"))

# What runs where: unit tests and saved fuzz inputs where a sanitizer watches (a build without one
# would show nothing more), simulations in the release because they are long, the suites of whole
# processes in the release because that is what people run, and those of requests and of crashes in
# both.
STEPS = [
    ("layers", [["python3", "tools/check_layers.py"]]),
    ("docs", [["python3", "tools/docs.py", "check"]]),
    ("source", [["python3", "tools/check_source.py"]]),
    ("citations", [["python3", "tools/check_citations.py"]]),
    ("format", [["tools/format.sh", "--check"]]),
    ("ui", [["python3", "tools/ui.py", "check", "build/ui"]]),
    ("asan build", build("asan")),
    ("symbols", [["python3", "tools/check_symbols.py", "build/asan"], ["python3", "tools/check_circles.py", "build/asan"]]),
    ("asan tests", ctest("asan", "-LE", "sim", "-E", "integration/(cli|failover)")),
    ("profile", [["tools/profile.py"]]),
    ("release build", build("release", "corvo", "crash_child", "lossy_disk", "nemesis", *SIMULATIONS)),
    ("release tests", ctest("release", "-L", "integration|sim")),
    ("tsan build", build("tsan", *(f"{name}_test" for name in THREADED))),
    ("tsan tests", ctest("tsan", "-R", f"unit/({'|'.join(THREADED)})$")),
    ("count build", build("count", "corvo")),
    ("instructions", [["python3", "-B", "bench/instructions.py", "build/count/corvo"]]),
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
