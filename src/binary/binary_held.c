/*
 * The jobs that clients hold: they were pushed, and the client has not reported their end. A client
 * is notified if it loses one of its jobs.
 *
 * Every pushed job is added and removed, so removed entries are reused instead of being freed.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/pack.h"
#include "binary/binary_int.h"

/* Per connection. Jobs that are finished through another API would accumulate otherwise. */
enum { HELD_MAX = 65536 };

static struct str key_of(const struct id *id)
{
    return str_from(id->b, sizeof id->b);
}

static void put_back(struct binary_held *h)
{
    struct binary_conn *c = h->conn;
    struct binary *b = c->binary;
    map_remove(&b->held, &h->node);
    *(h->prev == NULL ? &c->held : &h->prev->next) = h->next;
    *(h->next == NULL ? &c->held_last : &h->next->prev) = h->prev;
    c->held_count--;
    h->next = b->held_free;
    b->held_free = h;
}

static struct binary_held *find(struct binary *b, struct id id)
{
    struct map_node *node = map_find(&b->held, key_of(&id));
    return node == NULL ? NULL : CONTAINER_OF(node, struct binary_held, node);
}

static struct binary_held *take_one(struct binary *b)
{
    struct binary_held *h = b->held_free;
    if (h == NULL) {
        h = malloc(sizeof *h);
        CHECK(h != NULL);
    } else {
        b->held_free = h->next;
    }
    return h;
}

/* Notify the client that its run is over. */
static void tell(struct binary_held *h)
{
    struct binary_conn *c = h->conn;
    char text[ID_TEXT_MAX];
    size_t begin = binary_message_begin(&c->out, BINARY_CANCELLED, 0);
    pack_u16(&c->out, 1);
    binary_message_text(&c->out, str_from(text, id_format(h->id, ID_JOB, text)));
    binary_message_finish(&c->out, begin);
    put_back(h);
    binary_conn__flush(c);
}

void binary_held__end_before(struct binary *b, struct id id)
{
    struct binary_held *old = find(b, id);
    if (old != NULL) {
        tell(old);
    }
}

void binary_held__add(struct binary_conn *c, struct id id, uint64_t lease_token)
{
    struct binary *b = c->binary;
    if (c->held_count == HELD_MAX) {
        put_back(c->held_last);
    }
    struct binary_held *h = take_one(b);
    *h = (struct binary_held){.conn = c, .id = id, .lease_token = lease_token, .next = c->held};
    h->node.key = key_of(&h->id);
    map_add(&b->held, &h->node);
    *(c->held == NULL ? &c->held_last : &c->held->prev) = h;
    c->held = h;
    c->held_count++;
}

void binary_held__forget(struct binary_conn *c, struct id id)
{
    struct binary_held *h = find(c->binary, id);
    if (h != NULL && h->conn == c) {
        put_back(h);
    }
}

void binary_held__forget_run(struct binary_conn *c, struct id id, uint64_t lease_token)
{
    struct binary_held *h = find(c->binary, id);
    if (h != NULL && h->conn == c && (lease_token == 0 || h->lease_token == lease_token)) {
        put_back(h);
    }
}

void binary_held__forget_all(struct binary_conn *c)
{
    while (c->held != NULL) {
        put_back(c->held);
    }
}

void binary_held__taken(void *binary, struct id job, uint64_t lease_token)
{
    struct binary_held *h = find(binary, job);
    if (h != NULL && h->lease_token == lease_token) {
        tell(h);
    }
}

void binary_held__free(struct binary *b)
{
    while (b->held_free != NULL) {
        struct binary_held *next = b->held_free->next;
        free(b->held_free);
        b->held_free = next;
    }
    map_deinit(&b->held);
}
