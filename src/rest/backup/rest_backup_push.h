/*
 * Rest_backup_push: the part of a backup that is specific to jobs that the server delivers, and how
 * it is restored.
 *
 * A backup contains credentials only if include_secrets was requested. A job restored without its
 * credentials is held, because it cannot be delivered as intended.
 */
#pragma once

#include "rest/rest_int.h"

/* Members of "restore" in a backup. */
struct rest_backup_push_in {
    struct str push_target;
    int64_t definition, counted_bytes;
    struct wall first_try_at;
};

void rest_backup_push__write(struct json_write *w, const struct job *j, bool secrets);

/* Write the target of a schedule. */
void rest_backup_push__write_target(struct json_write *w, struct str push, bool secrets);

/* Members of a job's document about its delivery. */
struct rest_backup_push_job {
    struct str push, name, cron, cancel_reason, last_outcome;
    struct wall due_at, cron_until;
};

/* Set the delivery members of j, whose other members are set. rest may be NULL. */
void rest_backup_push__read(const struct rest_backup_push_job *in,
                            const struct rest_backup_push_in *rest, struct job *j);
/* The same for the later steps of its chain, if it has one. */
void rest_backup_push__read_chain(struct str chain_config, struct job *j);
