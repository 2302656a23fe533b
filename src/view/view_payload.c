/*
 * Payloads that are not in the file. The store writes a large payload once. A copy in the view
 * would be written twice more: to SQLite's log and to the file. Conditions on payloads, and the
 * full text, read such a payload from its document. A payload never changes. If the job was removed
 * meanwhile, its payload is empty.
 */
#include <stdlib.h>

#include "base/check.h"
#include "store/store_job.h"
#include "view/view_int.h"

struct source {
    struct engine *engine;
    struct buf doc;
};

/* view_payload(id) */
static void sql_payload(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    struct source *s = sqlite3_user_data(ctx);
    const void *bytes = sqlite3_value_blob(values[0]);
    struct err err;
    struct job j = {0};
    CHECK(count == 1);
    buf_clear(&s->doc);
    if (bytes != NULL && sqlite3_value_bytes(values[0]) == ID_BYTES) {
        struct id id = id_from_bytes(bytes);
        if (engine_read_job(s->engine, id, &s->doc) &&
            store_job_decode(id, buf_str(&s->doc), &j, &err) != ERR_OK) {
            check_fatal("a document cannot be read: %s", err.msg);
        }
    }
    sqlite3_result_text64(ctx, j.payload.len == 0 ? "" : j.payload.ptr, j.payload.len,
                          SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void free_source(void *data)
{
    struct source *s = data;
    buf_deinit(&s->doc);
    free(s);
}

enum err_code view_payload__add(sqlite3 *db, struct engine *e, struct err *err)
{
    struct source *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->engine = e;
    buf_init(&s->doc, SIZE_MAX);
    /* SQLite frees s, even after an error. */
    return sqlite3_create_function_v2(db, "view_payload", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, s,
                                      sql_payload, NULL, NULL, free_source) == SQLITE_OK
               ? ERR_OK
               : view_sql__err(db, "functions", err);
}
