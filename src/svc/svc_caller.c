#include "svc/svc_caller.h"

#include <string.h>

enum err_code svc_caller_refuse_full(const struct arena *arena, struct err *err)
{
    return arena_error(arena) == ERR_OVERLOADED
               ? err_set(err, ERR_OVERLOADED,
                         "the server has reached its memory limit for requests; try again later")
               : err_set(err, ERR_TOO_LARGE,
                         "the request needs more memory than one request may use");
}

void *svc_caller_room(const struct svc_caller *who, size_t count, size_t size, struct err *err)
{
    size_t bytes;
    void *p = NULL;
    if (!__builtin_mul_overflow(count == 0 ? 1 : count, size, &bytes)) {
        p = arena_alloc(who->arena, bytes, _Alignof(max_align_t));
    }
    if (p == NULL) {
        (void)svc_caller_refuse_full(who->arena, err);
    }
    return p;
}

void *svc_caller_alloc(const struct svc_caller *who, size_t count, size_t size, struct err *err)
{
    void *p = svc_caller_room(who, count, size, err);
    if (p != NULL) {
        memset(p, 0, (count == 0 ? 1 : count) * size);
    }
    return p;
}

enum err_code svc_caller_keep(const struct svc_caller *who, struct buf *b, struct str *out,
                              struct err *err)
{
    bool whole = !b->overflow;
    struct str kept = whole ? arena_str(who->arena, buf_str(b)) : STR_EMPTY;
    whole = whole && (kept.ptr != NULL || b->len == 0);
    buf_deinit(b);
    *out = kept;
    return whole ? ERR_OK : svc_caller_refuse_full(who->arena, err);
}
