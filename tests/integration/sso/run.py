#!/usr/bin/env python3
"""Run the tests of single sign-on with an identity provider from npm: every *_test.mjs here.

    run.py WORK [PART OF A FILE'S NAME …]

WORK gets the packages that package-lock.json names, when that file has changed. The program under
test is the one that CORVO_BINARY names; CORVO_UI_MODULES is where the packages of the web
interface's build are, of which the test in a browser needs a driver.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import npm_tests  # noqa: E402

sys.exit(npm_tests.main(HERE, "CORVO_SSO_MODULES"))
