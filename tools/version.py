#!/usr/bin/env python3
"""Write the C file with the version, commit and date of this build.

    version.py [--plain] FILE

The version is the content of VERSION. The commit is that of the git folder, if there is one. The
date is SOURCE_DATE_EPOCH, else that of the commit, else that of the file VERSION. So the same sources
produce the same bytes. --plain leaves out commit and date, for programs that should not be relinked after
each commit. FILE is rewritten only if its content changes, but its modification time is always updated.
"""
import datetime
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(*args):
    """Return git's output, or an empty string if git or the git folder is missing or the command fails."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *args], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def is_own_git_folder():
    """False if the sources were unpacked inside another project's git folder, whose commit is not theirs."""
    top = git("rev-parse", "--show-toplevel")
    return top != "" and os.path.samefile(top, ROOT)


def date(commit):
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or (git("show", "-s", "--format=%ct", commit) if commit else "")
    if not seconds:
        seconds = (ROOT / "VERSION").stat().st_mtime
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    *flags, target = sys.argv[1:]
    version = (ROOT / "VERSION").read_text().strip()
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9a-z.]+)?", version):
        sys.exit(f"VERSION: {version!r} is not a version like 1.2.3 or 1.2.3-rc.1")
    commit, built = "unknown", "unknown"
    if "--plain" not in flags:
        commit = git("rev-parse", "--short=12", "HEAD") if is_own_git_folder() else ""
        built = date(commit)
    text = ('/* Written by tools/version.py. */\n#include "base/build.h"\n\n'
            f'const char build_release[] = "{version}";\n'
            f'const char build_commit[] = "{commit or "unknown"}";\n'
            f'const char build_date[] = "{built}";\n')
    path = pathlib.Path(target)
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    os.utime(path)  # ninja compares the time with that of the inputs


main()
