#!/usr/bin/env python3
"""Run the tests of the RPC service with clients from npm: every *_test.mjs in this folder.

    run.py WORK [PART OF A FILE'S NAME …]

The packages of package-lock.json are installed in WORK when that file has changed. CORVO_BINARY is the
program under test. CORVO_UI_MODULES is the folder with the packages of the web interface's build: the
browser test uses a bundler and a driver from there.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import npm_tests  # noqa: E402

sys.exit(npm_tests.main(HERE, "CORVO_RPC_MODULES"))
