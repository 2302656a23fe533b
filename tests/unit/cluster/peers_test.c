/*
 * What a member sends, as far as the state machine can read it: a member with the right secret,
 * whose messages are made by hand, and the transport that takes them.
 */
#include "cluster/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/wire.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "log/log.h"

enum { CLUSTER = 9, SENDER = 1, TAKER = 2, ENTRY_BYTES = 8, ENTRIES_MAX = 8 };

struct rig {
    struct tmpdir dir;
    uv_loop_t loop;
    struct raftnet *sender;
    struct peers *taker;
    char address[32];
    unsigned closed;
    /* the last append that came */
    unsigned received;
    unsigned n_entries;
    bool has_entries;
    raft_index prev_log_index, leader_commit;
    unsigned committed;
    unsigned reads; /* what the sender says it reads */
};

/* --- the sender --- */

static bool admit(void *data, const struct raftnet_shake *s, enum raftnet_shake_refusal *out_why,
                  struct err *err)
{
    (void)data;
    (void)s;
    (void)out_why;
    (void)err;
    return true;
}

static void met(void *data, const struct raftnet_shake_node *from)
{
    (void)data;
    (void)from;
}

static void received(void *data, const struct raftnet_shake_node *from,
                     const struct raftnet_frame *f)
{
    (void)data;
    (void)from;
    (void)f;
}

static void stream(void *data, struct raftnet_link *link, const struct raftnet_shake_node *from)
{
    (void)data;
    (void)from;
    raftnet_link_close(link);
}

static void refused(void *data, uint64_t id, enum raftnet_shake_refusal why, const char *text)
{
    (void)data;
    (void)id;
    (void)why;
    fail_msg("refused: %s", text);
}

static void sent(struct raftnet_send *s, bool written)
{
    assert_true(written);
    buf_deinit(&s->frame);
    free(s);
}

/* --- the taker --- */

static const char *address_hook(void *data, uint64_t id)
{
    (void)data;
    (void)id;
    return NULL;
}

static bool is_removed_hook(void *data, uint64_t id)
{
    (void)data;
    (void)id;
    return false;
}

static void lost(void *data, uint64_t id)
{
    (void)data;
    (void)id;
}

static void removed_hook(void *data, const char *by)
{
    (void)data;
    (void)by;
}

static void hashed_hook(void *data, uint64_t id, uint64_t index, uint64_t hash)
{
    (void)data;
    (void)id;
    (void)index;
    (void)hash;
}

static void committed_hook(void *data, uint64_t index)
{
    struct rig *r = data;
    assert_int_equal(index, r->leader_commit); /* Raft has heard it */
    r->committed++;
}

static void reads_hook(void *data, uint64_t id, uint8_t version)
{
    struct rig *r = data;
    assert_int_equal(id, SENDER);
    r->reads = version;
}

/* Entries that begin with "new" are those of a newer version. */
static enum err_code knows_entry(void *data, struct str entry, struct err *err)
{
    (void)data;
    return str_starts_with(entry, STR("new")) ? err_set(err, ERR_CORRUPT, "it is new") : ERR_OK;
}

static void recv_cb(struct raft_io *io, struct raft_message *m)
{
    struct rig *r = io->data;
    assert_int_equal(m->type, RAFT_IO_APPEND_ENTRIES);
    assert_int_equal(m->server_id, SENDER);
    const struct raft_append_entries *a = &m->append_entries;
    r->received++;
    r->n_entries = a->n_entries;
    r->has_entries = a->entries != NULL;
    r->prev_log_index = a->prev_log_index;
    r->leader_commit = a->leader_commit;
    wire_clear(m);
}

static int setup(void **state)
{
    static struct rig r;
    static struct raft_io io;
    struct err err;
    const struct raftnet_config sender = {.loop = &r.loop,
                                          .bind = "127.0.0.1:0",
                                          .secret = STR("the same secret here"),
                                          .hooks = {.data = &r,
                                                    .admit = admit,
                                                    .met = met,
                                                    .received = received,
                                                    .stream = stream,
                                                    .refused = refused,
                                                    .lost = lost}};
    const struct peers_config taker = {
        .bind = "127.0.0.1:0",
        .secret = STR("the same secret here"),
        .self = {.cluster = CLUSTER, .id = TAKER, .name = STR("taker")},
        .hooks = {.data = &r,
                  .address = address_hook,
                  .is_removed = is_removed_hook,
                  .met = met,
                  .lost = lost,
                  .removed = removed_hook,
                  .hashed = hashed_hook,
                  .committed = committed_hook,
                  .reads = reads_hook}};
    const struct raftnet_shake_node self = {
        .cluster = CLUSTER, .id = SENDER, .name = STR("sender"), .address = STR("127.0.0.1:1")};
    const struct peers_reader reader = {.data = &r, .entry = knows_entry};
    log_configure(LOG_LEVEL_COUNT, LOG_TEXT);
    r = (struct rig){.dir = tmpdir_new()};
    assert_int_equal(uv_loop_init(&r.loop), 0);
    assert_int_equal(raftnet_open(&sender, &r.sender, &err), ERR_OK);
    raftnet_set_self(r.sender, &self);
    assert_int_equal(peers_open(&r.loop, &taker, r.dir.path, &r.taker, &err), ERR_OK);
    peers_set_reader(r.taker, &reader);
    (void)snprintf(r.address, sizeof r.address, "127.0.0.1:%u", (unsigned)peers_port(r.taker));
    io.data = &r;
    struct disk_io_transport t = peers_transport(r.taker);
    t.start(t.data, &io, recv_cb);
    *state = &r;
    return 0;
}

static void closed(void *data)
{
    ((struct rig *)data)->closed++;
}

static int teardown(void **state)
{
    struct rig *r = *state;
    raftnet_close(r->sender, closed, r);
    peers_close(r->taker, closed, r);
    assert_int_equal(uv_run(&r->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(r->closed, 2);
    assert_int_equal(uv_loop_close(&r->loop), 0);
    tmpdir_remove(&r->dir);
    return 0;
}

/* An append of entries 11 and on, and wait until it is there. */
static void send_append(struct rig *r, const char *const texts[], unsigned count)
{
    struct raft_entry entries[ENTRIES_MAX];
    char bytes[ENTRIES_MAX][ENTRY_BYTES] = {{0}};
    assert_true(count <= ENTRIES_MAX);
    for (unsigned i = 0; i < count; i++) {
        memcpy(bytes[i], texts[i], strlen(texts[i]));
        entries[i] = (struct raft_entry){
            .term = 3, .type = RAFT_COMMAND, .buf = {.base = bytes[i], .len = ENTRY_BYTES}};
    }
    const struct raft_message m = {.type = RAFT_IO_APPEND_ENTRIES,
                                   .append_entries = {.term = 3,
                                                      .prev_log_index = 10,
                                                      .prev_log_term = 3,
                                                      .leader_commit = 10,
                                                      .entries = count == 0 ? NULL : entries,
                                                      .n_entries = count}};
    struct raftnet_send *s = calloc(1, sizeof *s);
    unsigned before = r->received;
    assert_non_null(s);
    s->done = sent;
    buf_init(&s->frame, 1 << 16);
    raftnet_frame_begin(&s->frame);
    wire_encode(&m, &s->frame);
    raftnet_frame_end(&s->frame, RAFTNET_FRAME_RAFT, 0, CLUSTER);
    assert_true(raftnet_send(r->sender, TAKER, r->address, s));
    while (r->received == before) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_int_equal(r->prev_log_index, 10);
    assert_int_equal(r->leader_commit, 10);
    assert_int_equal(r->committed, r->received);
}

static struct peers_refusals refusals(const struct rig *r)
{
    struct peers_refusals out;
    peers_refusals(r->taker, &out);
    return out;
}

static void append__ends_before_what_cannot_be_read(void **state)
{
    struct rig *r = *state;
    static const char *const texts[] = {"old 1", "old 2", "new 3", "old 4"};
    send_append(r, texts, 2);
    assert_int_equal(r->n_entries, 2);
    assert_int_equal(refusals(r).total, 0);
    assert_string_equal(refusals(r).error, "");
    send_append(r, texts, 4);
    assert_int_equal(r->n_entries, 2);
    assert_true(r->has_entries);
    assert_int_equal(refusals(r).total, 1);
    assert_string_equal(refusals(r).error, "entry 13: it is new");
}

static void append__of_nothing_else_is_a_heartbeat(void **state)
{
    struct rig *r = *state;
    static const char *const texts[] = {"new 1"};
    uint64_t before = refusals(r).total;
    for (unsigned i = 1; i <= 3; i++) {
        send_append(r, texts, 1);
        assert_int_equal(r->n_entries, 0);
        assert_false(r->has_entries);
        assert_int_equal(refusals(r).total, before + i);
        assert_string_equal(refusals(r).error, "entry 11: it is new");
        send_append(r, texts, 0); /* says nothing of it */
        assert_string_equal(refusals(r).error, "entry 11: it is new");
    }
}

static void refusal__is_over_when_entries_can_be_read(void **state)
{
    struct rig *r = *state;
    static const char *const texts[] = {"new 1"};
    static const char *const readable[] = {"old 1"};
    send_append(r, texts, 1);
    assert_string_not_equal(refusals(r).error, "");
    uint64_t total = refusals(r).total;
    send_append(r, readable, 1);
    assert_int_equal(r->n_entries, 1);
    assert_string_equal(refusals(r).error, "");
    assert_int_equal(refusals(r).total, total);
}

static void send_reads(struct rig *r, const char *bytes, size_t len)
{
    struct raftnet_send *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->done = sent;
    buf_init(&s->frame, 1 << 16);
    raftnet_frame_begin(&s->frame);
    buf_add(&s->frame, bytes, len);
    raftnet_frame_end(&s->frame, RAFTNET_FRAME_READS, 0, CLUSTER);
    assert_true(raftnet_send(r->sender, TAKER, r->address, s));
}

static void versions__are_heard(void **state)
{
    struct rig *r = *state;
    send_reads(r, "\x05", 1);
    while (r->reads != 5) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    /* What makes no sense says nothing; a frame of Raft behind it shows that it was read. */
    send_reads(r, "", 0);
    send_reads(r, "\0", 1);
    send_reads(r, "\x09\x09", 2);
    send_append(r, NULL, 0);
    assert_int_equal(r->reads, 5);
}

TEST_GROUP_FIXTURE(peers, setup, teardown,
                   cmocka_unit_test(append__ends_before_what_cannot_be_read),
                   cmocka_unit_test(append__of_nothing_else_is_a_heartbeat),
                   cmocka_unit_test(refusal__is_over_when_entries_can_be_read),
                   cmocka_unit_test(versions__are_heard));
