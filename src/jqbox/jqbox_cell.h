/*
 * Jqbox_cell: the sandbox of a child of jqbox.
 *
 * After jqbox_cell_enter the process cannot open or create anything: it may only use its open
 * descriptors, allocate memory up to LIMIT_JQ_BYTES, and exit. All other system calls fail with
 * EPERM. It ends with its parent.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"

/* False if part of the sandbox could not be set up: then no program of a client may run. */
ATTR_NODISCARD bool jqbox_cell_enter(void);
