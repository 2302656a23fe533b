/*
 * Reading messages of members: a member with the right secret sends handmade messages to the real
 * transport.
 */
#include "cluster/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "cluster/wire.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "log/log.h"
#include "raftlog/manifest.h"
#include "raftlog/members.h"

enum { CLUSTER = 9, SENDER = 1, TAKER = 2, ENTRY_BYTES = 8, ENTRIES_MAX = 8 };

struct rig {
    struct tmpdir dir;
    uv_loop_t loop;
    struct raftnet *sender;
    struct peers *taker;
    char address[32];
    unsigned closed;
    /* the last append received */
    unsigned received;
    unsigned n_entries;
    bool has_entries;
    raft_index prev_log_index, leader_commit;
    unsigned committed;
    unsigned reads; /* newest version that the sender can read */
    unsigned space; /* what the sender's disk space allows */
    struct mailbox box;
    unsigned adopted;
    bool adopts;
    bool hung_up;
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

/* --- the receiver --- */

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

static bool adopt_hook(void *data, uint64_t cluster, struct err *err)
{
    struct rig *r = data;
    assert_int_equal(cluster, CLUSTER);
    r->adopted++;
    (void)err_set(err, ERR_FORBIDDEN, "it does not want to");
    return r->adopts;
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
    assert_int_equal(index, r->leader_commit); /* Raft knows this commit index */
    r->committed++;
}

static void space_hook(void *data, uint64_t id, uint8_t level)
{
    struct rig *r = data;
    assert_int_equal(id, SENDER);
    r->space = level;
}

static void reads_hook(void *data, uint64_t id, uint8_t version)
{
    struct rig *r = data;
    assert_int_equal(id, SENDER);
    r->reads = version;
}

/* Entries that begin with "new" are of a newer version. */
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
                  .adopt = adopt_hook,
                  .removed = removed_hook,
                  .hashed = hashed_hook,
                  .committed = committed_hook,
                  .reads = reads_hook,
                  .space = space_hook}};
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
    mailbox_open(&r.box, &r.loop);
    peers_attach(r.taker, &r.box);
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
    while (r->closed < 2) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    mailbox_close(&r->box);
    assert_int_equal(uv_run(&r->loop, UV_RUN_DEFAULT), 0);
    mailbox_deinit(&r->box);
    assert_int_equal(r->closed, 2);
    assert_int_equal(uv_loop_close(&r->loop), 0);
    tmpdir_remove(&r->dir);
    return 0;
}

static void send_raft(struct rig *r, const struct raft_message *m)
{
    struct raftnet_send *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->done = sent;
    buf_init(&s->frame, 1 << 16);
    raftnet_frame_begin(&s->frame);
    wire_encode(m, &s->frame);
    raftnet_frame_end(&s->frame, RAFTNET_FRAME_RAFT, 0, CLUSTER);
    assert_true(raftnet_send(r->sender, TAKER, r->address, s));
}

/* Send an append with entries from 11 on, and wait until it has arrived. */
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
    unsigned before = r->received;
    send_raft(r, &m);
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
        send_append(r, texts, 0); /* has no effect on the refusal */
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

static void send_bytes(struct rig *r, uint8_t kind, const char *bytes, size_t len)
{
    struct raftnet_send *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->done = sent;
    buf_init(&s->frame, 1 << 16);
    raftnet_frame_begin(&s->frame);
    buf_add(&s->frame, bytes, len);
    raftnet_frame_end(&s->frame, kind, 0, CLUSTER);
    assert_true(raftnet_send(r->sender, TAKER, r->address, s));
}

static void versions__are_heard(void **state)
{
    struct rig *r = *state;
    send_bytes(r, RAFTNET_FRAME_READS, "\x05", 1);
    while (r->reads != 5) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    /* Invalid frames are ignored. The Raft frame after them shows that they were read. */
    send_bytes(r, RAFTNET_FRAME_READS, "", 0);
    send_bytes(r, RAFTNET_FRAME_READS, "\0", 1);
    send_bytes(r, RAFTNET_FRAME_READS, "\x09\x09", 2);
    send_append(r, NULL, 0);
    assert_int_equal(r->reads, 5);
}

static void space__is_heard(void **state)
{
    struct rig *r = *state;
    send_bytes(r, RAFTNET_FRAME_SPACE, "\x02", 1);
    while (r->space != 2) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    send_bytes(r, RAFTNET_FRAME_SPACE, "", 0);
    send_bytes(r, RAFTNET_FRAME_SPACE, "\0\0", 2);
    send_append(r, NULL, 0);
    assert_int_equal(r->space, 2);
    send_bytes(r, RAFTNET_FRAME_SPACE, "\0", 1);
    while (r->space != 0) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
}

/* --- invitations: sent by the receiver to a third node --- */

struct inviting {
    struct peers_invite invite;
    bool ended;
};

static void invited(struct peers_invite *i)
{
    CONTAINER_OF(i, struct inviting, invite)->ended = true;
}

static struct peers *open_third(struct rig *r, uint64_t cluster, uint64_t id, char address[32])
{
    struct peers *third = NULL;
    struct err err;
    const struct peers_config config = {
        .bind = "127.0.0.1:0",
        .secret = STR("the same secret here"),
        .self = {.cluster = cluster, .id = id, .name = STR("third"), .non_voter = true},
        .hooks = {.data = r,
                  .is_removed = is_removed_hook,
                  .met = met,
                  .lost = lost,
                  .adopt = adopt_hook,
                  .removed = removed_hook}};
    assert_int_equal(peers_open(&r->loop, &config, r->dir.path, &third, &err), ERR_OK);
    (void)snprintf(address, 32, "127.0.0.1:%u", (unsigned)peers_port(third));
    return third;
}

static void close_third(struct rig *r, struct peers *third)
{
    r->closed = 0;
    peers_close(third, closed, r);
    while (r->closed == 0) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    r->closed = 0;
}

static void invitation__is_judged_by_who_gets_it(void **state)
{
    struct rig *r = *state;
    static const struct {
        const char *row;
        uint64_t cluster, id;
        const char *name;
        bool adopts;
        unsigned adopted; /* how often the node was asked to adopt */
        const char *error;
    } rows[] = {
        {"waits", 0, 3, "third", true, 1, ""},
        {"does not wait", 0, 3, "third", false, 1, "it does not want to"},
        {"once more", CLUSTER, 3, "third", true, 1, ""},
        {"elsewhere", CLUSTER + 1, 3, "third", true, 0, "the node belongs to a different cluster"},
        {"named otherwise", 0, 3, "fourth", true, 0, "the node at this address is named \"third\""},
        {"a copy", 0, TAKER, "third", true, 0,
         "two nodes have the same identity: one of them uses a copy of the other's data "
         "directory"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].row);
        char address[32];
        struct err err;
        struct peers *third = open_third(r, rows[i].cluster, rows[i].id, address);
        struct inviting inviting = {
            .invite = {.address = address, .name = str_from_z(rows[i].name), .done = invited}};
        r->adopts = rows[i].adopts;
        r->adopted = 0;
        assert_int_equal(peers_invite(r->taker, &inviting.invite, &err), ERR_OK);
        while (!inviting.ended) {
            (void)uv_run(&r->loop, UV_RUN_ONCE);
        }
        assert_string_equal(inviting.invite.err.msg, rows[i].error);
        assert_int_equal(r->adopted, rows[i].adopted);
        if (rows[i].error[0] == '\0') {
            assert_int_equal(inviting.invite.id, 3);
            assert_false(inviting.invite.voter);
        }
        close_third(r, third);
    }
}

static void invitations__are_few_at_a_time(void **state)
{
    struct rig *r = *state;
    char address[32];
    struct err err;
    struct inviting all[PEERS_INVITES_MAX + 1];
    unsigned ended = 0;
    struct peers *third = open_third(r, 0, 3, address);
    r->adopts = true;
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        all[i] = (struct inviting){
            .invite = {.address = address, .name = STR("third"), .done = invited}};
        assert_int_equal(peers_invite(r->taker, &all[i].invite, &err),
                         i < PEERS_INVITES_MAX ? ERR_OK : ERR_OVERLOADED);
    }
    while (ended < PEERS_INVITES_MAX) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
        ended = 0;
        for (size_t i = 0; i < PEERS_INVITES_MAX; i++) {
            ended += all[i].ended ? 1 : 0;
        }
    }
    assert_int_equal(all[0].invite.err.code, ERR_OK);
    close_third(r, third);
}

/* --- threads --- */

static void send_snapshot(struct rig *r)
{
    struct raft_configuration c;
    struct buf members, manifest;
    raft_configuration_init(&c);
    assert_int_equal(raft_configuration_add(&c, SENDER, "127.0.0.1:1", RAFT_VOTER), 0);
    buf_init(&members, 4096);
    members_encode(&c, &members);
    raft_configuration_close(&c);
    const struct manifest_file file = {.name = STR("a"), .size = 3, .crc = 4};
    const struct manifest described = {.index = 7,
                                       .term = 3,
                                       .checkpoint = STR("00000000000000000007-abc"),
                                       .members = buf_str(&members),
                                       .members_index = 1,
                                       .file = &file,
                                       .file_count = 1};
    buf_init(&manifest, 1 << 16);
    manifest_encode(&described, &manifest);
    const struct raft_message m = {.type = RAFT_IO_INSTALL_SNAPSHOT,
                                   .install_snapshot = {.term = 4,
                                                        .last_index = 7,
                                                        .last_term = 3,
                                                        .conf_index = 1,
                                                        .data = {manifest.ptr, manifest.len}}};
    send_raft(r, &m);
    buf_deinit(&members);
    buf_deinit(&manifest);
}

static void dial_for_files(uv_work_t *work)
{
    const struct rig *r = work->data;
    const struct raftnet_stream_target target = {.address = r->address,
                                                 .id = TAKER,
                                                 .self = {.cluster = CLUSTER,
                                                          .id = SENDER,
                                                          .name = STR("sender"),
                                                          .address = STR("127.0.0.1:1")},
                                                 .secret = STR("the same secret here"),
                                                 .timeout_ms = 10000};
    struct raftnet_link link;
    struct raftnet_frame frame;
    struct buf body;
    struct err err;
    CHECK(raftnet_stream_dial(&target, &link, &err) == ERR_OK);
    buf_init(&body, 4096);
    CHECK(raftnet_stream_read(&link, &body, 4096, &frame, &err) == ERR_IO); /* it hangs up */
    buf_deinit(&body);
    raftnet_link_close(&link);
}

static void dialled(uv_work_t *work, int status)
{
    assert_int_equal(status, 0);
    ((struct rig *)work->data)->hung_up = true;
}

static void threads__that_are_missing_refuse_what_needs_them(void **state)
{
    struct rig *r = *state;
    struct peers_invite invite = {.address = r->address, .name = STR("x"), .done = invited};
    struct ship_progress progress = {0};
    uv_work_t work = {.data = r};
    struct err err;
    fault_arm(FAULT_PEER_THREAD, 1);
    assert_int_equal(peers_invite(r->taker, &invite, &err), ERR_OVERLOADED);
    send_snapshot(r);
    while (progress.error[0] == '\0') {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
        peers_fetch_status(r->taker, &progress);
    }
    assert_string_equal(progress.error, "no thread is left");
    assert_false(progress.running);
    assert_int_equal(uv_queue_work(&r->loop, &work, dial_for_files, dialled), 0);
    while (!r->hung_up) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    fault_reset();
}

TEST_GROUP_FIXTURE(peers, setup, teardown,
                   cmocka_unit_test(append__ends_before_what_cannot_be_read),
                   cmocka_unit_test(append__of_nothing_else_is_a_heartbeat),
                   cmocka_unit_test(refusal__is_over_when_entries_can_be_read),
                   cmocka_unit_test(versions__are_heard), cmocka_unit_test(space__is_heard),
                   cmocka_unit_test(invitation__is_judged_by_who_gets_it),
                   cmocka_unit_test(invitations__are_few_at_a_time),
                   cmocka_unit_test(threads__that_are_missing_refuse_what_needs_them));
