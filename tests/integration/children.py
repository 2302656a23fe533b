"""The processes that tests start: their environment, and how to pause them.

A child gets the variables that are listed here and those that its test passes, nothing else. Variables
that the caller's shell exports, and those that Python adds to its environment (PEP 538: LC_CTYPE), must
not affect the result of a test.
"""
import os
import signal

# Paths of programs, the home folder and temporary files, and options of sanitizers.
KEPT = ("PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")
DEFAULTS = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8", "TZ": "UTC"}


def environment(extra=None):
    """Return the complete environment of a child: the same on every machine, plus what the test adds."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**DEFAULTS, **kept, **(extra or {})}


def pause(process):
    """Stop all threads of the process. Returns after they have stopped."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
