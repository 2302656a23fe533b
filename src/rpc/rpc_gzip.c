#include "rpc/rpc_gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/check.h"

enum {
    GZIP_WINDOW = 15 + 16, /* zlib: the largest window, and the format gzip */
    MEMORY_LEVEL = 8,      /* zlib's default: 256 KiB */
    CHUNK_BYTES = 8 * 1024,
};

struct rpc_gzip {
    struct budget *budget;
    z_stream in, out;
    bool in_used, out_used;
};

struct rpc_gzip *rpc_gzip_new(struct budget *budget)
{
    struct rpc_gzip *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    g->budget = budget;
    return g;
}

void rpc_gzip_free(struct rpc_gzip *g)
{
    if (g != NULL) {
        if (g->in_used) {
            (void)inflateEnd(&g->in);
        }
        if (g->out_used) {
            (void)deflateEnd(&g->out);
        }
        free(g);
    }
}

/* zlib takes the length as unsigned int, and does not write to its input. */
static void set_input(z_stream *z, struct str bytes)
{
    CHECK(bytes.len <= UINT_MAX);
    z->next_in = (z_const Bytef *)(uintptr_t)bytes.ptr;
    z->avail_in = (uInt)bytes.len;
}

static void begin_inflate(struct rpc_gzip *g)
{
    int rc = g->in_used ? inflateReset(&g->in) : inflateInit2(&g->in, GZIP_WINDOW);
    CHECK(rc == Z_OK);
    g->in_used = true;
}

/* Inflate all gzip members, one after the other. False if the bytes are not valid gzip data. */
static bool inflate_all(z_stream *z, struct buf *out)
{
    char chunk[CHUNK_BYTES];
    int rc = Z_OK;
    while (!out->overflow && (rc != Z_STREAM_END || z->avail_in > 0)) {
        if (rc == Z_STREAM_END) {
            CHECK(inflateReset(z) == Z_OK);
        }
        z->next_out = (Bytef *)chunk;
        z->avail_out = sizeof chunk;
        rc = inflate(z, Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END) {
            return false; /* Z_BUF_ERROR: the data is truncated */
        }
        buf_add(out, chunk, sizeof chunk - z->avail_out);
    }
    return true;
}

enum err_code rpc_gzip_inflate(struct rpc_gzip *g, struct str bytes, size_t limit_bytes,
                               struct arena *arena, struct str *out, struct err *err)
{
    struct buf whole;
    buf_init(&whole, limit_bytes);
    buf_set_budget(&whole, g->budget);
    begin_inflate(g);
    set_input(&g->in, bytes);
    bool fine = inflate_all(&g->in, &whole);
    if (whole.overflow) {
        (void)err_set_default(err, buf_error(&whole));
    } else if (!fine) {
        (void)err_set(err, ERR_PARSE, "the message is not valid gzip data");
    } else {
        *out = arena_str(arena, buf_str(&whole));
        if (out->len == whole.len) {
            err->code = ERR_OK;
        } else {
            (void)err_set_default(err, arena_error(arena));
        }
    }
    buf_deinit(&whole);
    return err->code;
}

static void begin_deflate(struct rpc_gzip *g)
{
    int rc = g->out_used ? deflateReset(&g->out)
                         : deflateInit2(&g->out, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW,
                                        MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    CHECK(rc == Z_OK);
    g->out_used = true;
}

void rpc_gzip_deflate(struct rpc_gzip *g, struct str message, struct buf *out)
{
    char chunk[CHUNK_BYTES];
    int rc;
    begin_deflate(g);
    set_input(&g->out, message);
    do {
        g->out.next_out = (Bytef *)chunk;
        g->out.avail_out = sizeof chunk;
        rc = deflate(&g->out, Z_FINISH);
        CHECK(rc == Z_OK || rc == Z_STREAM_END);
        buf_add(out, chunk, sizeof chunk - g->out.avail_out);
    } while (rc != Z_STREAM_END);
}
