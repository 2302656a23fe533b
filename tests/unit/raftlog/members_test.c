#include "raftlog/members.h"

#include "lib/exact.h"
#include "lib/test.h"

static struct raft_configuration three(void)
{
    struct raft_configuration c;
    raft_configuration_init(&c);
    assert_int_equal(raft_configuration_add(&c, 1, "10.0.0.1:9401", RAFT_VOTER), 0);
    assert_int_equal(raft_configuration_add(&c, 77, "node-77:9401", RAFT_SPARE), 0);
    assert_int_equal(raft_configuration_add(&c, UINT64_MAX, "x", RAFT_VOTER), 0);
    return c;
}

static struct buf encode(const struct raft_configuration *c)
{
    struct buf bytes;
    buf_init(&bytes, MEMBERS_BYTES_MAX);
    members_encode(c, &bytes);
    assert_false(bytes.overflow);
    return bytes;
}

/* Return the size without the padding to 8 bytes. The last byte of the last member is not 0. */
static size_t used_bytes(const struct buf *bytes)
{
    size_t used = bytes->len;
    while (bytes->ptr[used - 1] == 0) {
        used--;
    }
    return used;
}

static void members__are_encoded_as_libraft_does_it(void **state)
{
    (void)state;
    struct raft_configuration in = three();
    struct buf ours = encode(&in);
    struct raft_buffer theirs;
    assert_int_equal(raft_configuration_encode(&in, &theirs), 0);
    assert_int_equal(ours.len, theirs.len);
    assert_int_equal(ours.ptr[used_bytes(&ours) - 1], RAFT_VOTER);
    assert_memory_equal(ours.ptr, theirs.base, used_bytes(&ours));
    raft_free(theirs.base);
    raft_configuration_close(&in);
    buf_deinit(&ours);
}

static void members__decode_to_what_they_were(void **state)
{
    (void)state;
    struct raft_configuration in = three();
    struct raft_configuration out;
    struct err err;
    struct buf bytes = encode(&in);
    assert_int_equal(members_decode(buf_str(&bytes), &out, &err), ERR_OK);
    assert_int_equal(out.n, in.n);
    for (unsigned i = 0; i < in.n; i++) {
        assert_int_equal(out.servers[i].id, in.servers[i].id);
        assert_int_equal(out.servers[i].role, in.servers[i].role);
        assert_string_equal(out.servers[i].address, in.servers[i].address);
    }
    assert_int_equal(members_voter_count(&out), 2);
    raft_configuration_close(&in);
    raft_configuration_close(&out);
    buf_deinit(&bytes);
}

static void members__are_refused_at_every_cut(void **state)
{
    (void)state;
    struct raft_configuration in = three();
    struct raft_configuration out;
    struct err err;
    struct buf bytes = encode(&in);
    for (size_t len = 0; len < used_bytes(&bytes); len++) {
        struct str cut = exact_copy(bytes.ptr, len);
        assert_int_equal(members_decode(cut, &out, &err), ERR_CORRUPT);
        exact_free(cut);
    }
    raft_configuration_close(&in);
    buf_deinit(&bytes);
}

#define BYTES(lit)                                                                                 \
    {                                                                                              \
        .ptr = (lit), .len = sizeof(lit) - 1                                                       \
    }

static const struct {
    const char *name;
    struct str bytes;
} bad_rows[] = {
    {"nothing", BYTES("")},
    {"another encoding", BYTES("\2\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0a\0\1")},
    {"nobody", BYTES("\1\0\0\0\0\0\0\0\0")},
    {"more than fit", BYTES("\1\377\377\377\377\0\0\0\0\1\0\0\0\0\0\0\0a\0\1")},
    {"an id of 0", BYTES("\1\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a\0\1")},
    {"an unknown role", BYTES("\1\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0a\0\7")},
    {"no address", BYTES("\1\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\1")},
    {"an address without an end", BYTES("\1\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0abc")},
    {"the same one twice", BYTES("\1\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0a\0\1\1\0\0\0\0\0\0\0b\0\1")},
};

static void members__are_refused_when_they_make_no_sense(void **state)
{
    (void)state;
    struct raft_configuration out;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(bad_rows); i++) {
        ROW(bad_rows[i].name);
        assert_int_equal(members_decode(bad_rows[i].bytes, &out, &err), ERR_CORRUPT);
    }
}

TEST_GROUP(members, cmocka_unit_test(members__are_encoded_as_libraft_does_it),
           cmocka_unit_test(members__decode_to_what_they_were),
           cmocka_unit_test(members__are_refused_at_every_cut),
           cmocka_unit_test(members__are_refused_when_they_make_no_sense));
