/*
 * Queue_name: what a queue is called inside the server and by callers of a namespace (http-api.md
 * 2.5, 3.4).
 *
 * In the default namespace, written as the empty text, a queue's internal name is its name, and
 * everything is visible. In any other it is "<namespace>::<name>", and only what begins so is.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

bool queue_name_is_visible(struct str ns, struct str internal);

/* The name as callers of the namespace know it; a name that they may not see stays as it is. */
struct str queue_name_visible(struct str ns, struct str internal);
