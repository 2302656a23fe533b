/*
 * Queue_scope: which queues a key may touch (http-api.md 3.5).
 *
 * A scope is patterns with commas between, over the visible name of a queue; an empty one is all
 * queues. '*' stands for any run of characters, '?' for one; a pattern without either means the
 * name itself and whatever is below it at a dot; one that ends in a dot is a prefix.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

bool queue_scope_has(struct str scope, struct str visible);
