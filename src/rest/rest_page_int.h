/*
 * Rest_page: pages of a list (http-api.md 26): limit, cursor and prefix, the same for every list.
 *
 * Each row has a sort key: bytes in the order of the list. A page contains the first rows after the
 * cursor; if the rows are not sorted, only one page of them is kept in memory. The cursor is the
 * key of the last row, so rows that are added or removed meanwhile neither repeat other rows nor
 * hide them.
 */
#pragma once

#include "rest/rest_int.h"

enum { REST_PAGE_ROWS_MAX = 1000 };

/* For the queries of a list. */
extern const struct json_schema rest_page__schema;

struct rest_page_row {
    struct str key;
    void *data; /* the list's own */
};

struct rest_page {
    struct rest_call *call;
    size_t limit;
    struct str after;  /* key of the last row of the page before; empty: there is none */
    struct str prefix; /* of the name, as the caller sees it */
    struct rest_page_row *rows;
    size_t count, cap;
    struct str worst; /* what comes behind this key is on no page of this call; empty: not known */
    struct str next;  /* when finished: the cursor of the next page; empty: this is the last */
};

/* What the call's query asks for. False, and the call has ended, when the cursor is none. */
ATTR_NODISCARD bool rest_page__begin(struct rest_call *c, struct rest_page *out);

/* Is a row with this key one of the page, as far as is known yet? Any thread. */
bool rest_page__wants(const struct rest_page *p, struct str key);

/* One that is wanted: the key is copied, data is not. From the thread that has the call. */
void rest_page__add(struct rest_page *p, struct str key, void *data);

/* All were looked at: sort them and cut the page off. */
void rest_page__finish(struct rest_page *p);

/* 200, with the cursor in a header when there are more. */
void rest_page__reply(const struct rest_page *p, const struct json_write *w);

/* A time, and then a text, as a sort key; newest first when asked. */
struct str rest_page__time_key(struct rest_call *c, struct wall at, bool newest_first,
                               struct str text);

/* A key as text that a query carries as it is, and back; false when it is none of ours. */
struct str rest_page__write_cursor(struct rest_call *c, struct str key);
ATTR_NODISCARD bool rest_page__read_cursor(struct rest_call *c, struct str text, struct str *out);
