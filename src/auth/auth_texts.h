/*
 * Auth_texts: stores each distinct text once, under a number, as long as it is in use.
 *
 * A hundred thousand keys share a few roles, namespaces and scopes; a key refers to them with
 * numbers of 4 bytes. Number 0 is the empty text. Not thread-safe: the table's lock guards it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"

struct auth_text_place;

/* Zero is one without texts. */
struct auth_texts {
    struct map by_text;
    struct auth_text_place *places; /* by number, from 1 */
    uint32_t count, cap, free;
};

/* Nobody has any: their numbers mean nothing any more. */
void auth_texts_clear(struct auth_texts *t);

void auth_texts_deinit(struct auth_texts *t);

/* Put the number of this text in the place of another, which is let go. */
void auth_texts_set(struct auth_texts *t, uint32_t *number, struct str text);

/* Until the last number of it is let go. */
struct str auth_texts_at(const struct auth_texts *t, uint32_t number);

/* How many there are. */
size_t auth_texts_count(const struct auth_texts *t);
