#include "unit/raftlog/wal_rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/fault.h"
#include "lib/rng.h"
#include "lib/test.h"

/* An operation in progress. An append has the entries that Raft would keep. */
struct step {
    struct wal_op op;
    struct wal_rig *rig;
    struct raft_entry *entry;
    unsigned count;
};

void wal_rig_init(struct wal_rig *r)
{
    *r = (struct wal_rig){.dir = tmpdir_new(), .next_index = 1, .term = 1};
    r->config = (struct wal_config){.dir = r->dir.path,
                                    .segment_bytes = WAL_SEGMENT_BYTES_MIN,
                                    .space_check_ms = 1,
                                    .durable = true};
    CHECK(uv_loop_init(&r->loop) == 0);
}

void wal_rig_deinit(struct wal_rig *r)
{
    wal_rig_close(r);
    CHECK(uv_loop_close(&r->loop) == 0);
    tmpdir_remove(&r->dir);
    fault_reset();
}

enum err_code wal_rig_try(struct wal_rig *r, struct err *err)
{
    CHECK(r->wal == NULL);
    r->config.dir = r->dir.path;
    if (wal_open(&r->config, r->covered_index, &r->wal, &r->content, err) != ERR_OK) {
        return err->code;
    }
    r->next_index = r->content.first_index + r->content.count;
    return ERR_OK;
}

void wal_rig_open(struct wal_rig *r)
{
    struct err err = {0};
    if (wal_rig_try(r, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    wal_start(r->wal, &r->loop);
    r->started = true;
}

static void closed(void *data)
{
    struct wal_rig *r = data;
    r->wal = NULL;
}

void wal_rig_close(struct wal_rig *r)
{
    wal_content_clear(&r->content);
    if (!r->started) {
        wal_free(TAKE(r->wal));
        return;
    }
    wal_close(r->wal, closed, r);
    CHECK(uv_run(&r->loop, UV_RUN_DEFAULT) == 0);
    r->started = false;
    CHECK(r->pending == 0);
}

struct raft_entry wal_rig_entry(uint64_t index, uint64_t term, size_t bytes)
{
    struct raft_entry e = {.term = term, .type = RAFT_COMMAND};
    struct rng rng = rng_from(index * 1000 + term);
    if (bytes % 3 == 1) {
        e.type = RAFT_BARRIER;
    }
    e.buf.len = bytes;
    e.buf.base = raft_malloc(bytes == 0 ? 1 : bytes);
    CHECK(e.buf.base != NULL);
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)e.buf.base)[i] = (uint8_t)rng_next(&rng);
    }
    return e;
}

static void step_done(struct wal_op *op)
{
    struct step *s = CONTAINER_OF(op, struct step, op);
    for (unsigned i = 0; i < s->count; i++) {
        raft_free(s->entry[i].buf.base);
    }
    s->rig->pending--;
    free(s->entry);
    free(s);
}

static struct step *step_new(struct wal_rig *r, enum wal_kind kind, uint64_t index)
{
    struct step *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->rig = r;
    s->op = (struct wal_op){.kind = kind, .index = index, .done = step_done};
    r->pending++;
    return s;
}

void wal_rig_append(struct wal_rig *r, unsigned count, size_t bytes)
{
    struct step *s = step_new(r, WAL_APPEND, r->next_index);
    s->entry = calloc(count, sizeof *s->entry);
    CHECK(s->entry != NULL);
    s->count = count;
    for (unsigned i = 0; i < count; i++) {
        s->entry[i] = wal_rig_entry(r->next_index++, r->term, bytes);
    }
    s->op.entry = s->entry;
    s->op.count = count;
    wal_submit(r->wal, &s->op);
}

void wal_rig_truncate(struct wal_rig *r, uint64_t index)
{
    r->next_index = index;
    wal_submit(r->wal, &step_new(r, WAL_TRUNCATE, index)->op);
}

void wal_rig_drop(struct wal_rig *r, uint64_t index)
{
    wal_submit(r->wal, &step_new(r, WAL_DROP, index)->op);
}

void wal_rig_reset(struct wal_rig *r, uint64_t index, void (*prepare)(struct wal_op *op))
{
    struct step *s = step_new(r, WAL_RESET, index);
    s->op.prepare = prepare;
    r->next_index = index;
    wal_submit(r->wal, &s->op);
}

static bool nothing_pending(struct wal_rig *r)
{
    return r->pending == 0;
}

void wal_rig_until(struct wal_rig *r, bool (*holds)(struct wal_rig *r))
{
    while (!holds(r)) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
}

void wal_rig_wait(struct wal_rig *r)
{
    wal_rig_until(r, nothing_pending);
}

void wal_rig_assert_entry(const struct raft_entry *e, uint64_t index, uint64_t term)
{
    struct raft_entry expected = wal_rig_entry(index, term, e->buf.len);
    assert_int_equal(e->term, term);
    assert_int_equal(e->type, expected.type);
    assert_memory_equal(e->buf.base, expected.buf.base, e->buf.len);
    raft_free(expected.buf.base);
}

void wal_rig_assert_content(const struct wal_rig *r, uint64_t first, uint64_t last, uint64_t term)
{
    assert_int_equal(r->content.first_index, first);
    assert_int_equal(r->content.count, last + 1 - first);
    for (size_t i = 0; i < r->content.count; i++) {
        wal_rig_assert_entry(&r->content.entry[i], first + i, term);
    }
}
