/*
 * The reference page: docs/page.html with its style and script, put together by
 * tools/embed_page.py when the server is built.
 */
#pragma once

#include "base/str.h"

extern const struct str rest_docs_page;

/* The Content-Security-Policy under which it works: nothing from elsewhere, and inline only what
 * was there when it was built. */
extern const char rest_docs_page_policy[];
