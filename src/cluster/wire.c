#include "cluster/wire.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/pack.h"
#include "raftlog/manifest.h"
#include "raftlog/members.h"
#include "raftlog/segment.h"

enum { APPEND_HEAD_BYTES = 36, ENTRY_HEAD_BYTES = 16, ENTRY_ALIGN = 8 };

/* --- encoding --- */

static void encode_append(const struct raft_append_entries *a, struct buf *out)
{
    size_t bytes = APPEND_HEAD_BYTES + a->n_entries * (size_t)ENTRY_HEAD_BYTES;
    for (unsigned i = 0; i < a->n_entries; i++) {
        bytes += a->entries[i].buf.len;
    }
    if (buf_reserve(out, bytes) == NULL) {
        return; /* out reports the overflow */
    }
    pack_u64(out, a->term);
    pack_u64(out, a->prev_log_index);
    pack_u64(out, a->prev_log_term);
    pack_u64(out, a->leader_commit);
    pack_u32(out, a->n_entries);
    for (unsigned i = 0; i < a->n_entries; i++) {
        pack_u64(out, a->entries[i].term);
        pack_u32(out, a->entries[i].type);
        pack_u32(out, (uint32_t)a->entries[i].buf.len);
    }
    for (unsigned i = 0; i < a->n_entries; i++) {
        buf_add(out, a->entries[i].buf.base, a->entries[i].buf.len);
    }
}

static void encode_install(const struct raft_install_snapshot *s, struct buf *out)
{
    pack_u64(out, s->term);
    pack_u64(out, s->last_index);
    pack_u64(out, s->last_term);
    pack_u64(out, s->conf_index);
    buf_add(out, s->data.base, s->data.len); /* the manifest also has the members */
}

void wire_encode(const struct raft_message *m, struct buf *out)
{
    pack_u8(out, WIRE_VERSION);
    pack_u8(out, (uint8_t)m->type);
    switch (m->type) {
    case RAFT_IO_APPEND_ENTRIES:
        encode_append(&m->append_entries, out);
        break;
    case RAFT_IO_APPEND_ENTRIES_RESULT:
        pack_u64(out, m->append_entries_result.term);
        pack_u64(out, m->append_entries_result.rejected);
        pack_u64(out, m->append_entries_result.last_log_index);
        break;
    case RAFT_IO_REQUEST_VOTE:
        pack_u64(out, m->request_vote.term);
        pack_u64(out, m->request_vote.candidate_id);
        pack_u64(out, m->request_vote.last_log_index);
        pack_u64(out, m->request_vote.last_log_term);
        pack_u8(out, m->request_vote.disrupt_leader ? 1 : 0);
        pack_u8(out, m->request_vote.pre_vote ? 1 : 0);
        break;
    case RAFT_IO_REQUEST_VOTE_RESULT:
        pack_u64(out, m->request_vote_result.term);
        pack_u8(out, m->request_vote_result.vote_granted ? 1 : 0);
        pack_u8(out, (uint8_t)m->request_vote_result.pre_vote);
        break;
    case RAFT_IO_INSTALL_SNAPSHOT:
        encode_install(&m->install_snapshot, out);
        break;
    case RAFT_IO_TIMEOUT_NOW:
        pack_u64(out, m->timeout_now.term);
        pack_u64(out, m->timeout_now.last_log_index);
        pack_u64(out, m->timeout_now.last_log_term);
        break;
    default:
        UNREACHABLE("Raft has six kinds of messages");
    }
}

/* --- decoding --- */

static enum err_code odd(struct err *err, const char *what)
{
    return err_set(err, ERR_CORRUPT, "a message of a peer is not valid: %s", what);
}

static uint64_t take_number(struct unpack *u)
{
    uint64_t v = unpack_u64(u);
    u->bad = u->bad || v > WIRE_NUMBER_MAX;
    return v;
}

static bool take_bool(struct unpack *u)
{
    uint8_t v = unpack_u8(u);
    u->bad = u->bad || v > 1;
    return v == 1;
}

static bool members_are_sound(struct str bytes)
{
    struct raft_configuration members;
    struct err err;
    if (members_decode(bytes, &members, &err) != ERR_OK) {
        return false;
    }
    raft_configuration_close(&members);
    return true;
}

/* Read the headers of the entries, and add up the bytes of the payloads. */
static enum err_code take_heads(struct unpack *u, struct raft_append_entries *a, size_t *out_bytes,
                                struct err *err)
{
    raft_term before = a->prev_log_term;
    *out_bytes = 0;
    for (unsigned i = 0; i < a->n_entries; i++) {
        struct raft_entry *e = &a->entries[i];
        e->term = take_number(u);
        uint32_t type = unpack_u32(u);
        e->type = (unsigned short)type;
        e->buf.len = unpack_u32(u);
        if (u->bad || e->term < before || e->term == 0 || e->term > a->term) {
            return odd(err, "the term of an entry");
        }
        if (type < RAFT_COMMAND || type > RAFT_CHANGE) {
            return odd(err, "the kind of an entry");
        }
        if (e->buf.len == 0 || e->buf.len % ENTRY_ALIGN != 0 ||
            e->buf.len > SEGMENT_PAYLOAD_BYTES_MAX) {
            return odd(err, "the size of an entry");
        }
        before = e->term;
        *out_bytes += e->buf.len;
    }
    return *out_bytes == unpack_left(u) ? ERR_OK : odd(err, "the size of its entries");
}

static enum err_code take_entries(struct unpack *u, struct raft_append_entries *a, struct err *err)
{
    size_t bytes = 0;
    a->entries = raft_calloc(a->n_entries, sizeof *a->entries);
    CHECK(a->entries != NULL);
    if (take_heads(u, a, &bytes, err) != ERR_OK) {
        return err->code;
    }
    char *batch = raft_malloc(bytes); /* one allocation for all entries, as Raft assumes */
    CHECK(batch != NULL);
    unpack_take(u, batch, bytes);
    for (unsigned i = 0; i < a->n_entries; i++) {
        struct raft_entry *e = &a->entries[i];
        e->batch = a->entries[0].batch == NULL ? batch : a->entries[0].batch;
        e->buf.base = batch;
        batch += e->buf.len;
    }
    for (unsigned i = 0; i < a->n_entries; i++) {
        const struct raft_entry *e = &a->entries[i];
        if (e->type == RAFT_CHANGE && !members_are_sound(str_from(e->buf.base, e->buf.len))) {
            return odd(err, "a list of members");
        }
    }
    return ERR_OK;
}

static enum err_code decode_append(struct unpack *u, struct raft_append_entries *a, struct err *err)
{
    a->term = take_number(u);
    a->prev_log_index = take_number(u);
    a->prev_log_term = take_number(u);
    a->leader_commit = take_number(u);
    uint32_t count = unpack_u32(u);
    if (u->bad || a->term == 0 || a->prev_log_term > a->term ||
        (a->prev_log_index == 0) != (a->prev_log_term == 0)) {
        return odd(err, "numbers of an append");
    }
    if (count > WIRE_ENTRIES_MAX || count > unpack_left(u) / ENTRY_HEAD_BYTES) {
        return odd(err, "the number of entries");
    }
    a->n_entries = count;
    return count == 0 ? ERR_OK : take_entries(u, a, err);
}

/* The manifest defines the snapshot: Raft's own fields must agree with it. */
static enum err_code take_manifest(struct str bytes, struct raft_install_snapshot *s,
                                   struct err *err)
{
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct manifest m;
    enum err_code code = manifest_decode(bytes, arena, &m, err);
    if (code == ERR_OK && (m.index != s->last_index || m.term != s->last_term ||
                           m.members_index != s->conf_index || m.index > WIRE_NUMBER_MAX)) {
        code = odd(err, "the manifest of another snapshot");
    }
    if (code == ERR_OK) {
        code = members_decode(m.members, &s->conf, err);
    }
    arena_free(arena);
    return code;
}

static enum err_code decode_install(struct unpack *u, struct raft_install_snapshot *s,
                                    struct err *err)
{
    s->term = take_number(u);
    s->last_index = take_number(u);
    s->last_term = take_number(u);
    s->conf_index = take_number(u);
    raft_configuration_init(&s->conf);
    struct str manifest = unpack_bytes(u, unpack_left(u));
    if (u->bad || s->term == 0 || s->last_index == 0 || s->last_term == 0 ||
        s->last_term > s->term || s->conf_index > s->last_index) {
        return odd(err, "numbers of a snapshot");
    }
    if (take_manifest(manifest, s, err) != ERR_OK) {
        return err->code;
    }
    s->data.base = raft_malloc(manifest.len);
    CHECK(s->data.base != NULL);
    memcpy(s->data.base, manifest.ptr, manifest.len);
    s->data.len = manifest.len;
    return ERR_OK;
}

static void decode_fixed(struct unpack *u, struct raft_message *m)
{
    switch (m->type) {
    case RAFT_IO_APPEND_ENTRIES_RESULT:
        m->append_entries_result.term = take_number(u);
        m->append_entries_result.rejected = take_number(u);
        m->append_entries_result.last_log_index = take_number(u);
        break;
    case RAFT_IO_REQUEST_VOTE:
        m->request_vote.term = take_number(u);
        m->request_vote.candidate_id = unpack_u64(u);
        m->request_vote.last_log_index = take_number(u);
        m->request_vote.last_log_term = take_number(u);
        m->request_vote.disrupt_leader = take_bool(u);
        m->request_vote.pre_vote = take_bool(u);
        break;
    case RAFT_IO_REQUEST_VOTE_RESULT: {
        m->request_vote_result.term = take_number(u);
        m->request_vote_result.vote_granted = take_bool(u);
        uint8_t pre = unpack_u8(u);
        m->request_vote_result.pre_vote = (raft_tribool)pre;
        u->bad = u->bad || pre > raft_tribool_false;
        break;
    }
    case RAFT_IO_TIMEOUT_NOW:
        m->timeout_now.term = take_number(u);
        m->timeout_now.last_log_index = take_number(u);
        m->timeout_now.last_log_term = take_number(u);
        break;
    default:
        u->bad = true;
        break;
    }
}

enum err_code wire_decode(struct str bytes, struct raft_message *out, struct err *err)
{
    struct unpack u = unpack_from(bytes);
    uint8_t version = unpack_u8(&u);
    *out = (struct raft_message){.type = unpack_u8(&u)};
    if (u.bad || version != WIRE_VERSION) {
        return odd(err, "its version");
    }
    enum err_code code = ERR_OK;
    if (out->type == RAFT_IO_APPEND_ENTRIES) {
        code = decode_append(&u, &out->append_entries, err);
    } else if (out->type == RAFT_IO_INSTALL_SNAPSHOT) {
        code = decode_install(&u, &out->install_snapshot, err);
    } else {
        decode_fixed(&u, out);
    }
    if (code == ERR_OK && !unpack_done(&u)) {
        code = odd(err, "it is cut off or too long");
    }
    if (code != ERR_OK) {
        wire_clear(out);
    }
    return code;
}

void wire_clear(struct raft_message *m)
{
    if (m->type == RAFT_IO_APPEND_ENTRIES) {
        struct raft_append_entries *a = &m->append_entries;
        if (a->entries != NULL) {
            raft_free(a->entries[0].batch);
        }
        raft_free(a->entries);
        a->entries = NULL;
        a->n_entries = 0;
    } else if (m->type == RAFT_IO_INSTALL_SNAPSHOT) {
        raft_configuration_close(&m->install_snapshot.conf);
        raft_free(m->install_snapshot.data.base);
        m->install_snapshot.data.base = NULL;
    }
}

void wire_cut(struct raft_message *m, unsigned count)
{
    CHECK(m->type == RAFT_IO_APPEND_ENTRIES && count <= m->append_entries.n_entries);
    if (count == 0) {
        wire_clear(m);
    }
    m->append_entries.n_entries = count; /* all entries are freed with the first one's batch */
}
