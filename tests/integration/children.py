"""The processes that tests start: their environment, and how they are stopped for a while.

A child gets the variables that are listed here and those that its test names, nothing else: what
the caller's shell exports, and what Python itself adds to its own environment (PEP 538: LC_CTYPE),
must not decide whether a test passes.
"""
import os
import signal

# Where programs, the home folder and temporary files are, and how sanitizers report.
KEPT = ("PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")
DEFAULTS = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8", "TZ": "UTC"}


def environment(extra=None):
    """The whole environment of a child: the same on every machine, and what the test adds."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**DEFAULTS, **kept, **(extra or {})}


def pause(process):
    """Stop all its threads; it does nothing any more when this returns."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
