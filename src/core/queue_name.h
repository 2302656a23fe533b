/*
 * Queue_name: internal names of queues, and their names in a namespace (http-api.md 2.5, 3.4).
 *
 * In the default namespace, written as the empty text, the internal name of a queue is its name,
 * and everything is visible. In any other namespace it is "<namespace>::<name>", and only queues
 * with this prefix are visible.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

#define QUEUE_NAME_MARK STR("::") /* between the namespace and the name */

/* Whether a namespace may be called so: 1 to LIMIT_NAMESPACE_BYTES lower-case letters, digits and
 * hyphens, none of which are at an end (http-api.md 18.4). */
bool queue_name_is_namespace(struct str s);

/* The queue of each namespace that has the jobs of the Scheduled-DB API, and no others
 * (scheduler.md 21.2). */
#define QUEUE_NAME_SCHEDULER STR("scheduled-db")
bool queue_name_is_scheduler(struct str internal);

/* Whether the mark is somewhere in the name: to the default namespace it is then one of another. */
bool queue_name_has_mark(struct str name);

/* Append the internal name. */
void queue_name_add_internal(struct buf *out, struct str ns, struct str name);

bool queue_name_is_visible(struct str ns, struct str internal);

/* The namespace that an internal name is of: what is before its first mark, where that could be
 * one; otherwise empty, for the default one. */
struct str queue_name_namespace(struct str internal);

/* Whether it is one of the namespace's own: the default one sees all, but has few. */
bool queue_name_is_of(struct str ns, struct str internal);

/* The namespace whose backup has the queue: that of its name, unless nobody could be in that one
 * ("default::x") or name the queue there ("acme::"). Those, and names whose prefix is no namespace
 * at all ("UP::x"), are of the default one. */
struct str queue_name_home(struct str internal);

/* The name as callers of the namespace know it; a name that they may not see stays as it is. */
struct str queue_name_visible(struct str ns, struct str internal);
