/*
 * Rest_sdb: the Scheduled-DB API (scheduler.md): jobs that the server delivers, with names chosen
 * by clients.
 *
 * A thin layer: each of its jobs is a job of the reserved queue with a target
 * (fsm/command/push_target.h) and a name, and is otherwise a normal job. Times are in seconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "core/job.h"

struct rest_sdb_config {
    bool enabled;
    int64_t execution_timeout_ms;
    int64_t max_attempts;
    enum job_backoff backoff;
    int64_t retry_base_ms, retry_max_ms;
    uint64_t memory_limit; /* maximum bytes of its jobs, as the contract counts them */
    uint64_t job_limit;
    uint64_t body_limit; /* 0: no separate limit */
    double failure_threshold;
    struct str ok_word;
    struct str auth_token; /* for /join; empty: none */
};

struct rest_sdb_config rest_sdb_config_default(void);

/* Parse a positive number of bytes: "2GB", "500 mb", "1024KB", "1073741824" (scheduler.md 10). */
bool rest_sdb_config_bytes(struct str text, uint64_t *out);
