/*
 * Build: the version, commit and date of this program. tools/version.py writes them from the file
 * VERSION and the git folder. Tests and benches have the version alone.
 */
#pragma once

extern const char build_release[]; /* "0.3.0" */
extern const char build_commit[];  /* "unknown" without a git folder */
extern const char build_date[];    /* "2026-01-31T12:00:00Z": of the commit or SOURCE_DATE_EPOCH */
