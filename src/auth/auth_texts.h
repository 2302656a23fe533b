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

/* All zeros: empty. */
struct auth_texts {
    struct map by_text;
    struct auth_text_place *places; /* indexed by number, from 1 */
    uint32_t count, cap, free;
};

/* Release all texts; their numbers become invalid. */
void auth_texts_clear(struct auth_texts *t);

void auth_texts_deinit(struct auth_texts *t);

/* Replace *number by the number of this text, and release the old text. */
void auth_texts_set(struct auth_texts *t, uint32_t *number, struct str text);

/* Valid until the last reference to the number is released. */
struct str auth_texts_at(const struct auth_texts *t, uint32_t number);

/* The number of texts. */
size_t auth_texts_count(const struct auth_texts *t);
