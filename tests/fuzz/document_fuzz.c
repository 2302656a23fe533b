/*
 * Fuzz: stored values from any bytes. The first byte selects the type of the rest.
 *
 *   0 job document   1 queue   2 lock   3 batch   4 schedule   5 worker
 *   6 error   7 usage   8 iteration   9 block of events   10 webhook   11 bulk operation
 *   12 sum of usage   13 its key
 *
 * A decoded value encodes to the same bytes. The head of a document, decoded alone, has the same
 * values.
 */
#include <stdint.h>

#include "base/check.h"
#include "store/store_event.h"
#include "store/store_job.h"
#include "store/store_record.h"
#include "store/store_rows.h"
#include "store/store_tally.h"

enum { BYTES_MAX = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_head(struct str bytes, const struct job *j)
{
    struct job head;
    struct err err;
    CHECK(store_job_decode_head(j->id, bytes, &head, &err) == ERR_OK);
    CHECK(head.state == j->state);
    CHECK(head.priority == j->priority);
    CHECK(head.order == j->order);
    CHECK(head.expire_at.ns == j->expire_at.ns);
    CHECK(head.scheduled_at.ns == j->scheduled_at.ns);
    CHECK(head.lease_expires_at.ns == j->lease_expires_at.ns);
    CHECK(head.started_at.ns == j->started_at.ns);
    CHECK(head.agent.timeout_ms == j->agent.timeout_ms);
    CHECK(str_eq(head.queue, j->queue));
    CHECK(str_eq(head.waits_for, j->waits_for));
}

static bool document_again(struct str bytes, struct buf *out)
{
    struct job j;
    struct err err = {0};
    if (store_job_decode(ID_NONE, bytes, &j, &err) != ERR_OK) {
        CHECK(err.code == ERR_CORRUPT);
        CHECK(err.msg[0] != '\0');
        return false;
    }
    struct store_job_body body;
    check_head(bytes, &j);
    if (store_job_find_body(bytes, &body)) {
        store_job_encode_head(&j, &body, out);
        store_job_encode_body(&j, body.version, out);
    } else {
        store_job_encode(&j, out);
    }
    return true;
}

/* Decode, and encode again if that succeeds. */
#define AGAIN(thing, module)                                                                       \
    static bool thing##_again(struct str bytes, struct buf *out)                                   \
    {                                                                                              \
        struct store_##thing value;                                                                \
        bool ok = module##_decode_##thing(bytes, &value);                                          \
        if (ok) {                                                                                  \
            module##_encode_##thing(&value, out);                                                  \
        }                                                                                          \
        return ok;                                                                                 \
    }
AGAIN(queue, store_record)
AGAIN(lock, store_record)
AGAIN(batch, store_record)
AGAIN(schedule, store_record)
AGAIN(worker, store_record)
AGAIN(webhook, store_record)
AGAIN(bulk, store_record)
AGAIN(error, store_rows)
AGAIN(usage, store_rows)
AGAIN(iteration, store_rows)
#undef AGAIN

static bool tally_again(struct str bytes, struct buf *out)
{
    struct store_tally value;
    bool ok = store_tally_decode(bytes, &value);
    if (ok) {
        store_tally_encode(&value, out);
    }
    return ok;
}

static bool tally_key_again(struct str bytes, struct buf *out)
{
    enum store_tally_series series;
    uint32_t number;
    struct store_tally_name name;
    bool ok = store_tally_decode_key(bytes, &series, &number, &name);
    if (ok) {
        store_tally_key(series, number, &name, out);
    }
    return ok;
}

struct copy {
    struct store_event_block block;
    struct wall at;
    uint64_t next;
};

static bool copy_event(void *data, const struct store_event *e)
{
    struct copy *c = data;
    CHECK(e->seq == c->next++);
    CHECK(store_event_word(e->type)[0] != '\0');
    c->at = e->at;
    store_event_add(&c->block, e);
    return true;
}

static bool events_again(struct str bytes, struct buf *out)
{
    struct copy c = {.next = 7};
    store_event_block_init(&c.block);
    bool ok = store_event_each(7, bytes, copy_event, &c);
    if (ok) {
        store_event_encode(&c.block, c.at, out);
    }
    store_event_block_deinit(&c.block);
    return ok;
}

static bool (*const kinds[])(struct str bytes, struct buf *out) = {
    document_again, queue_again, lock_again,  batch_again,     schedule_again,
    worker_again,   error_again, usage_again, iteration_again, events_again,
    webhook_again,  bulk_again,  tally_again, tally_key_again,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf again;
    if (size == 0 || size > BYTES_MAX / 4 || data[0] >= COUNT_OF(kinds)) {
        return 0;
    }
    struct str bytes = str_from(data + 1, size - 1);
    buf_init(&again, BYTES_MAX);
    if (kinds[data[0]](bytes, &again)) {
        CHECK(str_eq(buf_str(&again), bytes));
    }
    buf_deinit(&again);
    return 0;
}
