/*
 * Rest_budgets: budgets as stored and as shown, for lists and backups.
 */
#pragma once

#include "rest/rest_int.h"
#include "store/store_access.h"

#define REST_BUDGETS_USD_MAX 1e9

struct rest_budgets_row {
    char scope;
    struct str target; /* of a queue its internal name, of a tag as it was sent */
    struct wall created_at;
    struct store_budget rec;
};

extern const struct json_word rest_budgets__scopes[], rest_budgets__actions[];

/* A record, by its name and its frame. False when it cannot be read. */
ATTR_NODISCARD bool rest_budgets__read_row(struct str name, const struct store_access_frame *f,
                                           struct rest_budgets_row *out);
/* May the caller know of it? Those of a tag and the global one are about its queues, too. */
bool rest_budgets__sees(const struct rest_call *c, const struct rest_budgets_row *row);
void rest_budgets__write(struct json_write *w, const struct rest_call *c,
                         const struct rest_budgets_row *row);

/* The name of a record: scope, the caller's namespace, NUL and target. */
struct str rest_budgets__record_name(struct rest_call *c, char scope, struct str target);
/* A tag as it is stored, key=value, from that or key:value; false when it is neither. */
ATTR_NODISCARD bool rest_budgets__tag(struct rest_call *c, struct str text, struct str *out);
/* Dollars in whole billionths. */
int64_t rest_budgets__nusd(double usd);
