#include "cluster/members.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/pack.h"

enum { ENCODING = 1 };

struct str members_encode(const struct raft_configuration *members)
{
    struct raft_buffer bytes;
    CHECK(members->n > 0);
    CHECK(raft_configuration_encode(members, &bytes) == 0); /* fails only without memory */
    return str_from(bytes.base, bytes.len);
}

/* The address in front, and its NUL; NULL when there is none. */
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
    /* raft_configuration_add refuses unknown roles and what is there twice. */
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
