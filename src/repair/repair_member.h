/*
 * Repair_member: the two small files that say who a node is and what it has voted, `identity` and
 * `raft/ballot`.
 *
 * Every job is in the state and the log, but without these files no server starts. A node that is
 * the only member of its cluster can get new ones: no other node remembers a vote or a number of
 * it. Another member must not: it could vote twice, or be taken for another.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "os/os_file.h"
#include "raftlog/manifest.h"
#include "raftlog/wal.h"

struct repair_member {
    struct os_file_path identity, ballot;
    bool identity_lost, ballot_lost; /* damaged, or missing though the log has entries */
    struct err identity_err, ballot_err;
    uint64_t vote;      /* of the ballot; 0: none */
    uint64_t node;      /* of the identity */
    uint64_t last_term; /* of the log, or of the snapshot before it */
    uint64_t only;      /* the id of the only member; 0: there are others, or it is not known */
};

/* Examine the files. content: the log. snapshot: the newest readable one; NULL if there is none. */
void repair_member_examine(struct repair_member *m, const char *data_dir,
                           const struct wal_content *content, const struct manifest *snapshot);

/* Can the lost files be written anew? */
bool repair_member_can_mend(const struct repair_member *m);

/* Write them anew. The lost files were moved aside before. */
ATTR_NODISCARD enum err_code repair_member_mend(const struct repair_member *m, const char *data_dir,
                                                struct err *err);
