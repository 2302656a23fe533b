/*
 * Fuzz: gzip from any bytes. Inflated text is within the limit, and deflated text inflates to the
 * same bytes.
 */
#include <stdint.h>

#include "base/check.h"
#include "rpc/rpc_gzip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_from(data, size);
    struct str out = STR_EMPTY;
    struct err err;
    struct buf packed;
    struct rpc_gzip *g = rpc_gzip_new(NULL);
    struct arena *arena = arena_new(4 * LIMIT);
    if (rpc_gzip_inflate(g, bytes, LIMIT, arena, &out, &err) == ERR_OK) {
        CHECK(out.len <= LIMIT);
    }
    if (size <= LIMIT) {
        buf_init(&packed, 2 * LIMIT);
        rpc_gzip_deflate(g, bytes, &packed);
        CHECK(!packed.overflow);
        CHECK(rpc_gzip_inflate(g, buf_str(&packed), LIMIT, arena, &out, &err) == ERR_OK);
        CHECK(str_eq(out, bytes));
        buf_deinit(&packed);
    }
    arena_free(arena);
    rpc_gzip_free(g);
    return 0;
}
