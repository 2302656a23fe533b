/*
 * The table that tools/embed_assets.py generates in the build.
 */
#pragma once

#include "ui/ui.h"

extern const struct ui_asset ui_table_rows[]; /* by path, in byte order; with index.html */
extern const size_t ui_table_count;
extern const bool ui_table_built; /* false: only a replacement page */
