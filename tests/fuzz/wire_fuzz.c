/*
 * Fuzz: frames and Raft messages from peers. An accepted message encodes to the same bytes and
 * meets the conditions that the log relies on.
 */
#include "cluster/wire.h"

#include "base/check.h"
#include "raftlog/members.h"
#include "raftlog/segment.h"
#include "raftnet/raftnet_frame.h"
#include "raftnet/raftnet_shake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entries(const struct raft_append_entries *a)
{
    struct raft_configuration members;
    struct err err;
    for (unsigned i = 0; i < a->n_entries; i++) {
        const struct raft_entry *e = &a->entries[i];
        CHECK(e->type >= RAFT_COMMAND && e->type <= RAFT_CHANGE);
        CHECK(e->buf.len > 0 && e->buf.len % 8 == 0 && e->buf.len <= SEGMENT_PAYLOAD_BYTES_MAX);
        CHECK(e->term > 0 && e->term <= a->term);
        if (e->type == RAFT_CHANGE) {
            CHECK(members_decode(str_from(e->buf.base, e->buf.len), &members, &err) == ERR_OK);
            raft_configuration_close(&members);
        }
    }
}

static void take_message(struct str bytes)
{
    struct raft_message m;
    struct err err;
    struct buf again;
    if (wire_decode(bytes, &m, &err) != ERR_OK) {
        return;
    }
    if (m.type == RAFT_IO_APPEND_ENTRIES) {
        check_entries(&m.append_entries);
    }
    buf_init(&again, RAFTNET_FRAME_BODY_BYTES_MAX);
    wire_encode(&m, &again);
    CHECK(str_eq(buf_str(&again), bytes));
    buf_deinit(&again);
    wire_clear(&m);
}

static void take_frame(struct str bytes)
{
    struct raftnet_frame f;
    size_t len = 0;
    struct buf out;
    struct err err;
    const struct raftnet_shake_node self = {.id = 1, .cluster = 2};
    if (raftnet_frame_read(bytes, RAFTNET_FRAME_BODY_BYTES_MAX, &f, &len) != RAFTNET_FRAME_WHOLE) {
        f = (struct raftnet_frame){.kind = bytes.len > 0 ? (uint8_t)bytes.ptr[0] : 0,
                                   .body = bytes};
    }
    for (int dials = 0; dials < 2; dials++) {
        struct raftnet_shake s = {.purpose = RAFTNET_SHAKE_MESSAGES};
        buf_init(&out, 1 << 16);
        raftnet_shake_begin(&s, dials != 0, &self, STR("secret"), &out);
        if (f.body.len <= RAFTNET_FRAME_SHAKE_BYTES_MAX) {
            (void)raftnet_shake_take(&s, &f, &out, &err);
        }
        raftnet_shake_deinit(&s);
        buf_deinit(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_from(data, size);
    take_message(bytes);
    take_frame(bytes);
    return 0;
}
