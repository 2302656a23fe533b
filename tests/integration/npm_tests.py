"""Run the *_test.mjs files of a folder with the npm packages of its package-lock.json.

    main(folder, variable): run.py WORK [PART OF A FILE'S NAME …]

The packages are installed in WORK when that file has changed. The variable passes the path of WORK to the
tests.
"""
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

LOCKED = ("package.json", "package-lock.json", ".npmrc")


def install(here, work):
    work.mkdir(parents=True, exist_ok=True)
    with open(work / ".stamp-lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted, stamp = b"".join((here / name).read_bytes() for name in LOCKED), work / ".stamp-installed"
        if stamp.exists() and stamp.read_bytes() == wanted:
            return
        stamp.unlink(missing_ok=True)
        for name in LOCKED:
            shutil.copyfile(here / name, work / name)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, check=True)
        stamp.write_bytes(wanted)


def main(here, variable):
    work, *parts = sys.argv[1:]
    install(here, pathlib.Path(work))
    tests = [str(path) for path in sorted(here.glob("*_test.mjs"))
             if not parts or any(part in path.name for part in parts)]
    done = subprocess.run(["node", "--test", "--test-concurrency=2", *tests], check=False,
                          env={**os.environ, variable: str(pathlib.Path(work).resolve())})
    return done.returncode
