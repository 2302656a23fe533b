/*
 * The table of the guide's pages, which tools/docs.py and tools/embed_assets.py make when the
 * program is built.
 */
#pragma once

#include "ui/ui.h"

extern const struct ui_asset rest_guide_rows[]; /* by path */
extern const size_t rest_guide_count;
extern const bool rest_guide_built;
