/*
 * Settings as zero-terminated texts.
 */
#include "base/check.h"
#include "server/server_int.h"

const char *server__text(struct server *s, struct str text)
{
    char *z = arena_strz(s->arena, text);
    CHECK(z != NULL);
    return z;
}

const char *server__text_or_null(struct server *s, struct str text)
{
    return text.len == 0 ? NULL : server__text(s, text);
}
