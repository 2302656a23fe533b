/*
 * Queue_scope: the queues that a key may use (http-api.md 3.5).
 *
 * A scope is a comma-separated list of patterns for the visible name of a queue; an empty scope
 * allows all queues. '*' matches any sequence of characters, '?' matches one character. A pattern
 * without either matches the name itself and all names below it, separated by a dot. A pattern that
 * ends with a dot is a prefix.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

bool queue_scope_has(struct str scope, struct str visible);
