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

/* Is it a valid namespace? 1 to LIMIT_NAMESPACE_BYTES lower-case letters, digits and hyphens,
 * with no hyphen at either end (http-api.md 18.4). */
bool queue_name_is_namespace(struct str s);

/* The queue of each namespace that has the jobs of the Scheduled-DB API, and no others
 * (scheduler.md 21.2). */
#define QUEUE_NAME_SCHEDULER STR("scheduled-db")
bool queue_name_is_scheduler(struct str internal);

/* Does the name contain the mark? In the default namespace, it is then a queue of another
 * namespace. */
bool queue_name_has_mark(struct str name);

/* Append the internal name. */
void queue_name_add_internal(struct buf *out, struct str ns, struct str name);

bool queue_name_is_visible(struct str ns, struct str internal);

/* Return the namespace of an internal name: the part before the first mark, if that is a valid
 * namespace; otherwise empty, for the default namespace. */
struct str queue_name_namespace(struct str internal);

/* Does the queue belong to the namespace? The default namespace sees all queues, but owns only
 * those without a namespace. */
bool queue_name_is_of(struct str ns, struct str internal);

/* Return the namespace whose backup contains the queue. This is the namespace of its name, except
 * for "default::x", because no caller can be in such a namespace, and "acme::", because the queue
 * has no name there. Those queues, and names whose prefix is not a namespace ("UP::x"), belong to
 * the default namespace. */
struct str queue_name_home(struct str internal);

/* Return the name as seen in the namespace. A name that is not visible there is returned
 * unchanged. */
struct str queue_name_visible(struct str ns, struct str internal);
