#include "fsm/command/command_node.h"

#include "base/pack.h"
#include "fsm/command/command.h"

/* A member is encoded as its number and its record. */
void command_node__encode_put(const struct command *c, struct buf *out)
{
    pack_u64(out, c->node_put.node.id);
    store_node_encode(&c->node_put.node, out);
}

void command_node__decode_put(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    uint64_t id = unpack_u64(u);
    if (!store_node_decode(id, unpack_bytes(u, unpack_left(u)), &c->node_put.node)) {
        u->bad = true;
    }
}

void command_node__encode_state(const struct command *c, struct buf *out)
{
    pack_u64(out, c->node_state.id);
    pack_u8(out, (uint8_t)c->node_state.state);
}

void command_node__decode_state(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->node_state.id = unpack_u64(u);
    uint8_t state = unpack_u8(u);
    c->node_state.state = (enum store_node_state)state;
    if (state >= STORE_NODE_STATE_COUNT) {
        u->bad = true;
    }
}

/* Is it usable as a name in URLs, log lines and tables? */
static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] <= ' ' || s.ptr[i] > '~' || s.ptr[i] == '/') {
            return false;
        }
    }
    return s.len > 0;
}

enum err_code command_node__check_put(const struct command *c, const struct command_limits *limits,
                                      struct err *err)
{
    const struct store_node *n = &c->node_put.node;
    (void)limits;
    if (!is_plain(n->name) || n->name.len > STORE_NODE_NAME_BYTES_MAX) {
        return err_set(err, ERR_VALIDATION,
                       "node_id must have 1 to %d visible ASCII characters and no slash",
                       STORE_NODE_NAME_BYTES_MAX);
    }
    if (n->address.len == 0 || n->address.len > STORE_NODE_ADDRESS_BYTES_MAX ||
        !str_is_utf8(n->address)) {
        return err_set(err, ERR_VALIDATION, "addr must be host:port with at most %d bytes",
                       STORE_NODE_ADDRESS_BYTES_MAX);
    }
    if (n->http_url.len > STORE_NODE_URL_BYTES_MAX || !str_is_utf8(n->http_url)) {
        return err_set(err, ERR_VALIDATION, "http_url must have at most %d bytes",
                       STORE_NODE_URL_BYTES_MAX);
    }
    if (n->version.len > STORE_NODE_VERSION_BYTES_MAX || !str_is_utf8(n->version)) {
        return err_set(err, ERR_VALIDATION, "version must have at most %d bytes",
                       STORE_NODE_VERSION_BYTES_MAX);
    }
    return n->id == 0 ? err_set(err, ERR_VALIDATION, "raft_id must not be 0") : ERR_OK;
}
