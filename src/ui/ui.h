/*
 * Ui: the web interface, as it was built, inside the program.
 *
 * tools/embed_assets.py puts the files of the built interface into one table; each comes as it is
 * and, where that is smaller, compressed. Nothing is read from the disk, so no path can lead out of
 * the table. Everything here is constant and may be used by any thread.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

struct ui_asset {
    struct str path; /* below /ui/, such as "assets/index-Dk31x0.js" */
    struct str type; /* its media type */
    struct str etag; /* of the content, quoted and weak: the same for all encodings */
    struct str plain;
    struct str gzip;   /* empty when it is not smaller */
    struct str brotli; /* empty when it is not smaller */
};

/* An asset in the form that a client asked for. */
struct ui_body {
    struct str bytes;
    struct str encoding; /* for Content-Encoding; empty when it is plain */
};

/* The policy under which the interface works: it loads and calls nothing but this server. */
extern const char ui_policy[];

/* False in a program that was built without the interface; ui_find then finds the page that says
 * so. */
bool ui_is_built(void);

/* What to show at a path below /ui/, given without that prefix and decoded. A path that names no
 * file is one of the interface's own pages and finds the index. NULL for a path that no browser
 * sends: with "." or ".." in it, between slashes or backslashes, or with a control character. */
const struct ui_asset *ui_find(struct str path);

/* Whether its name changes with its content, so that it may be kept for ever. */
bool ui_is_immutable(const struct ui_asset *asset);

/* The smallest form that an Accept-Encoding header allows; an empty header allows only the plain
 * one. */
struct ui_body ui_encode(const struct ui_asset *asset, struct str accept_encoding);

/* Whether an If-None-Match header names what the client would get. */
bool ui_is_known(const struct ui_asset *asset, struct str if_none_match);
