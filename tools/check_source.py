#!/usr/bin/env python3
"""Fail on unwanted content in the C sources: banned functions, names in another style than ours, files that are too
long, unfinished notes, // comments, tabs and trailing blanks, and headers without a comment at the top."""
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
# Names are written like_this, macros and constants LIKE_THIS. The others belong to the compiler and to libraries.
mixed = re.compile(r"\b(?:[a-z]\w*[A-Z]|[A-Z]\w*[a-z])\w*")
foreign = re.compile(r"(BIO|BN|ERR|EVP|OPENSSL|OSSL_PARAM|RAND|SSL|TLS|X509)_\w+|\w*ECDSA_SIG\w*|CURLM?(code|sg)|CURLMsg|"
                     r"(PRI|SCN)[a-z]+\d+|SYS_\w+|_[A-Z][a-z_]+|(in|de)flate\w+|Bytef|uInt|x[A-Z][A-Za-z]+|"
                     r"estimated(Cost|Rows)|rocksdb_\w+")
constants = re.compile(r"\benum\b[\w ]*\{([^}]*)\}")
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
    if name.startswith("src/"):
        plain = re.sub(r"'(\\.|[^'\\\n])*'|^ *#(?:.*\\\n)*.*$", "", code, flags=re.M)
        names = {word for word in mixed.findall(plain) if not foreign.fullmatch(word)}
        for body in constants.findall(plain):
            names |= {word for word in re.findall(r"(?:^|,)\s*(\w+)\s*(?=[,=]|$)", body) if word != word.upper()}
        problems += [f"{name}: {word} is not written like_this or LIKE_THIS" for word in sorted(names)]
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
