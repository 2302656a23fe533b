/*
 * Ui: the built web interface, embedded in the program.
 *
 * tools/embed_assets.py puts the files of the built interface into one table, each of them
 * unchanged and, where that is smaller, compressed. Nothing is read from the disk, so no path can
 * lead out of the table. All data is constant and may be used by any thread.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

struct ui_asset {
    struct str path; /* below /ui/, such as "assets/index-Dk31x0.js" */
    struct str type; /* media type */
    struct str etag; /* of the content, quoted and weak; the same for all encodings */
    struct str plain;
    struct str gzip;   /* empty if it is not smaller */
    struct str brotli; /* empty if it is not smaller */
};

/* The form of an asset that a client gets. */
struct ui_body {
    struct str bytes;
    struct str encoding; /* for Content-Encoding; empty for plain */
};

/* The Content-Security-Policy of the interface: it loads from and calls only this server. */
extern const char ui_policy[];

/* False if the program was built without the interface. ui_find then returns the page that reports
 * this. */
bool ui_is_built(void);

/* Find the asset for a path below /ui/, given without that prefix and decoded. A path without a
 * file is a page of the interface and returns the index. NULL for a path that no browser sends:
 * with "." or ".." between slashes or backslashes, or with a control character. */
const struct ui_asset *ui_find(struct str path);

/* Does its name change with its content, so that it may be cached forever? */
bool ui_is_immutable(const struct ui_asset *asset);

/* Choose the first of Brotli, gzip and plain that exists and that the Accept-Encoding header
 * allows. An empty header allows only plain. */
struct ui_body ui_encode(const struct ui_asset *asset, struct str accept_encoding);

/* Does the If-None-Match header contain the tag of the asset, or "*"? */
bool ui_is_known(const struct ui_asset *asset, struct str if_none_match);
