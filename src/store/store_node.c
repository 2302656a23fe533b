#include "store/store_node.h"

#include "base/pack.h"

enum { NODE_VERSION = 1, FLAG_VOTER = 1 };

void store_node_encode(const struct store_node *n, struct buf *out)
{
    pack_u8(out, NODE_VERSION);
    pack_u8(out, (uint8_t)n->state);
    pack_u8(out, n->voter ? FLAG_VOTER : 0);
    pack_text(out, n->name);
    pack_text(out, n->address);
    pack_text(out, n->http_url);
    pack_text(out, n->version);
}

bool store_node_decode(uint64_t id, struct str value, struct store_node *out)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    uint8_t state = unpack_u8(&u);
    uint8_t flags = unpack_u8(&u);
    *out = (struct store_node){.id = id, .state = (enum store_node_state)state};
    out->voter = (flags & FLAG_VOTER) != 0;
    out->name = unpack_text(&u);
    out->address = unpack_text(&u);
    out->http_url = unpack_text(&u);
    out->version = unpack_text(&u);
    return unpack_done(&u) && version == NODE_VERSION && state < STORE_NODE_STATE_COUNT &&
           flags <= FLAG_VOTER && out->name.len <= STORE_NODE_NAME_BYTES_MAX &&
           out->address.len <= STORE_NODE_ADDRESS_BYTES_MAX &&
           out->http_url.len <= STORE_NODE_URL_BYTES_MAX &&
           out->version.len <= STORE_NODE_VERSION_BYTES_MAX;
}
