#!/usr/bin/env python3
"""Fail if a file cites a section of docs/contract/ that does not exist.

A citation is a page and section numbers ("http-api.md 5.2, 6.3 to 6.5, 8.1"), "contract" and numbers
in the tests of the API (which means http-api.md), or "§" and a number in a page of docs/contract/.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTRACT = ROOT / "docs/contract"
NUMBER = r"\d+(?:\.\d+)*"
LIST = rf"(?:§|sections? )?({NUMBER}(?:(?:,| and| to|, and)\s+{NUMBER})*)(?![\w%])"


def sections(page):
    """Return the numbers of the page's headings, and of its numbered list items as SECTION.ITEM."""
    found, inside = set(), None
    for line in page.read_text(encoding="utf-8").splitlines():
        if heading := re.match(rf"#+ ({NUMBER})\b", line):
            inside = heading[1]
            found.add(inside)
        elif inside and (item := re.match(r"(\d+)\. ", line)):
            found.add(f"{inside}.{item[1]}")
    return found


def citations(name, text, pages):
    """Yield every (line, page, section) that the text cites."""
    # Replace the line breaks of comments with blanks. The offsets stay the same.
    flat = re.sub(r"\n[ \t]*(?:\*|//|#)?", lambda m: " " * len(m[0]), text)
    rules = [(rf"\b({'|'.join(pages)})\.md\)?[,:]?\s+{LIST}", None)]
    if name.startswith("tests/integration/api/"):
        rules.append((rf"\b(contract)\s+{LIST}", "http-api"))
    if name.startswith("docs/contract/"):
        rules.append((rf"(?<!\.md )(?<!\.md\) )(§){LIST}", pathlib.Path(name).stem))
    for pattern, page in rules:
        for found in re.finditer(pattern, flat):
            for number in re.findall(NUMBER, found[2]):
                yield text.count("\n", 0, found.start()) + 1, page or found[1], number


def main():
    pages = {p.stem: sections(p) for p in CONTRACT.glob("*.md") if p.stem != "README"}
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split("\n")
    problems, count = [], 0
    for name in names:
        path = ROOT / name
        if not name.endswith((".c", ".h", ".py", ".md", ".mjs", ".ts", ".tsx")) or not path.exists():
            continue
        for line, page, number in citations(name, path.read_text(encoding="utf-8"), pages):
            count += 1
            if number not in pages[page]:
                problems.append(f"{name}:{line}: {page}.md has no section {number}")
    if count == 0:
        problems.append("no citation found: the pattern of check_citations.py is wrong")
    print("\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
