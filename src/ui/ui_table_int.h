/*
 * The table that tools/embed_assets.py makes when the program is built.
 */
#pragma once

#include "ui/ui.h"

extern const struct ui_asset ui_table_rows[]; /* by path, in byte order; one is index.html */
extern const size_t ui_table_count;
extern const bool ui_table_built; /* the interface itself, not the page that stands in for it */
