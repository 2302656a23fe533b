#include "rpc/rpc_gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/check.h"
#include "rpc/rpc_envelope.h"
#include "svc/svc_caller.h"

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

enum err_code rpc_gzip_inflate_to(struct rpc_gzip *g, struct str bytes, size_t limit_bytes,
                                  struct buf *out, struct err *err)
{
    buf_init(out, limit_bytes);
    buf_set_budget(out, g->budget);
    begin_inflate(g);
    set_input(&g->in, bytes);
    bool fine = inflate_all(&g->in, out);
    enum err_code full = buf_error(out);
    if (full == ERR_OK && fine) {
        return ERR_OK;
    }
    buf_deinit(out);
    return full == ERR_TOO_LARGE ? rpc_envelope_too_large(limit_bytes, err)
           : full != ERR_OK      ? err_set_default(err, full)
                                 : err_set(err, ERR_PARSE, "the message is not valid gzip data");
}

enum err_code rpc_gzip_inflate(struct rpc_gzip *g, struct str bytes, size_t limit_bytes,
                               struct arena *arena, struct str *out, struct err *err)
{
    struct buf whole;
    enum err_code code = rpc_gzip_inflate_to(g, bytes, limit_bytes, &whole, err);
    if (code != ERR_OK) {
        return code;
    }
    *out = arena_str(arena, buf_str(&whole));
    code = out->len == whole.len ? ERR_OK : svc_caller_refuse_full(arena, err);
    buf_deinit(&whole);
    return code;
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
