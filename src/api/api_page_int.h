/*
 * Pages of a list (http-api.md 26): limit, cursor and prefix, the same for every list.
 *
 * A row has a sort key: bytes whose order is that of the list. A page is the first rows behind the
 * cursor; of a list in no order only as many are kept as a page has. The cursor is the key of the
 * last row, so that rows which come or go meanwhile neither repeat others nor hide them.
 */
#pragma once

#include "api/api_int.h"

enum { API_PAGE_ROWS_MAX = 1000 };

/* For the queries of a list. */
extern const struct json_schema api_page__schema;

struct api_page_row {
    struct str key;
    void *data; /* the list's own */
};

struct api_page {
    struct api_call *call;
    size_t limit;
    struct str after;  /* key of the last row of the page before; empty: there is none */
    struct str prefix; /* of the name, as the caller sees it */
    struct api_page_row *rows;
    size_t count, cap;
    struct str worst; /* what comes behind this key is on no page of this call; empty: not known */
    struct str next;  /* when finished: the cursor of the next page; empty: this is the last */
};

/* What the call's query asks for. False, and the call has ended, when the cursor is none. */
ATTR_NODISCARD bool api_page__begin(struct api_call *c, struct api_page *out);

/* Is a row with this key one of the page, as far as is known yet? Any thread. */
bool api_page__wants(const struct api_page *p, struct str key);

/* One that is wanted: the key is copied, data is not. From the thread that has the call. */
void api_page__add(struct api_page *p, struct str key, void *data);

/* All were looked at: sort them and cut the page off. */
void api_page__finish(struct api_page *p);

/* 200, with the cursor in a header when there are more. */
void api_page__reply(const struct api_page *p, const struct json_write *w);

/* A time, and then a text, as a sort key; newest first when asked. */
struct str api_page__time_key(struct api_call *c, struct wall at, bool newest_first,
                              struct str text);

/* A key as text that a query carries as it is, and back; false when it is none of ours. */
struct str api_page__write_cursor(struct api_call *c, struct str key);
ATTR_NODISCARD bool api_page__read_cursor(struct api_call *c, struct str text, struct str *out);
