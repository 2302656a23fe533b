#include "auth/auth_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/check.h"

struct text {
    struct map_node node;
    uint32_t number;
    uint32_t refs;
    char bytes[];
};

struct auth_text_place {
    struct text *text; /* NULL: free */
    uint32_t next_free;
};

static void free_text(struct map_node *n, void *data)
{
    map_remove(data, n);
    free(CONTAINER_OF(n, struct text, node));
}

void auth_texts_clear(struct auth_texts *t)
{
    map_each(&t->by_text, free_text, &t->by_text);
    free(t->places);
    t->places = NULL;
    t->count = t->cap = t->free = 0;
}

void auth_texts_deinit(struct auth_texts *t)
{
    auth_texts_clear(t);
    map_deinit(&t->by_text);
}

/* The number of a free place. */
static uint32_t take_place(struct auth_texts *t)
{
    if (t->free != 0) {
        uint32_t number = t->free;
        t->free = t->places[number - 1].next_free;
        return number;
    }
    if (t->count == t->cap) {
        t->cap = t->cap == 0 ? 16 : t->cap * 2;
        t->places = realloc(t->places, t->cap * sizeof *t->places);
        CHECK(t->places != NULL);
    }
    return ++t->count;
}

static uint32_t ref(struct auth_texts *t, struct str s)
{
    if (s.len == 0 || s.ptr == NULL) {
        return 0;
    }
    struct map_node *n = map_find(&t->by_text, s);
    if (n != NULL) {
        struct text *text = CONTAINER_OF(n, struct text, node);
        text->refs++;
        return text->number;
    }
    struct text *text = malloc(sizeof *text + s.len);
    CHECK(text != NULL);
    memcpy(text->bytes, s.ptr, s.len);
    text->node.key = str_from(text->bytes, s.len);
    text->number = take_place(t);
    text->refs = 1;
    t->places[text->number - 1] = (struct auth_text_place){.text = text};
    map_add(&t->by_text, &text->node);
    return text->number;
}

static void unref(struct auth_texts *t, uint32_t number)
{
    if (number == 0) {
        return;
    }
    struct auth_text_place *place = &t->places[number - 1];
    CHECK(place->text != NULL && place->text->refs > 0);
    if (--place->text->refs == 0) {
        map_remove(&t->by_text, &place->text->node);
        free(place->text);
        *place = (struct auth_text_place){.next_free = t->free};
        t->free = number;
    }
}

void auth_texts_set(struct auth_texts *t, uint32_t *number, struct str text)
{
    uint32_t before = *number;
    *number = ref(t, text);
    unref(t, before);
}

struct str auth_texts_at(const struct auth_texts *t, uint32_t number)
{
    CHECK(number <= t->count);
    return number == 0 ? STR_EMPTY : t->places[number - 1].text->node.key;
}

size_t auth_texts_count(const struct auth_texts *t)
{
    return t->by_text.count;
}
