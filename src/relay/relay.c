#include "relay/relay.h"

#include <stdlib.h>

#include "base/check.h"
#include "relay/relay_int.h"

static void again_cb(uv_idle_t *idle)
{
    relay__tell(idle->data);
}

struct relay *relay_open(uv_loop_t *loop, const char *ca_file)
{
    struct relay *r = calloc(1, sizeof *r);
    CHECK(r != NULL);
    r->loop = loop;
    r->ca_file = ca_file;
    r->room = malloc(RELAY_ROOM_BYTES);
    CHECK(r->room != NULL);
    CHECK(uv_idle_init(loop, &r->again) == 0);
    r->again.data = r;
    r->holders = 1;
    return r;
}

void relay__release(struct relay *r)
{
    CHECK(r->holders > 0);
    if (--r->holders == 0) {
        SSL_CTX_free(r->context);
        free(r->plain);
        free(r->room);
        free(r);
    }
}

static void again_closed(uv_handle_t *handle)
{
    relay__release(handle->data);
}

void relay_close(struct relay *r)
{
    while (r->links != NULL) {
        relay_link__close(r->links);
    }
    CHECK(r->stirred == NULL);
    uv_close((uv_handle_t *)&r->again, again_closed);
}

/* Callbacks to owners run outside of nghttp2 and of the owners' own calls. */

void relay__stir(struct relay *r, struct relay_stream *s)
{
    if (!s->stirred) {
        s->stirred = true;
        s->stirred_next = r->stirred;
        r->stirred = s;
        CHECK(uv_idle_start(&r->again, again_cb) == 0);
    }
}

static void unstir(struct relay *r, struct relay_stream *s)
{
    struct relay_stream **at = &r->stirred;
    while (s->stirred && *at != s) {
        CHECK(*at != NULL);
        at = &(*at)->stirred_next;
    }
    if (s->stirred) {
        *at = s->stirred_next;
        s->stirred = false;
    }
}

void relay__tell(struct relay *r)
{
    (void)uv_idle_stop(&r->again);
    while (r->stirred != NULL) {
        struct relay_stream *s = r->stirred;
        r->stirred = s->stirred_next;
        s->stirred = false;
        if ((s->ended || s->failed) && s->link != NULL) {
            relay_link__reset(s);
        }
        s->moved(s); /* s may be gone after this */
    }
}

/* Streams */

static struct relay_link *find_link(struct relay *r, struct str url)
{
    for (struct relay_link *l = r->links; l != NULL; l = l->next) {
        if (str_eq(l->url, url) && relay_link__has_room(l)) {
            return l;
        }
    }
    return relay_link__open(r, url);
}

void relay_send(struct relay *r, struct relay_stream *s, const struct relay_request *request)
{
    s->relay = r;
    s->body = request->body;
    s->body_open = request->body_open;
    buf_init(&s->in, (size_t)RELAY_WINDOW_BYTES * 2);
    buf_init(&s->out, SIZE_MAX); /* limited by the sender's window */
    relay_link__submit(find_link(r, request->url), s, request);
}

void relay_write(struct relay_stream *s, struct str bytes)
{
    if (s->link != NULL) {
        buf_add_str(&s->out, bytes);
        relay_link__go_on(s);
    }
}

void relay_write_end(struct relay_stream *s)
{
    if (s->link != NULL) {
        s->body_open = false;
        relay_link__go_on(s);
    }
}

void relay_take(struct relay_stream *s, size_t n)
{
    CHECK(n <= s->in.len);
    s->in.len -= n;
    if (n > 0 && s->in.len > 0) {
        memmove(s->in.ptr, s->in.ptr + n, s->in.len);
    }
    if (s->link != NULL) {
        relay_link__consumed(s, n);
    }
}

void relay_cancel(struct relay_stream *s)
{
    if (s->relay != NULL) {
        unstir(s->relay, s);
    }
    if (s->link != NULL) {
        relay_link__reset(s);
    }
}

void relay_stream_deinit(struct relay_stream *s)
{
    relay_cancel(s);
    if (s->relay != NULL) {
        buf_deinit(&s->in);
        buf_deinit(&s->out);
        s->relay = NULL;
    }
}

void relay_flush(struct relay *r)
{
    struct relay_link *next;
    for (struct relay_link *l = r->links; l != NULL; l = next) {
        next = l->next;
        relay_link__flush(l);
    }
}
