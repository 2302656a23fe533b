/*
 * Limits: all limits on what clients can send and what the server keeps.
 *
 * One line each on why it is that number. The names and values that clients can see are those of
 * http-api.md 1.5; a server setting may lower or raise some of them, and then this is the default.
 */
#pragma once

/* clang-format off */
enum {
    /* one job */
    LIMIT_PAYLOAD_BYTES      = 262144,       /* contract default; --max-payload-size */
    LIMIT_QUEUE_NAME_BYTES   = 255,          /* contract */
    LIMIT_UNIQUE_KEY_BYTES   = 512,          /* contract */
    LIMIT_IDEMPOTENCY_KEY_BYTES = 255,       /* Idempotency-Key header: a UUID many times over */
    LIMIT_REPLY_KEY_BYTES    = 512,          /* the same behind what it belongs to */
    LIMIT_WORKER_ID_BYTES    = 255,          /* contract; also the host name */
    LIMIT_WORKER_VERSION_BYTES = 64,         /* of a worker's program */
    LIMIT_TAGS               = 64,           /* contract: pairs per job */
    LIMIT_TAG_KEY_BYTES      = 128,          /* contract */
    LIMIT_TAG_VALUE_BYTES    = 1024,         /* contract */
    LIMIT_RESULT_BYTES       = 1 << 20,      /* contract; also the checkpoint */
    LIMIT_PROGRESS_BYTES     = 32 * 1024,    /* contract */
    LIMIT_ERROR_BYTES        = 64 * 1024,    /* contract: longer text is cut */
    LIMIT_BACKTRACE_BYTES    = 256 * 1024,   /* contract: longer text is cut */
    LIMIT_REASON_BYTES       = 4096,         /* hold, reject and exit reasons: one screen of text */
    LIMIT_CHAIN_STEPS        = 100,          /* contract */
    LIMIT_DEPENDS_ON         = 1000,         /* contract */
    LIMIT_JOB_ERRORS         = 100,          /* error entries kept per job; the oldest go first */
    LIMIT_JOB_TRIES          = 1000,         /* tries kept per job that the server delivers; the oldest go first */
    LIMIT_PUSH_BYTES         = 64 * 1024,    /* a target: its URL, headers and the template of the body */
    LIMIT_PUSH_URL_BYTES     = 8192,         /* longer than any server takes */
    LIMIT_PUSH_HEADERS       = 32,
    LIMIT_PUSH_HEADER_BYTES  = 4096,         /* one value */
    LIMIT_PUSH_HOST_BYTES    = 264,          /* the longest name, and a port */
    LIMIT_PUSH_ANSWER_BYTES  = 64 * 1024,    /* contract: what is kept of an answer */
    LIMIT_PUSH_BODY_MS       = 10 * 1000,    /* for the body of an answer, behind its head */
    LIMIT_PUSH_LINES         = 512,          /* lines that one claim names */
    LIMIT_JOB_NAME_BYTES     = 1024,         /* a name that a job was given by its maker */
    LIMIT_CRON_BYTES         = 255,
    LIMIT_EVENT_DATA_BYTES   = 60 * 1024,    /* an SSE data line stays below 64 KiB (Go scanner) */
    LIMIT_EVENT_ERROR_BYTES  = 1024,         /* contract: error text inside an event */
    LIMIT_MODEL_NAME_BYTES   = 255,          /* model and provider names in usage reports */
    LIMIT_JSON_DEPTH         = 512,          /* nesting of JSON that is only validated */

    /* one request */
    LIMIT_ENQUEUE_BATCH      = 10000,        /* contract */
    LIMIT_CLAIM_COUNT        = 512,          /* contract */
    LIMIT_CLAIM_QUEUES       = 256,          /* contract */
    LIMIT_ACK_BATCH          = 512,          /* contract */
    LIMIT_HEARTBEAT_JOBS     = 10000,        /* contract */
    LIMIT_BULK_CHUNK         = 500,          /* contract: ids per step of one in the background */
    LIMIT_BULK_SYNC          = 10000,        /* contract: ids in one command; more go on in the background */
    LIMIT_BULK_IDS           = 1000000,      /* ids of one operation: more than a body can hold */
    LIMIT_BULK_FILTER_BYTES  = 64 * 1024,    /* a filter is some lines of JSON */
    LIMIT_BULK_OPEN          = 100,          /* operations in the background that are not over */
    LIMIT_BULK_KEPT          = 1000,         /* and all that are remembered */
    LIMIT_BULK_KEPT_MS       = 3600 * 1000,  /* contract: at least this long after their end */
    LIMIT_BULK_QUEUE_JOBS    = 100,          /* jobs that one background step of a clear or delete removes: others wait no longer than that */
    LIMIT_BULK_QUEUE_DOCS    = 1000,         /* and documents that it looks at */
    LIMIT_RESTORE_ROWS       = 100000,       /* iterations or usage reports of one restored job */
    LIMIT_RESTORE_CHUNK_BYTES = 4 << 20,     /* of a backup in one command */
    LIMIT_RESTORE_CHUNK_ITEMS = 500,
    LIMIT_OPERATIONS         = 200000,       /* named commands whose answers are kept: some seconds at full load */
    LIMIT_OPERATION_BYTES    = 32 << 20,     /* of those answers */
    LIMIT_OPERATIONS_KEPT_MS = 300 * 1000,   /* nobody asks again for longer */
    LIMIT_OPERATION_STEPS    = 64,           /* entries whose named commands one entry forgets */
    LIMIT_LEASE_S_MAX        = 86400,        /* contract */
    LIMIT_THROTTLE_RATE      = 1000000,      /* claims remembered per queue: 8 MB */
    LIMIT_NAME_BYTES         = 255,          /* schedule names and the like */
    LIMIT_NAMESPACE_BYTES    = 63,           /* contract */
    LIMIT_QUEUE_SCOPE_BYTES  = 4096,         /* patterns of the queues that a key may use */
    LIMIT_INTERNAL_NAME_BYTES = LIMIT_NAMESPACE_BYTES + 2 + LIMIT_QUEUE_NAME_BYTES, /* a queue's, schedule's or webhook's, behind namespace and :: */
    LIMIT_WEBHOOKS           = 256,          /* webhooks: each holds a line of deliveries in memory, up to 1 MiB, and reads all events */
    LIMIT_WEBHOOK_URL_BYTES  = 2048,         /* as long as browsers and proxies agree on */
    LIMIT_WEBHOOK_EVENTS     = 64,           /* patterns of one webhook; there are fewer types */
    LIMIT_WEBHOOK_SECRET_BYTES = 1024,       /* keys of HMAC-SHA256 gain nothing past 64 */
    LIMIT_WEBHOOK_ERROR_BYTES  = 256,        /* what went wrong last: one line */
    LIMIT_WEBHOOK_ATTEMPTS   = 25,           /* per event: 16 minutes of pauses */
    LIMIT_WORKERS            = 10000,        /* rows of workers: with the next, 50 MB */
    LIMIT_WORKER_QUEUES_BYTES = 4096,        /* of the names of queues in a row, as JSON; the first that fit are kept */
    LIMIT_NODES              = 64,           /* members of the cluster, and those that were removed */
    LIMIT_POLICIES           = 4096,         /* approval policies: each is looked at when an agent goes on */
    LIMIT_OLD_POLICIES       = 256,          /* the same for entries of versions 1 and 2 */
    LIMIT_BUDGETS            = 4096,         /* budgets: with their names some 4 MB */
    LIMIT_SPEND_TAGS         = 10000,        /* tags that it is known of what was spent on them today: some 4 MB */
    LIMIT_SPEND_TAGS_SPACE   = 1000,         /* and of one namespace; more only with budgets */
    LIMIT_MARKERS            = 1000,         /* of each source; the oldest go first */
    LIMIT_MARKER_TEXT_BYTES  = 200,
    LIMIT_ACCESS_ITEMS       = 1000,         /* records of who may do what, in one command */
    LIMIT_ACCESS_NAME_BYTES  = 1024,         /* and of each its key, */
    LIMIT_ACCESS_BODY_BYTES  = 64 * 1024,    /* and what it says */
    LIMIT_AUDIT_ITEMS        = 256,          /* entries of the audit log in one command */
    LIMIT_AUDIT_KEPT         = 100000,       /* and in all: some 20 MB */
    LIMIT_AUDIT_TEXT_BYTES   = 1024,         /* of a path or a query; longer ones are cut */
    LIMIT_TICK_JOBS          = 1000,         /* jobs one timer entry moves, so that it stays short */
    LIMIT_STEP_DOCS          = 5000,         /* documents that one step of a purge, clear or delete looks at, for the same reason */
    LIMIT_STEP_BYTES         = 16 << 20,     /* read and written by one entry, when the rest goes into the next: some 20 ms */
    LIMIT_OLD_STEP_BYTES     = 1 << 30,      /* the same for entries of version 1: more could not be applied when they were made */

    /* the pipeline */
    LIMIT_ENTRY_OPS          = 1024,         /* operations per log entry */
    LIMIT_ENTRY_BYTES        = 1 << 20,      /* and bytes, unless one operation is larger */
    LIMIT_OP_BYTES           = 24 << 20,     /* one operation: a 16 MiB body and its framing */
    LIMIT_PENDING_OPS        = 16384,        /* --raft-max-pending */
    LIMIT_PENDING_BYTES      = 256 << 20,    /* bytes waiting in the pipeline: bounds memory */
    LIMIT_PEER_CHUNK_BYTES   = 1 << 20,      /* entries in one message to a peer: heartbeats pass soon */
    LIMIT_PEER_QUEUE_BYTES   = 64 << 20,     /* not yet sent to a peer: a dead one costs no more */

    /* what is kept */
    LIMIT_REPLY_BYTES        = 1 << 30,      /* answers kept for Idempotency-Key: 5 million of single jobs */
    LIMIT_BATCHES_OPEN       = 100000,       /* batches that are not sealed, one namespace half of them: 40 MB, and they stay until somebody seals them */
    LIMIT_BATCH_BYTES        = 256 << 20,    /* of the callbacks of all batches that have not ended, one namespace half of it: they are in memory */
    LIMIT_EVENTS_KEPT        = 100000,       /* contract: or 24 hours, whichever is smaller */
    LIMIT_EVENTS_KEPT_MS     = 24 * 3600 * 1000,
    LIMIT_EVENTS_TRIM_MS     = 10 * 60 * 1000, /* so much more, that they are not removed one by one */
    LIMIT_HISTORY_MINUTES    = 48 * 60,      /* history by the minute */
    LIMIT_HISTORY_HOURS      = 90 * 24,      /* and by the hour */
    LIMIT_HISTORY_BYTES      = 64 << 20,     /* each of the two; the oldest go first: 300 busy queues for two days */
    LIMIT_TALLY_PART_S       = 300,          /* usage by five minutes */
    LIMIT_TALLY_PARTS        = 26 * 12,      /* for a day, and the hour in which it begins */
    LIMIT_TALLY_HOURS        = 92 * 24,      /* and by the hour: a quarter */
    LIMIT_TALLY_HOUR_BYTES   = 256 << 10,    /* cells of usage in an hour: by queue, model and provider, one namespace half of it, and as much by tag, one key a quarter; 2,000 of each */
    LIMIT_STREAM_BEHIND      = 50000,        /* events that pass a reader which takes nothing: half of the log */
    LIMIT_STREAMS            = 1024,         /* readers per network thread; a slow one may hold 128 KiB */
    LIMIT_RATE_CLIENTS       = 65536,        /* clients whose rate is remembered: 12 MB */
    LIMIT_FEED_IDS           = 4 << 20,      /* changed jobs that wait to be copied: 160 MB; beyond, compare */
    LIMIT_JQ_BYTES           = 256 << 20,    /* memory of a payload_jq program, beside libjq itself */
    LIMIT_DOC_CACHE_BYTES    = 64 << 20,     /* documents kept in memory beside the store */
    LIMIT_RESERVE_BYTES      = 128 << 20,    /* of the disk, for when it is nearly full: acks and deletions for a while */
    LIMIT_RESERVE_START_BYTES = 8 << 20,     /* and for a start, which writes less than a megabyte */

    /* What one entry can come to, in bytes that it reads and writes. Nothing begins once
     * LIMIT_STEP_BYTES are reached, and whatever goes on looks after each job; so it is that, and
     * one job or one command that is not cut: an enqueue. */
    LIMIT_DOC_BYTES          = LIMIT_OP_BYTES + 2 * LIMIT_RESULT_BYTES + LIMIT_PROGRESS_BYTES + LIMIT_REASON_BYTES + 4096, /* as it was made; result, checkpoint, progress, reason, names and numbers */
    LIMIT_BATCH_COST_BYTES   = 2 * LIMIT_OP_BYTES + 4096, /* its record, and the callback with the same payload */
    LIMIT_JOB_COST_BYTES     = 2 * LIMIT_DOC_BYTES + 2 * LIMIT_RESULT_BYTES + LIMIT_ERROR_BYTES + LIMIT_BACKTRACE_BYTES + 3 * LIMIT_RESULT_BYTES + 6 * LIMIT_ERROR_BYTES + LIMIT_BATCH_COST_BYTES + LIMIT_TAGS * (512 + 4096) + 65536, /* read and written; an iteration; an error; the next of its chain: config, payload, result, the error as JSON; its batch; what was spent on its tags and used with them; events */
    LIMIT_ENQUEUE_COST_BYTES = LIMIT_OP_BYTES + LIMIT_ENQUEUE_BATCH * 4096 + LIMIT_BATCH_COST_BYTES, /* documents as they were sent; of each job ids, times, event and lock; their batch */
    LIMIT_ENTRY_COST_BYTES   = LIMIT_STEP_BYTES + LIMIT_JOB_COST_BYTES + LIMIT_ENQUEUE_COST_BYTES,
};
/* clang-format on */

/* While an entry is applied, a byte exists at most four times: old version, new version, the
 * commit, the store's memory. */
_Static_assert(LIMIT_ENTRY_COST_BYTES <= 256 << 20, "any entry can be applied in 1 GiB of memory");
