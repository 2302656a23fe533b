#include "raftnet/raftnet_frame.h"

#include "lib/exact.h"
#include "lib/test.h"

static struct buf make(struct str body)
{
    struct buf out;
    buf_init(&out, 4096);
    raftnet_frame_begin(&out);
    buf_add_str(&out, body);
    raftnet_frame_end(&out, RAFTNET_FRAME_RAFT, 3, 0x1122334455667788);
    return out;
}

static void frame__is_read_as_it_was_written(void **state)
{
    (void)state;
    struct buf bytes = make(STR("some words"));
    struct raftnet_frame f;
    size_t len = 0;
    buf_add_str(&bytes, STR("and more"));
    assert_int_equal(raftnet_frame_read(buf_str(&bytes), 100, &f, &len), RAFTNET_FRAME_WHOLE);
    assert_int_equal(len, RAFTNET_FRAME_HEAD_BYTES + 10);
    assert_int_equal(f.kind, RAFTNET_FRAME_RAFT);
    assert_int_equal(f.group, 3);
    assert_int_equal(f.cluster, 0x1122334455667788);
    assert_true(str_eq(f.body, STR("some words")));
    buf_deinit(&bytes);
}

static void frame__waits_at_every_cut(void **state)
{
    (void)state;
    struct buf bytes = make(STR("some words"));
    for (size_t cut = 0; cut < bytes.len; cut++) {
        struct raftnet_frame f;
        size_t len = 0;
        struct str copy = exact_copy(bytes.ptr, cut);
        assert_int_equal(raftnet_frame_read(copy, 100, &f, &len), RAFTNET_FRAME_MORE);
        assert_int_equal(len, cut < RAFTNET_FRAME_HEAD_BYTES ? 0 : bytes.len);
        exact_free(copy);
    }
    buf_deinit(&bytes);
}

static void frame__is_refused_when_a_byte_changed(void **state)
{
    (void)state;
    struct buf bytes = make(STR("some words"));
    for (size_t i = 0; i < bytes.len; i++) {
        struct raftnet_frame f;
        size_t len = 0;
        bytes.ptr[i] = (char)(bytes.ptr[i] ^ 1);
        assert_int_not_equal(raftnet_frame_read(buf_str(&bytes), 10, &f, &len),
                             RAFTNET_FRAME_WHOLE);
        bytes.ptr[i] = (char)(bytes.ptr[i] ^ 1);
    }
    buf_deinit(&bytes);
}

static void frame__is_refused_before_its_body_is_there(void **state)
{
    (void)state;
    struct buf bytes = make(STR("some words"));
    struct raftnet_frame f;
    size_t len = 0;
    struct str head = str_from(bytes.ptr, RAFTNET_FRAME_HEAD_BYTES);
    assert_int_equal(raftnet_frame_read(head, 9, &f, &len), RAFTNET_FRAME_LONG);
    bytes.ptr[4] = RAFTNET_FRAME_VERSION + 1;
    assert_int_equal(raftnet_frame_read(head, 100, &f, &len), RAFTNET_FRAME_FOREIGN);
    buf_deinit(&bytes);
}

TEST_GROUP(raftnet_frame, cmocka_unit_test(frame__is_read_as_it_was_written),
           cmocka_unit_test(frame__waits_at_every_cut),
           cmocka_unit_test(frame__is_refused_when_a_byte_changed),
           cmocka_unit_test(frame__is_refused_before_its_body_is_there));
