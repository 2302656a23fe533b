/*
 * The table of the guide's pages, which tools/docs.py and tools/embed_assets.py make when the
 * program is built.
 */
#pragma once

#include "ui/ui.h"

extern const struct ui_asset api_guide_rows[]; /* by path */
extern const size_t api_guide_count;
extern const bool api_guide_built;
