/*
 * Entry: functions that all commands use while their entry is applied: refusing, memory and texts
 * that are valid until its end, and whether the entry is full.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

void entry__refuse(struct machine *m, struct result *r, enum err_code code, const char *fmt, ...)
{
    char text[sizeof(((struct err *)0)->msg)];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    CHECK(n >= 0);
    size_t len = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    r->code = code;
    r->message = arena_str(m->arena, str_from(text, len));
}

void *entry__alloc(struct machine *m, size_t size)
{
    void *p = arena_alloc(m->arena, size == 0 ? 1 : size, _Alignof(max_align_t));
    CHECK(p != NULL);
    return p;
}

struct str entry__id_text(struct machine *m, struct id id, struct str prefix)
{
    char *text = entry__alloc(m, ID_TEXT_MAX);
    return str_from(text, id_format(id, prefix, text));
}

/* The bytes that the entry has read and written so far: the same on every node. */
uint64_t entry__cost(const struct machine *m)
{
    return kv_batch_bytes(m->store.batch).len + m->events.bytes.len +
           store_docs_read_bytes(m->store.docs) + m->extra_bytes;
}

bool entry__is_full(const struct machine *m)
{
    if (m->entry_version < 2) {
        /* A node that wrote a larger entry could not have applied it, so no log continues after
         * one. */
        return kv_batch_bytes(m->store.batch).len > LIMIT_OLD_STEP_BYTES;
    }
    return entry__cost(m) >= LIMIT_STEP_BYTES;
}

char *entry__own_texts(struct str *texts[], size_t count)
{
    size_t len = 1;
    for (size_t i = 0; i < count; i++) {
        len += texts[i]->len;
    }
    char *memory = malloc(len);
    CHECK(memory != NULL);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (texts[i]->len > 0) {
            memcpy(memory + at, texts[i]->ptr, texts[i]->len);
        }
        texts[i]->ptr = memory + at;
        at += texts[i]->len;
    }
    return memory;
}

struct str entry__keep(struct machine *m, struct buf *b)
{
    CHECK(!b->overflow);
    struct str kept = arena_str(m->arena, buf_str(b));
    CHECK(kept.len == b->len);
    buf_deinit(b);
    return kept;
}
