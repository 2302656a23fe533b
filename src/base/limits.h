/*
 * Limits: all limits on what clients can send and what the server keeps.
 *
 * Each line has the reason for its number. Names and values that clients can see are those of
 * http-api.md 1.5. If a server setting can change a limit, the number here is the default.
 */
#pragma once

/* clang-format off */
enum {
    /* one job */
    LIMIT_PAYLOAD_BYTES      = 262144,       /* contract default; --max-payload-size */
    LIMIT_QUEUE_NAME_BYTES   = 255,          /* contract */
    LIMIT_UNIQUE_KEY_BYTES   = 512,          /* contract */
    LIMIT_IDEMPOTENCY_KEY_BYTES = 255,       /* Idempotency-Key header: several UUIDs */
    LIMIT_REPLY_KEY_BYTES    = 512,          /* the same, with a prefix */
    LIMIT_WORKER_ID_BYTES    = 255,          /* contract; also the host name */
    LIMIT_WORKER_VERSION_BYTES = 64,         /* version of a worker's program */
    LIMIT_TAGS               = 64,           /* contract: pairs per job */
    LIMIT_TAG_KEY_BYTES      = 128,          /* contract */
    LIMIT_TAG_VALUE_BYTES    = 1024,         /* contract */
    LIMIT_RESULT_BYTES       = 1 << 20,      /* contract; also the checkpoint */
    LIMIT_PROGRESS_BYTES     = 32 * 1024,    /* contract */
    LIMIT_ERROR_BYTES        = 64 * 1024,    /* contract: longer text is truncated */
    LIMIT_BACKTRACE_BYTES    = 256 * 1024,   /* contract: longer text is truncated */
    LIMIT_REASON_BYTES       = 4096,         /* hold, reject and exit reasons: one screen of text */
    LIMIT_CHAIN_STEPS        = 100,          /* contract */
    LIMIT_DEPENDS_ON         = 1000,         /* contract */
    LIMIT_JOB_ERRORS         = 100,          /* errors kept per job; the oldest are removed */
    LIMIT_JOB_TRIES          = 1000,         /* attempts kept per job that the server delivers; the oldest are removed */
    LIMIT_PUSH_BYTES         = 64 * 1024,    /* a push target: its URL, headers and the template of the body */
    LIMIT_PUSH_URL_BYTES     = 8192,         /* longer than any server accepts */
    LIMIT_PUSH_HEADERS       = 32,
    LIMIT_PUSH_HEADER_BYTES  = 4096,         /* one value */
    LIMIT_PUSH_HOST_BYTES    = 264,          /* the longest host name, with a port */
    LIMIT_PUSH_ANSWER_BYTES  = 64 * 1024,    /* contract: part of a response that is kept */
    LIMIT_PUSH_BODY_MS       = 10 * 1000,    /* for the body of a response, after its headers */
    LIMIT_PUSH_LINES         = 512,          /* lines in one claim */
    LIMIT_JOB_NAME_BYTES     = 1024,         /* name of a job, set by its client */
    LIMIT_CRON_BYTES         = 255,
    LIMIT_EVENT_DATA_BYTES   = 60 * 1024,    /* an SSE data line stays below 64 KiB (Go scanner) */
    LIMIT_EVENT_ERROR_BYTES  = 1024,         /* contract: error text inside an event */
    LIMIT_MODEL_NAME_BYTES   = 255,          /* model and provider names in usage reports */
    LIMIT_JSON_VALUE_DEPTH   = 512,          /* nesting of a value from a client: a payload, a result, a checkpoint … */
    LIMIT_JSON_DEPTH         = LIMIT_JSON_VALUE_DEPTH + 32, /* nesting of a document, with such values in it: a request, a response, a backup */

    /* one request */
    LIMIT_ENQUEUE_BATCH      = 10000,        /* contract */
    LIMIT_CLAIM_COUNT        = 512,          /* contract */
    LIMIT_CLAIM_QUEUES       = 256,          /* contract */
    LIMIT_ACK_BATCH          = 512,          /* contract */
    LIMIT_HEARTBEAT_JOBS     = 10000,        /* contract */
    LIMIT_BULK_CHUNK         = 500,          /* contract: ids per step of a background operation */
    LIMIT_BULK_SYNC          = 10000,        /* contract: ids in one command; a larger operation continues in the background */
    LIMIT_BULK_IDS           = 1000000,      /* ids of one operation: more than fit into a body */
    LIMIT_BULK_FILTER_BYTES  = 64 * 1024,    /* a filter is some lines of JSON */
    LIMIT_BULK_OPEN          = 100,          /* background operations that have not ended */
    LIMIT_BULK_KEPT          = 1000,         /* background operations kept, including ended ones */
    LIMIT_BULK_KEPT_MS       = 3600 * 1000,  /* contract: at least this long after their end */
    LIMIT_BULK_QUEUE_JOBS    = 100,          /* jobs that one background step of a clear or delete removes: the maximum delay of other commands */
    LIMIT_BULK_QUEUE_DOCS    = 1000,         /* documents that such a step reads */
    LIMIT_RESTORE_ROWS       = 100000,       /* iterations or usage reports of one restored job */
    LIMIT_RESTORE_CHUNK_BYTES = 4 << 20,     /* size of a backup's part in one command */
    LIMIT_RESTORE_CHUNK_ITEMS = 500,
    LIMIT_OPERATIONS         = 200000,       /* named commands whose results are kept: some seconds at full load */
    LIMIT_OPERATION_BYTES    = 32 << 20,     /* size of these results */
    LIMIT_OPERATIONS_KEPT_MS = 300 * 1000,   /* no client repeats a command after that time */
    LIMIT_OPERATION_STEPS    = 64,           /* entries whose commands one entry removes */
    LIMIT_LEASE_S_MAX        = 86400,        /* contract */
    LIMIT_THROTTLE_RATE      = 1000000,      /* claims remembered per queue: 8 MB */
    LIMIT_NAME_BYTES         = 255,          /* schedule names and similar names */
    LIMIT_NAMESPACE_BYTES    = 63,           /* contract */
    LIMIT_QUEUE_SCOPE_BYTES  = 4096,         /* patterns of the queues that a key may use */
    LIMIT_INTERNAL_NAME_BYTES = LIMIT_NAMESPACE_BYTES + 2 + LIMIT_QUEUE_NAME_BYTES, /* name of a queue, schedule or webhook with namespace and :: */
    LIMIT_WEBHOOKS           = 256,          /* webhooks: each has a queue of deliveries in memory, up to 1 MiB, and reads all events */
    LIMIT_WEBHOOK_URL_BYTES  = 2048,         /* length that all browsers and proxies accept */
    LIMIT_WEBHOOK_EVENTS     = 64,           /* patterns of one webhook; there are fewer types */
    LIMIT_WEBHOOK_SECRET_BYTES = 1024,       /* HMAC-SHA256 gains nothing beyond 64 */
    LIMIT_WEBHOOK_ERROR_BYTES  = 256,        /* last error: one line */
    LIMIT_WEBHOOK_ATTEMPTS   = 25,           /* per event: 16 minutes of delays */
    LIMIT_WORKERS            = 10000,        /* records of workers: 50 MB, with the next limit */
    LIMIT_WORKER_QUEUES_BYTES = 4096,        /* names of a worker's queues, as JSON; the first that fit are kept */
    LIMIT_NODES              = 64,           /* members of the cluster, including removed ones */
    LIMIT_POLICIES           = 4096,         /* approval policies: each is checked when an agent job continues */
    LIMIT_OLD_POLICIES       = 256,          /* the same for entries of versions 1 and 2 */
    LIMIT_BUDGETS            = 4096,         /* budgets: about 4 MB with their names */
    LIMIT_SPEND_TAGS         = 10000,        /* tags whose spending of today is known: about 4 MB */
    LIMIT_SPEND_TAGS_SPACE   = 1000,         /* per namespace; beyond it only with a budget */
    LIMIT_MARKERS            = 1000,         /* per source; the oldest are removed */
    LIMIT_MARKER_TEXT_BYTES  = 200,
    LIMIT_ACCESS_ITEMS       = 1000,         /* access records in one command */
    LIMIT_ACCESS_NAME_BYTES  = 1024,         /* name of an access record */
    LIMIT_ACCESS_BODY_BYTES  = 64 * 1024,    /* body of an access record */
    LIMIT_AUDIT_ITEMS        = 256,          /* entries of the audit log in one command */
    LIMIT_AUDIT_KEPT         = 100000,       /* audit entries kept: about 20 MB */
    LIMIT_AUDIT_TEXT_BYTES   = 1024,         /* of a path or query; longer ones are truncated */
    LIMIT_TICK_JOBS          = 1000,         /* jobs that one timer entry moves, so that the entry stays short */
    LIMIT_STEP_DOCS          = 5000,         /* documents that one step of a purge, clear or delete reads, for the same reason */
    LIMIT_STEP_BYTES         = 16 << 20,     /* bytes that one entry reads and writes before the rest is left to the next: about 20 ms */
    LIMIT_OLD_STEP_BYTES     = 1 << 30,      /* the same for entries of version 1: larger ones could not be applied at that time */

    /* the pipeline */
    LIMIT_ENTRY_OPS          = 1024,         /* operations per log entry */
    LIMIT_ENTRY_BYTES        = 1 << 20,      /* bytes per entry, unless one operation is larger */
    LIMIT_OP_BYTES           = 24 << 20,     /* one operation: a 16 MiB body and its framing */
    LIMIT_PENDING_OPS        = 16384,        /* --raft-max-pending */
    LIMIT_PENDING_BYTES      = 256 << 20,    /* bytes waiting in the pipeline: bounds memory */
    LIMIT_PEER_CHUNK_BYTES   = 1 << 20,      /* entries in one message to a peer, so that heartbeats are not delayed */
    LIMIT_PEER_QUEUE_BYTES   = 64 << 20,     /* unsent data: bounds memory for a dead peer */

    /* data that is kept */
    LIMIT_REPLY_BYTES        = 1 << 30,      /* responses kept for Idempotency-Key: 5 million for single jobs */
    LIMIT_BATCHES_OPEN       = 100000,       /* unsealed batches, at most half of them in one namespace: 40 MB; they are kept until a client seals them */
    LIMIT_BATCH_BYTES        = 256 << 20,    /* callbacks of all batches that have not ended, at most half of it for one namespace: they are in memory */
    LIMIT_EVENTS_KEPT        = 100000,       /* contract: or 24 hours, whichever is less */
    LIMIT_EVENTS_KEPT_MS     = 24 * 3600 * 1000,
    LIMIT_EVENTS_TRIM_MS     = 10 * 60 * 1000, /* additional time, so that events are not removed one by one */
    LIMIT_HISTORY_MINUTES    = 48 * 60,      /* history per minute */
    LIMIT_HISTORY_HOURS      = 90 * 24,      /* history per hour */
    LIMIT_HISTORY_BYTES      = 64 << 20,     /* size of each of the two; the oldest cells are removed: 300 busy queues for two days */
    LIMIT_TALLY_PART_S       = 300,          /* usage per five minutes */
    LIMIT_TALLY_PARTS        = 26 * 12,      /* kept for a day, and the hour in which it begins */
    LIMIT_TALLY_HOURS        = 92 * 24,      /* usage per hour is kept for a quarter of a year */
    LIMIT_TALLY_HOUR_BYTES   = 256 << 10,    /* cells of usage in an hour: by queue, model and provider, at most half for one namespace; and the same by tag, at most a quarter for one key; 2,000 of each */
    LIMIT_STREAM_BEHIND      = 50000,        /* new events after which a reader that accepts nothing is disconnected: half of the log */
    LIMIT_STREAMS            = 1024,         /* event readers per network thread; a slow one can use 128 KiB */
    LIMIT_RATE_CLIENTS       = 65536,        /* clients in the rate limiter: 12 MB */
    LIMIT_FEED_IDS           = 4 << 20,      /* changed jobs that wait to be copied: 160 MB; beyond that, all jobs are compared */
    LIMIT_JQ_BYTES           = 256 << 20,    /* memory of a payload_jq program, in addition to libjq itself */
    LIMIT_DOC_CACHE_BYTES    = 64 << 20,     /* documents kept in memory */
    LIMIT_RESERVE_BYTES      = 128 << 20,    /* reserved disk space, for acks and deletions when the disk is nearly full */
    LIMIT_RESERVE_START_BYTES = 8 << 20,     /* reserved disk space for a start, which writes less than a megabyte */

    /* Maximum cost of one entry, in bytes that it reads and writes. Nothing begins once
     * LIMIT_STEP_BYTES are reached, and work in progress checks the cost after each job. So the
     * maximum is that, plus one job and one command that cannot be split: an enqueue. */
    LIMIT_DOC_BYTES          = LIMIT_OP_BYTES + 2 * LIMIT_RESULT_BYTES + LIMIT_PROGRESS_BYTES + LIMIT_REASON_BYTES + 4096, /* as created; result, checkpoint, progress, reason, names and numbers */
    LIMIT_BATCH_COST_BYTES   = 2 * LIMIT_OP_BYTES + 4096, /* its record, and the callback with the same payload */
    LIMIT_JOB_COST_BYTES     = 2 * LIMIT_DOC_BYTES + 2 * LIMIT_RESULT_BYTES + LIMIT_ERROR_BYTES + LIMIT_BACKTRACE_BYTES + 3 * LIMIT_RESULT_BYTES + 6 * LIMIT_ERROR_BYTES + LIMIT_BATCH_COST_BYTES + LIMIT_TAGS * (512 + 4096) + 65536, /* read and written; an iteration; an error; the next job of its chain: config, payload, result, the error as JSON; its batch; spending and usage of its tags; events */
    LIMIT_ENQUEUE_COST_BYTES = LIMIT_OP_BYTES + LIMIT_ENQUEUE_BATCH * 4096 + LIMIT_BATCH_COST_BYTES, /* documents as received; ids, times, event and lock of each job; their batch */
    LIMIT_ENTRY_COST_BYTES   = LIMIT_STEP_BYTES + LIMIT_JOB_COST_BYTES + LIMIT_ENQUEUE_COST_BYTES,
};
/* clang-format on */

/* While an entry is applied, each of these bytes exists at most four times: old version, new
 * version, the commit, the store's memory. */
_Static_assert(LIMIT_ENTRY_COST_BYTES <= 256 << 20, "any entry can be applied in 1 GiB of memory");
