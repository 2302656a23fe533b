#include "raftlog/members.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/pack.h"
#include "base/unpack.h"

enum { ENCODING = 1, MEMBERS_ALIGN = 8 };

void members_encode(const struct raft_configuration *members, struct buf *out)
{
    CHECK(members->n > 0);
    size_t start = out->len;
    pack_u8(out, ENCODING);
    pack_u64(out, members->n);
    for (unsigned i = 0; i < members->n; i++) {
        const struct raft_server *s = &members->servers[i];
        pack_u64(out, s->id);
        buf_add(out, s->address, strlen(s->address) + 1);
        pack_u8(out, (uint8_t)s->role);
    }
    while ((out->len - start) % MEMBERS_ALIGN != 0 && !out->overflow) {
        pack_u8(out, 0);
    }
}

/* The address at the front, including its NUL; NULL if there is none. */
static const char *take_address(struct unpack *u)
{
    const char *at = (const char *)u->at;
    size_t left = unpack_left(u);
    const char *end = left == 0 ? NULL : memchr(at, '\0', left);
    size_t len = end == NULL ? 0 : (size_t)(end - at);
    if (len == 0 || len > MEMBERS_ADDRESS_BYTES_MAX) {
        u->bad = true;
        return NULL;
    }
    (void)unpack_bytes(u, len + 1);
    return at;
}

static bool add_member(struct unpack *u, struct raft_configuration *out)
{
    uint64_t id = unpack_u64(u);
    const char *address = take_address(u);
    uint8_t role = unpack_u8(u);
    /* raft_configuration_add refuses unknown roles and duplicates. */
    return !u->bad && id != 0 && raft_configuration_add(out, id, address, role) == 0;
}

enum err_code members_decode(struct str bytes, struct raft_configuration *out, struct err *err)
{
    struct unpack u = unpack_from(bytes);
    struct raft_configuration members;
    raft_configuration_init(&members);
    bool good = bytes.len <= MEMBERS_BYTES_MAX && unpack_u8(&u) == ENCODING;
    uint64_t count = unpack_u64(&u);
    good = good && !u.bad && count > 0 && count <= MEMBERS_MAX;
    for (uint64_t i = 0; i < count && good; i++) {
        good = add_member(&u, &members);
    }
    if (!good) {
        raft_configuration_close(&members);
        return err_set(err, ERR_CORRUPT, "the list of members is damaged");
    }
    *out = members;
    return ERR_OK;
}

unsigned members_voter_count(const struct raft_configuration *members)
{
    unsigned count = 0;
    for (unsigned i = 0; i < members->n; i++) {
        count += members->servers[i].role == RAFT_VOTER ? 1 : 0;
    }
    return count;
}
