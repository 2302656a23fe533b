/*
 * Raft's messages as bytes: encoding and decoding are inverse, and impossible messages are refused.
 */
#include "cluster/wire.h"

#include "lib/exact.h"
#include "lib/test.h"
#include "raftlog/manifest.h"
#include "raftlog/members.h"

static struct buf encode(const struct raft_message *m)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    wire_encode(m, &out);
    assert_false(out.overflow);
    return out;
}

/* Three entries: a command, a barrier and a list of members. */
static struct raft_message append_sample(struct raft_entry entries[3], struct buf *members)
{
    static char command[16] = "what is to be d";
    static char barrier[8];
    struct raft_configuration c;
    raft_configuration_init(&c);
    assert_int_equal(raft_configuration_add(&c, 5, "h:1", RAFT_VOTER), 0);
    buf_init(members, 4096);
    members_encode(&c, members);
    raft_configuration_close(&c);
    entries[0] = (struct raft_entry){.term = 3, .type = RAFT_COMMAND, .buf = {command, 16}};
    entries[1] = (struct raft_entry){.term = 4, .type = RAFT_BARRIER, .buf = {barrier, 8}};
    entries[2] =
        (struct raft_entry){.term = 4, .type = RAFT_CHANGE, .buf = {members->ptr, members->len}};
    return (struct raft_message){.type = RAFT_IO_APPEND_ENTRIES,
                                 .append_entries = {.term = 4,
                                                    .prev_log_index = 10,
                                                    .prev_log_term = 3,
                                                    .leader_commit = 11,
                                                    .entries = entries,
                                                    .n_entries = 3}};
}

static void append__comes_out_as_it_went_in(void **state)
{
    (void)state;
    struct raft_entry entries[3];
    struct buf members;
    struct err err;
    struct raft_message in = append_sample(entries, &members);
    struct buf bytes = encode(&in);
    struct raft_message out;
    assert_int_equal(wire_decode(buf_str(&bytes), &out, &err), ERR_OK);
    const struct raft_append_entries *a = &out.append_entries;
    assert_int_equal(a->term, 4);
    assert_int_equal(a->prev_log_index, 10);
    assert_int_equal(a->prev_log_term, 3);
    assert_int_equal(a->leader_commit, 11);
    assert_int_equal(a->n_entries, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(a->entries[i].term, entries[i].term);
        assert_int_equal(a->entries[i].type, entries[i].type);
        assert_int_equal(a->entries[i].buf.len, entries[i].buf.len);
        assert_memory_equal(a->entries[i].buf.base, entries[i].buf.base, entries[i].buf.len);
        assert_ptr_equal(a->entries[i].batch, a->entries[0].buf.base); /* for free */
    }
    wire_clear(&out);
    buf_deinit(&bytes);
    buf_deinit(&members);
}

static void every_cut__is_refused(void **state)
{
    (void)state;
    struct raft_entry entries[3];
    struct buf members;
    struct raft_message in = append_sample(entries, &members);
    struct buf bytes = encode(&in);
    for (size_t cut = 0; cut < bytes.len; cut++) {
        struct raft_message out;
        struct err err;
        struct str copy = exact_copy(bytes.ptr, cut);
        assert_int_equal(wire_decode(copy, &out, &err), ERR_CORRUPT);
        exact_free(copy);
    }
    buf_deinit(&bytes);
    buf_deinit(&members);
}

static void refused(const struct raft_message *m)
{
    struct buf bytes = encode(m);
    struct raft_message out;
    struct err err;
    assert_int_equal(wire_decode(buf_str(&bytes), &out, &err), ERR_CORRUPT);
    buf_deinit(&bytes);
}

/* Appends that would fail a CHECK of the log, or make Raft misbehave. */
static void appends_that_cannot_be__are_refused(void **state)
{
    (void)state;
    struct raft_entry entries[3];
    struct buf members;
    struct raft_message m = append_sample(entries, &members);
    struct raft_append_entries *a = &m.append_entries;
#define WRONG(set)                                                                                 \
    do {                                                                                           \
        ROW(#set);                                                                                 \
        m = append_sample(entries, &members);                                                      \
        set;                                                                                       \
        refused(&m);                                                                               \
        buf_deinit(&members);                                                                      \
    } while (0)
    buf_deinit(&members);
    WRONG(entries[0].type = 0);
    WRONG(entries[0].type = RAFT_CHANGE + 1);
    WRONG(entries[0].type = RAFT_CHANGE); /* its bytes are not a list of members */
    WRONG(entries[0].buf.len = 0);
    WRONG(entries[0].buf.len = 12);
    WRONG(entries[0].term = 0);
    WRONG(entries[0].term = 2); /* less than the term of the previous entry */
    WRONG(entries[2].term = 5); /* greater than the term of the message */
    WRONG(entries[1].term = 99);
    WRONG(a->term = 0);
    WRONG(a->prev_log_term = 9);
    WRONG(a->prev_log_term = 0);
    WRONG(a->prev_log_index = 0);
    WRONG(a->prev_log_index = UINT64_MAX);
    WRONG(a->leader_commit = UINT64_MAX);
#undef WRONG
}

static void fixed__come_out_as_they_went_in(void **state)
{
    (void)state;
    static const struct raft_message rows[] = {
        {.type = RAFT_IO_REQUEST_VOTE, .request_vote = {1, 2, 3, 4, true, false}},
        {.type = RAFT_IO_REQUEST_VOTE, .request_vote = {1, UINT64_MAX, 0, 0, false, true}},
        {.type = RAFT_IO_REQUEST_VOTE_RESULT, .request_vote_result = {7, true, raft_tribool_true}},
        {.type = RAFT_IO_APPEND_ENTRIES_RESULT, .append_entries_result = {1, 2, 3}},
        {.type = RAFT_IO_TIMEOUT_NOW, .timeout_now = {1, 2, 3}},
        {.type = RAFT_IO_APPEND_ENTRIES, .append_entries = {.term = 1}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf bytes = encode(&rows[i]);
        struct raft_message out;
        struct err err;
        assert_int_equal(wire_decode(buf_str(&bytes), &out, &err), ERR_OK);
        struct buf again = encode(&out);
        assert_int_equal(again.len, bytes.len);
        assert_memory_equal(again.ptr, bytes.ptr, bytes.len);
        wire_clear(&out);
        buf_add_char(&bytes, 0); /* an extra byte */
        assert_int_equal(wire_decode(buf_str(&bytes), &out, &err), ERR_CORRUPT);
        buf_deinit(&bytes);
        buf_deinit(&again);
    }
}

static struct buf manifest_bytes(uint64_t index, uint64_t term)
{
    struct raft_configuration c;
    struct buf members;
    struct buf out;
    raft_configuration_init(&c);
    assert_int_equal(raft_configuration_add(&c, 5, "h:1", RAFT_VOTER), 0);
    buf_init(&members, 4096);
    members_encode(&c, &members);
    raft_configuration_close(&c);
    const struct manifest_file file = {.name = STR("a"), .size = 3, .crc = 4};
    const struct manifest m = {.index = index,
                               .term = term,
                               .checkpoint = STR("00000000000000000007-abc"),
                               .members = buf_str(&members),
                               .members_index = 1,
                               .file = &file,
                               .file_count = 1};
    buf_init(&out, 1 << 20);
    manifest_encode(&m, &out);
    buf_deinit(&members);
    return out;
}

static void snapshot__must_be_its_manifest(void **state)
{
    (void)state;
    struct buf manifest = manifest_bytes(7, 3);
    struct raft_message m = {.type = RAFT_IO_INSTALL_SNAPSHOT,
                             .install_snapshot = {.term = 4,
                                                  .last_index = 7,
                                                  .last_term = 3,
                                                  .conf_index = 1,
                                                  .data = {manifest.ptr, manifest.len}}};
    struct buf bytes = encode(&m);
    struct raft_message out;
    struct err err;
    assert_int_equal(wire_decode(buf_str(&bytes), &out, &err), ERR_OK);
    assert_int_equal(out.install_snapshot.conf.n, 1);
    assert_int_equal(out.install_snapshot.data.len, manifest.len);
    wire_clear(&out);
    m.install_snapshot.last_index = 8;
    refused(&m);
    m.install_snapshot.last_index = 7;
    m.install_snapshot.last_term = 2;
    refused(&m);
    m.install_snapshot.last_term = 3;
    manifest.ptr[manifest.len / 2] = (char)(manifest.ptr[manifest.len / 2] ^ 1);
    refused(&m);
    buf_deinit(&bytes);
    buf_deinit(&manifest);
}

TEST_GROUP(wire, cmocka_unit_test(append__comes_out_as_it_went_in),
           cmocka_unit_test(every_cut__is_refused),
           cmocka_unit_test(appends_that_cannot_be__are_refused),
           cmocka_unit_test(fixed__come_out_as_they_went_in),
           cmocka_unit_test(snapshot__must_be_its_manifest));
