#!/usr/bin/env python3
"""Run the black-box tests of the command line and count them, like integration/api/run.py.

  run.py [--binary PATH] [--jobs N] [-v] [PATTERN…]
"""
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
API = HERE.parent / "api"


def main():
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("api_run", API / "run.py")
    api_run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api_run)
    sys.path.insert(0, str(API))  # for its harness
    api_run.HERE = HERE
    return api_run.main()


if __name__ == "__main__":
    sys.exit(main())
