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

/* Query parameters of a list. */
extern const struct json_schema rest_page__schema;

struct rest_page_row {
    struct str key;
    void *data; /* private data of the list */
};

struct rest_page {
    struct rest_call *call;
    size_t limit;
    struct str after;  /* key of the last row of the previous page; empty: this is the first page */
    struct str prefix; /* prefix of the caller's name */
    struct rest_page_row *rows;
    size_t count, cap;
    struct str worst; /* rows after this key are not on this page; empty: unknown */
    struct str next;  /* after finish: cursor of the next page; empty: this is the last page */
};

/* Begin a page from the call's query. False, with the call ended, if the cursor is invalid. */
ATTR_NODISCARD bool rest_page__begin(struct rest_call *c, struct rest_page *out);

/* May a row with this key be on the page, given the rows so far? Any thread. */
bool rest_page__wants(const struct rest_page *p, struct str key);

/* Add a row that rest_page__wants. Copies the key, but not data. Call on the thread that has the
 * call. */
void rest_page__add(struct rest_page *p, struct str key, void *data);

/* Call after the last row: sorts the rows and truncates the list to the page. */
void rest_page__finish(struct rest_page *p);

/* Respond 200, with the cursor in a header if there are more rows. */
void rest_page__reply(const struct rest_page *p, const struct json_write *w);

/* Build a sort key from a time and then a text. */
struct str rest_page__time_key(struct rest_call *c, struct wall at, bool newest_first,
                               struct str text);

/* Convert a key to text that needs no escaping in a query, and back. False if the text is not a
 * cursor. */
struct str rest_page__write_cursor(struct rest_call *c, struct str key);
ATTR_NODISCARD bool rest_page__read_cursor(struct rest_call *c, struct str text, struct str *out);
