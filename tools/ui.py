#!/usr/bin/env python3
"""Build or check the web interface in a separate folder, so that the source tree stays clean.

    ui.py build [--required] WORK   build into WORK/dist, each file with its compressed forms
    ui.py check WORK                run lint, type checks and unit tests

WORK contains a copy of ui/ and the packages that package-lock.json names. Packages are installed when
that file has changed, and the interface is built when any of its sources has. If a build fails, for
example without a network, WORK/dist is removed and an error is printed. The exit status is then 1 only
with --required.
"""
import fcntl
import hashlib
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "ui"
SKIPPED = {"node_modules", "dist", "README.md"}
LOCKED = ("package.json", "package-lock.json", ".npmrc")


def sources():
    for path in sorted(SOURCE.rglob("*")):
        relative = path.relative_to(SOURCE)
        if path.is_file() and relative.parts[0] not in SKIPPED:
            yield relative


def digest(names):
    whole = hashlib.sha256()
    for name in names:
        data = (SOURCE / name).read_bytes()
        whole.update(f"{name} {len(data)}\n".encode() + data)
    return whole.hexdigest()


def stamp(path):
    return path.read_text() if path.exists() else ""


def run(work, *command):
    print("ui.py:", *command, flush=True)
    subprocess.run(command, cwd=work, check=True)


def run_beside(work, *scripts):
    """Run scripts of package.json at the same time. Print the output of each when it ends."""
    running = [subprocess.Popen(("npm", "run", "--silent", script), cwd=work, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for script in scripts]
    for script, process in zip(scripts, running):
        print(f"ui.py: npm run {script}\n{process.communicate()[0]}", flush=True)
    for process in running:
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, process.args)


def copy_sources(work):
    """Make the copy identical to the source. Files that were removed from the source are deleted, so that their
    tests no longer run."""
    wanted = set(sources())
    for path in [p for p in work.rglob("*") if p.is_file()]:
        relative = path.relative_to(work)
        if relative.parts[0] not in SKIPPED and not relative.name.startswith(".stamp") \
                and relative not in wanted:
            path.unlink()
    for name in wanted:
        target = work / name
        data = (SOURCE / name).read_bytes()
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def install(work):
    wanted, installed = digest(LOCKED), work / ".stamp-installed"
    if stamp(installed) != wanted:
        installed.unlink(missing_ok=True)
        run(work, "npm", "ci", "--no-audit", "--no-fund")
        installed.write_text(wanted)


def build(work):
    wanted, built = digest(sources()), work / ".stamp-built"
    if stamp(built) == wanted and (work / "dist/index.html").exists():
        return
    built.unlink(missing_ok=True)
    shutil.rmtree(work / "dist", ignore_errors=True)
    install(work)
    run(work, "npm", "run", "--silent", "build")
    built.write_text(wanted)


def main():
    command, *rest = sys.argv[1:]
    required = "--required" in rest
    work = pathlib.Path([a for a in rest if not a.startswith("--")][0])
    work.mkdir(parents=True, exist_ok=True)
    with open(work / ".stamp-lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy_sources(work)
        if command == "check":
            install(work)
            run_beside(work, "lint", "typecheck", "test")
            return 0
        try:
            build(work)
        except (OSError, subprocess.CalledProcessError) as error:
            shutil.rmtree(work / "dist", ignore_errors=True)
            print(f"ui.py: the program is built without the web interface: {error}", file=sys.stderr)
            return 1 if required else 0
    return 0


sys.exit(main())
