/*
 * Rest_budgets: budgets as stored and as shown, for lists and backups.
 */
#pragma once

#include "rest/rest_int.h"
#include "store/store_access.h"

#define REST_BUDGETS_USD_MAX 1e9

struct rest_budgets_row {
    char scope;
    struct str target; /* internal name of a queue; a tag as stored */
    struct wall created_at;
    struct store_budget rec;
};

extern const struct json_word rest_budgets__scopes[], rest_budgets__actions[];

/* Decode a record from its name and its frame. False if it cannot be decoded. */
ATTR_NODISCARD bool rest_budgets__read_row(struct str name, const struct store_access_frame *f,
                                           struct rest_budgets_row *out);
/* May the caller see the budget? Tag budgets and the global one apply to its queues as well. */
bool rest_budgets__sees(const struct rest_call *c, const struct rest_budgets_row *row);
void rest_budgets__write(struct json_write *w, const struct rest_call *c,
                         const struct rest_budgets_row *row);

/* Name of a record: scope, the caller's namespace, NUL and target. */
struct str rest_budgets__record_name(struct rest_call *c, char scope, struct str target);
/* Convert a tag, key=value or key:value, to its stored form key=value. False if it is neither. */
ATTR_NODISCARD bool rest_budgets__tag(struct rest_call *c, struct str text, struct str *out);
/* Convert US dollars to nano-dollars. */
int64_t rest_budgets__nusd(double usd);
