#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "rest/describe/rest_answer_int.h"

enum { DOCUMENT_BYTES_MAX = 16 << 20 }; /* some kilobytes for each route */

struct rest_openapi {
    const char *version;
    pthread_mutex_t lock;
    struct buf document; /* empty until the first request; then it does not change */
};

struct rest_openapi *rest_openapi__new(const char *version)
{
    struct rest_openapi *o = calloc(1, sizeof *o);
    CHECK(o != NULL && pthread_mutex_init(&o->lock, NULL) == 0);
    o->version = version;
    buf_init(&o->document, DOCUMENT_BYTES_MAX);
    return o;
}

void rest_openapi__free(struct rest_openapi *o)
{
    (void)pthread_mutex_destroy(&o->lock);
    buf_deinit(&o->document);
    free(o);
}

struct str rest_openapi__text(struct rest_openapi *o)
{
    (void)pthread_mutex_lock(&o->lock);
    if (o->document.len == 0) {
        rest_openapi__write(o->version, &o->document);
    }
    (void)pthread_mutex_unlock(&o->lock);
    return buf_str(&o->document);
}
