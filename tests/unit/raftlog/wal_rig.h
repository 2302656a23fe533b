/*
 * Wal_rig: a wal in a temporary folder, on a separate loop, for tests.
 *
 * Entries are generated from their index and term, so that the content can be checked without
 * storing it elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "lib/tmpdir.h"
#include "raftlog/wal.h"

struct wal_rig {
    struct tmpdir dir;
    struct wal_config config; /* may be changed while closed */
    uint64_t covered_index;
    uv_loop_t loop;
    struct wal *wal;
    struct wal_content content; /* as it was when opened */
    uint64_t next_index;
    uint64_t term; /* of new entries */
    unsigned pending;
    bool started;
};

/* Initialize with segments of 4 KiB, durable. The wal is not opened yet. */
void wal_rig_init(struct wal_rig *r);
void wal_rig_deinit(struct wal_rig *r);

/* Open the wal in the folder. wal_rig_open also starts it, and must succeed. */
enum err_code wal_rig_try(struct wal_rig *r, struct err *err);
void wal_rig_open(struct wal_rig *r);
void wal_rig_close(struct wal_rig *r);

/* Submit an operation. wal_rig_wait runs the loop until everything submitted is done. */
void wal_rig_append(struct wal_rig *r, unsigned count, size_t bytes);
void wal_rig_truncate(struct wal_rig *r, uint64_t index);
void wal_rig_drop(struct wal_rig *r, uint64_t index);
void wal_rig_reset(struct wal_rig *r, uint64_t index, void (*prepare)(struct wal_op *op));
void wal_rig_wait(struct wal_rig *r);

/* Run the loop until the condition holds. */
void wal_rig_until(struct wal_rig *r, bool (*holds)(struct wal_rig *r));

/* Generate one entry, as wal_rig_append does. The bytes are from raft_malloc. */
struct raft_entry wal_rig_entry(uint64_t index, uint64_t term, size_t bytes);

/* Check that the content is the entries from first to last, each generated with the given term. */
void wal_rig_assert_content(const struct wal_rig *r, uint64_t first, uint64_t last, uint64_t term);
void wal_rig_assert_entry(const struct raft_entry *e, uint64_t index, uint64_t term);
