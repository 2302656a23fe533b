#!/usr/bin/env python3
"""Fail on unwanted content in the C sources: banned functions, files that are too long, unfinished notes,
// comments, tabs and trailing blanks, and headers without a comment at the top."""
import pathlib
import re
import subprocess
import sys

BANNED = ("strcpy strcat sprintf vsprintf gets strtok atoi atol strtol sscanf alloca rand time "
          "localtime gmtime system popen").split()
FILE_LINES, HEADER_LINES = 800, 250

# Files with a good reason to be longer. The list may only get shorter.
LONGER = {}

root = pathlib.Path(__file__).resolve().parent.parent
banned = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
note = re.compile(r"\b(TODO|FIXME|XXX)\b")
problems = []
files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], cwd=root,
                       capture_output=True, text=True, check=True).stdout.split()
for name in files:
    path = root / name
    if not path.exists():
        continue
    text = path.read_text()
    lines = text.splitlines()
    limit = LONGER.get(name, HEADER_LINES if name.endswith(".h") else FILE_LINES)
    if len(lines) > limit:
        problems.append(f"{name}: {len(lines)} lines, at most {limit}")
    code = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    code = re.sub(r'"(\\.|[^"\\\n])*"', '""', code)
    for number, line in enumerate(code.splitlines(), 1):
        if found := banned.search(line):
            problems.append(f"{name}:{number}: {found[1]} is banned")
        if re.search(r"(?<!:)//", line):
            problems.append(f"{name}:{number}: // is for notes that are not committed")
    for number, line in enumerate(lines, 1):
        if note.search(line):
            problems.append(f"{name}:{number}: an unfinished note")
        if line.rstrip() != line or "\t" in line:
            problems.append(f"{name}:{number}: white space at the end, or a tab")
    if name.endswith(".h") and name.startswith("src/") and not text.startswith("/*"):
        problems.append(f"{name}: the first lines must say what it is for")
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
