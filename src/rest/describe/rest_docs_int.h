/*
 * The API reference page: docs/page.html with its style and script, assembled by
 * tools/embed_page.py when the server is built.
 */
#pragma once

#include "base/str.h"

extern const struct str rest_docs_page;

/* The Content-Security-Policy of the page: nothing from other sites, and only the inline code that
 * was embedded at build time. */
extern const char rest_docs_page_policy[];
