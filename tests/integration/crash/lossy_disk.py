"""Put a folder into a state in which a power cut could have left it.

The journal of lossy_disk.c records what was changed and what was flushed. Changes of names (files created,
renamed, removed) are kept up to some point after the last flushed one. Later ones are undone, newest first,
because file systems keep their order. Data is lost in any pattern: each sector that was written and not
flushed has its old or its new content, and a file that grew has any size in between. The path of the folder
must be the one that the process used.
"""
import os
import shutil
import struct

RECORD = struct.Struct("<10Q")
SECTOR = 512
NAMES = "CMRLUX"


class Record:
    def __init__(self, head, path, aside, old):
        kind, self.seq, self.ino, self.dir, self.at, self.length, self.old_size = head[:7]
        self.kind = chr(kind)
        self.path, _, self.source = path.partition("\0")
        self.aside, self.old = aside, old


def read_journal(path):
    records = []
    data = path.read_bytes() if path.exists() else b""
    at = 0
    while at + RECORD.size <= len(data):
        head = RECORD.unpack_from(data, at)
        sizes = head[7:]
        at += RECORD.size
        if at + sum(sizes) > len(data):
            break  # the process died while it wrote this record, so the change was not made
        parts = []
        for size in sizes:
            parts.append(data[at:at + size])
            at += size
        records.append(Record(head, parts[0].decode(), parts[1].decode(), parts[2]))
    return records


def lost_names(records, random):
    """Return the changes of names that do not survive, newest first."""
    changes = [r for r in records if r.kind in NAMES]
    durable = 0
    for flush in (r for r in records if r.kind == "D"):
        for n, change in enumerate(changes):
            if change.seq <= flush.at and flush.ino in (change.dir, change.ino):
                durable = max(durable, n + 1)
    return changes[random.randint(durable, len(changes)):][::-1]


def undo_name(change):
    if change.kind in "CL":
        if os.path.lexists(change.path):
            os.unlink(change.path)
    elif change.kind == "M":
        if os.path.isdir(change.path):
            shutil.rmtree(change.path)  # including later files inside it
    elif change.kind == "X":
        os.makedirs(change.path, exist_ok=True)
    elif change.kind == "U":
        if change.aside and not os.path.exists(change.path):
            os.link(change.aside, change.path)
    elif change.kind == "R":
        if os.path.exists(change.path) and not os.path.exists(change.source):
            os.rename(change.path, change.source)
        if change.aside:
            os.link(change.aside, change.path)


def lost_writes(records):
    """Return the unflushed changes of data, by file."""
    files = {}
    for r in records:
        if r.kind in "WT":
            files.setdefault(r.ino, []).append(r)
        elif r.kind == "S":
            files[r.ino] = [w for w in files.get(r.ino, []) if w.seq > r.at]
    return {ino: writes for ino, writes in files.items() if writes}


def before(now, writes):
    """Return the content of the file before the changes."""
    data = bytearray(now)
    for w in reversed(writes):
        if w.kind == "W":
            data[w.at:w.at + len(w.old)] = w.old
            size = w.old_size
        else:
            size = w.old_size
            data[size - len(w.old):size] = w.old
        del data[size:]
        data.extend(bytes(size - len(data)))
    return bytes(data)


def mixed(old, new, random):
    """Return a content in which some sectors are old and some new."""
    shape = random.random()
    if shape < 0.25:
        return old
    if shape < 0.4:
        return new
    size = random.choice([len(old), len(new), random.randint(min(len(old), len(new)),
                                                             max(len(old), len(new)))])
    keep = random.random()
    out = bytearray(size)
    for at in range(0, size, SECTOR):
        piece = (new if random.random() < keep else old)[at:min(at + SECTOR, size)]
        out[at:at + len(piece)] = piece
    return bytes(out)


class LossyDisk:
    def __init__(self, shim, folder, journal):
        self.shim, self.folder, self.journal = shim, folder, journal
        self.aside = journal.with_name(journal.name + ".aside")
        self.lost_writes = self.lost_names = 0

    def prepare(self, env, kill_at=None):
        """Prepare an empty journal, and set the environment of the process that will be started. kill_at: the number of
        records in the journal after which it is killed."""
        self.journal.unlink(missing_ok=True)
        shutil.rmtree(self.aside, ignore_errors=True)
        self.aside.mkdir()
        env["LD_PRELOAD"] = str(self.shim)
        env["LOSSY_DIR"] = str(self.folder)
        env["LOSSY_JOURNAL"] = str(self.journal)
        if kill_at is not None:
            env["LOSSY_KILL_AT"] = str(kill_at)
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"

    def count(self):
        """Return the number of records that the process has written."""
        return len(read_journal(self.journal))

    def lose(self, random, lies=False):
        """Simulate a power cut, after the process has died. A disk that lies has ignored all flushes."""
        records = read_journal(self.journal)
        if lies:
            records = [r for r in records if r.kind not in "SD"]
        names = lost_names(records, random)
        writes = lost_writes(records)
        for change in names:
            undo_name(change)
        paths = {}
        for root, _, files in os.walk(self.folder):
            for name in files:
                path = os.path.join(root, name)
                paths[os.stat(path).st_ino] = path
        for ino, changes in writes.items():
            if ino in paths:
                with open(paths[ino], "r+b") as f:
                    new = f.read()
                    content = mixed(before(new, changes), new, random)
                    f.seek(0)
                    f.write(content)
                    f.truncate()
        self.lost_writes += sum(len(changes) for changes in writes.values())
        self.lost_names += len(names)
