/*
 * Build: which release, commit and date this program is of. The build says it; one by hand does
 * not.
 */
#pragma once

extern const char build_release[]; /* "dev" when nobody said */
extern const char build_commit[];  /* "unknown" */
extern const char build_date[];    /* "unknown" */
