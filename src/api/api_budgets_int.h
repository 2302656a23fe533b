/*
 * Api_budgets_int: budgets as they are stored and shown, for the lists and for backups.
 */
#pragma once

#include "api/api_int.h"
#include "store/store_access.h"

#define API_BUDGETS_USD_MAX 1e9

struct api_budgets_row {
    char scope;
    struct str target; /* of a queue its internal name, of a tag as it was sent */
    struct wall created_at;
    struct store_budget rec;
};

extern const struct json_word api_budgets__scopes[], api_budgets__actions[];

/* A record, by its name and its frame. False when it cannot be read. */
ATTR_NODISCARD bool api_budgets__read_row(struct str name, const struct store_access_frame *f,
                                          struct api_budgets_row *out);
/* May the caller know of it? Those of a tag and the global one are about its queues, too. */
bool api_budgets__sees(const struct api_call *c, const struct api_budgets_row *row);
void api_budgets__write(struct json_write *w, const struct api_call *c,
                        const struct api_budgets_row *row);

/* The name of a record: scope, the caller's namespace, NUL and target. */
struct str api_budgets__record_name(struct api_call *c, char scope, struct str target);
/* A tag as it is stored, key=value, from that or key:value; false when it is neither. */
ATTR_NODISCARD bool api_budgets__tag(struct api_call *c, struct str text, struct str *out);
/* Dollars in whole billionths. */
int64_t api_budgets__nusd(double usd);
