#!/usr/bin/env python3
"""Build the documentation site from docs/guide, or check the links of the documentation.

    docs.py build OUT    one HTML page per Markdown file, with a search; uses no external resources
    docs.py check        check that every link of docs/, README.md, ARCHITECTURE.md and CONTRIBUTING.md has a target

Supports a subset of Markdown: headings, paragraphs, lists, tables, fenced code, links, bold, emphasis and
code. Anything else is treated as text.
"""
import html
import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs/guide"
ORDER = ["index", "tutorial", "concepts", "workers", "deployment", "operations", "security", "comparison"]
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#{1,4}) +(.*)$")


def slug(text):
    return re.sub(r"[^a-z0-9_ -]", "", re.sub(r"[`*]", "", text).lower()).strip().replace(" ", "-")


def inline(text, link):
    """Render inline Markdown. Code comes first, because no other markup applies inside it."""
    parts = re.split(r"(`[^`]+`)", text)
    out = []
    for part in parts:
        if part.startswith("`") and part.endswith("`") and len(part) > 1:
            out.append(f"<code>{html.escape(part[1:-1])}</code>")
            continue
        part = html.escape(part, quote=False)
        part = LINK.sub(lambda m: f'<a href="{html.escape(link(m[2]))}">{m[1]}</a>', part)
        part = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", part)
        part = re.sub(r"(?<!\w)\*([^*\s][^*]*)\*(?!\w)", r"<em>\1</em>", part)
        out.append(part)
    return "".join(out)


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def render(text, link):
    """Return the HTML body of a page and its headings as (level, id, text)."""
    lines, out, heads, i = text.split("\n"), [], [], 0
    while i < len(lines):
        line = lines[i]
        heading = HEADING.match(line)
        if line.startswith("```"):
            code = []
            i += 1
            while i < len(lines) and not lines[i].startswith("```"):
                code.append(lines[i])
                i += 1
            out.append(f'<pre tabindex="0"><code>{html.escape(chr(10).join(code))}</code></pre>')
        elif heading:
            level, name = len(heading[1]), heading[2]
            heads.append((level, slug(name), name))
            out.append(f'<h{level} id="{slug(name)}">{inline(name, link)}</h{level}>')
        elif line.startswith("|") and i + 1 < len(lines) and re.match(r"^\|[-: |]+$", lines[i + 1]):
            rows = []
            head = cells(line)
            i += 2
            while i < len(lines) and lines[i].startswith("|"):
                rows.append(cells(lines[i]))
                i += 1
            i -= 1
            head_html = "".join(f"<th>{inline(cell, link)}</th>" for cell in head)
            body = "".join("<tr>" + "".join(f"<td>{inline(c, link)}</td>" for c in row) + "</tr>" for row in rows)
            out.append(f'<div class="table" tabindex="0"><table><thead><tr>{head_html}</tr></thead>'
                       f"<tbody>{body}</tbody></table></div>")
        elif re.match(r"^(- |\d+\. )", line):
            kind = "ul" if line.startswith("- ") else "ol"
            items = []
            while i < len(lines) and re.match(r"^(- |\d+\. |  )", lines[i]):
                if lines[i].startswith("  "):
                    items[-1] += " " + lines[i].strip()
                else:
                    items.append(re.sub(r"^(- |\d+\. )", "", lines[i]))
                i += 1
            i -= 1
            out.append(f"<{kind}>" + "".join(f"<li>{inline(item, link)}</li>" for item in items) + f"</{kind}>")
        elif line.strip():
            words = [line]
            while i + 1 < len(lines) and lines[i + 1].strip() and not re.match(r"^(#|```|\||- |\d+\. )", lines[i + 1]):
                i += 1
                words.append(lines[i])
            out.append(f"<p>{inline(' '.join(words), link)}</p>")
        i += 1
    return "\n".join(out), heads


def page_link(target):
    """Return the address on the site for a link of a guide page."""
    if re.match(r"^[a-z]+:", target) or target.startswith(("#", "/")):
        return target
    path, _, anchor = target.partition("#")
    return path.replace(".md", ".html") + (f"#{anchor}" if anchor else "")


STYLE = """
:root{color-scheme:light dark;--text:#1f2430;--back:#fff;--soft:#f4f5f8;--line:#d9dce3;--link:#4f46e5;--muted:#5b6270}
@media(prefers-color-scheme:dark){:root{--text:#e6e8ee;--back:#14161c;--soft:#1d2029;--line:#333846;--link:#a5b4fc;--muted:#a3aab8}}
*{box-sizing:border-box}body{margin:0;font:16px/1.6 system-ui,sans-serif;color:var(--text);background:var(--back)}
a{color:var(--link)}.shell{display:grid;grid-template-columns:220px minmax(0,1fr);max-width:1100px;margin:auto}
nav{padding:24px 16px;border-right:1px solid var(--line);min-height:100vh}nav a{display:block;padding:4px 8px;border-radius:6px;text-decoration:none}
nav a[aria-current]{background:var(--soft);font-weight:600}main{padding:24px 32px;max-width:820px;min-width:0}
h1{line-height:1.2}h2{margin-top:2em;border-top:1px solid var(--line);padding-top:1em}
pre{background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:12px 14px;overflow:auto;font-size:13.5px}
code{font-family:ui-monospace,monospace;font-size:.92em}p code,li code,td code{background:var(--soft);padding:1px 4px;border-radius:4px}
.table{overflow:auto}table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:6px 10px;text-align:left;vertical-align:top}
th{background:var(--soft)}input{width:100%;padding:7px 9px;border:1px solid var(--line);border-radius:6px;background:var(--back);color:inherit;font:inherit}
#found{list-style:none;padding:0;font-size:14px}#found small{color:var(--muted);display:block}
@media(max-width:767px){.shell{display:block}nav{min-height:0;border:0;border-bottom:1px solid var(--line)}nav .pages{display:flex;flex-wrap:wrap}main{padding:16px}}
"""

SCRIPT = """
const box = document.getElementById("search"), list = document.getElementById("found");
let index = null;
box.addEventListener("input", async () => {
  index ??= await (await fetch("search.json")).json();
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const hits = words.length === 0 ? [] : index.filter((part) => words.every((w) => part.text.toLowerCase().includes(w))).slice(0, 12);
  list.replaceChildren(...hits.map((part) => {
    const item = document.createElement("li"), link = document.createElement("a"), where = document.createElement("small");
    link.href = part.to; link.textContent = part.title; where.textContent = part.page;
    item.append(link, where); return item;
  }));
});
"""


def pages():
    return [GUIDE / f"{name}.md" for name in ORDER]


def title_of(text):
    return HEADING.match(text.split("\n", 1)[0])[2]


def build(out):
    shutil.rmtree(out, ignore_errors=True)
    (out / "examples").mkdir(parents=True)
    for example in sorted((GUIDE / "examples").iterdir()):
        # As .txt, so that a browser shows the file instead of running or saving it.
        shutil.copyfile(example, out / "examples" / (example.name + ".txt"))
    (out / "style.css").write_text(STYLE.strip() + "\n")
    (out / "search.js").write_text(SCRIPT.strip() + "\n")
    texts = {path.stem: path.read_text() for path in pages()}
    index = []
    for name, text in texts.items():
        body, heads = render(text, lambda t: page_link(t) + (".txt" if t.startswith("examples/") else ""))
        nav = "".join(f'<a href="{other}.html"{" aria-current=page" if other == name else ""}>'
                      f"{html.escape(title_of(texts[other]))}</a>" for other in texts)
        (out / f"{name}.html").write_text(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{html.escape(title_of(text))} · Corvo guide</title><link rel=\"stylesheet\" href=\"style.css\"></head>"
            f'<body><div class="shell"><nav aria-label="Guide"><div class="pages">{nav}</div>'
            '<p><input id="search" type="search" placeholder="Search" aria-label="Search the guide"></p>'
            f'<ul id="found"></ul></nav><main>{body}</main></div><script src="search.js"></script></body></html>\n')
        parts = re.split(r"(?m)^(?=#{1,3} )", text)
        for part in parts:
            heading = HEADING.match(part.split("\n", 1)[0])
            if heading:
                index.append({"page": title_of(text), "title": heading[2], "to": f"{name}.html#{slug(heading[2])}",
                              "text": part})
    (out / "search.json").write_text(json.dumps(index, ensure_ascii=False) + "\n")
    print(f"docs: {len(texts)} pages in {out}")


def anchors(path):
    return {slug(m[2]) for m in map(HEADING.match, path.read_text().split("\n")) if m}


def check():
    bad = []
    files = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for path in files:
        text = re.sub(r"(?s)```.*?```", "", path.read_text())
        text = re.sub(r"`[^`\n]*`", "", text)
        for _, target in LINK.findall(text):
            if re.match(r"^[a-z]+:", target) or target.startswith("/"):
                continue
            name, _, anchor = target.partition("#")
            if path.parent == GUIDE and name.startswith(".."):
                bad.append(f"{path.relative_to(ROOT)}: {target}: is not on the site")
            other = (path.parent / name).resolve() if name else path
            if not other.exists():
                bad.append(f"{path.relative_to(ROOT)}: {target}: no such file")
            elif anchor and other.suffix == ".md" and anchor not in anchors(other):
                bad.append(f"{path.relative_to(ROOT)}: {target}: no such heading")
    missing = {p.stem for p in GUIDE.glob("*.md")} ^ set(ORDER)
    bad += [f"docs/guide/{name}.md: not in the order of tools/docs.py, or not there" for name in sorted(missing)]
    for line in bad:
        print(f"docs.py: {line}", file=sys.stderr)
    return 1 if bad else 0


def main():
    if sys.argv[1:2] == ["check"] and len(sys.argv) == 2:
        return check()
    if sys.argv[1:2] == ["build"] and len(sys.argv) == 3:
        build(pathlib.Path(sys.argv[2]))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
