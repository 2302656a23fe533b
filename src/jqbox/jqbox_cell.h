/*
 * Jqbox_cell: the walls around a child of jqbox.
 *
 * After jqbox_cell_enter the process cannot open, name or make anything: it may read and write the
 * descriptors that it has, take memory up to LIMIT_JQ_BYTES, and end. All other system calls fail
 * with EPERM. It ends with its parent.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"

/* False when some wall could not be put up: then nothing of a stranger may run. */
ATTR_NODISCARD bool jqbox_cell_enter(void);
