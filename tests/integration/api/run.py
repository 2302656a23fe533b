#!/usr/bin/env python3
"""Run the black-box tests of the HTTP API and count them.

  run.py [--binary PATH] [--jobs N] [-v] [PATTERN…]

Each test class has separate servers, so classes run at the same time. A failure is shown with its traceback.
The last line is "N passed, M failed". A PATTERN selects the tests whose names contain it. Without --binary,
CORVO_BINARY names the program.
"""
import argparse
import concurrent.futures
import os
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # leave no files behind in the source tree


class Result(unittest.TestResult):
    """Records which tests passed and how long each took."""

    def __init__(self):
        super().__init__()
        self.took, self.started_at = {}, 0.0

    def startTest(self, test):
        super().startTest(test)
        self.started_at = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.took[test.id()] = time.monotonic() - self.started_at


def all_tests(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from all_tests(item)
        else:
            yield item


def by_class(tests):
    """Return one suite per class, in the order in which the classes were found."""
    suites = {}
    for test in tests:
        suites.setdefault(type(test), unittest.TestSuite()).addTest(test)
    # Classes with takes_long start first, so that nothing waits for them at the end.
    return sorted(suites.items(), key=lambda item: not getattr(item[0], "takes_long", False))


def run_class(suite):
    result = Result()
    suite.run(result)
    return result


def show(result, verbose):
    """Print the failures. Return the names of the failed tests."""
    wrong = set()
    for test, trace in result.failures + result.errors:
        wrong.add(getattr(test, "test_case", test).id())
        print(f"FAILED {test}\n{trace}", flush=True)
    if verbose:
        for name, took in sorted(result.took.items()):
            print(f"{'FAILED' if name in wrong else 'ok':6} {took:6.2f} s  {name}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--binary", help="the program to test")
    parser.add_argument("--jobs", type=int, default=6, help="test classes at once")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every test")
    parser.add_argument("patterns", nargs="*", help="parts of the names of the tests to run")
    options = parser.parse_args()
    if options.binary:
        os.environ["CORVO_BINARY"] = os.path.abspath(options.binary)
    if not os.access(os.environ.get("CORVO_BINARY", ""), os.X_OK):
        parser.error("neither --binary nor CORVO_BINARY names a program")
    sys.path.insert(0, str(HERE))
    found = unittest.defaultTestLoader.discover(str(HERE), "test_*.py", str(HERE))
    tests = [t for t in all_tests(found)
             if not options.patterns or any(p in t.id() for p in options.patterns)]
    ran, failed, skipped = 0, set(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(run_class, [suite for _, suite in by_class(tests)]):
            failed |= show(result, options.verbose)
            ran += result.testsRun
            skipped += len(result.skipped)
    # A class whose server did not start or stop correctly counts as one more failure.
    outside = sum(1 for name in failed if "Class (" in name)
    passed = ran - skipped - (len(failed) - outside)
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
