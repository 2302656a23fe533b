#include "core/queue_name.h"

#include <string.h>

#include "base/limits.h"

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool queue_name_is_namespace(struct str s)
{
    if (s.len == 0 || s.len > LIMIT_NAMESPACE_BYTES || s.ptr[0] == '-' || s.ptr[s.len - 1] == '-') {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (!is_letter_or_digit(s.ptr[i]) && s.ptr[i] != '-') {
            return false;
        }
    }
    return true;
}

bool queue_name_has_mark(struct str name)
{
    return name.len > 0 &&
           memmem(name.ptr, name.len, QUEUE_NAME_MARK.ptr, QUEUE_NAME_MARK.len) != NULL;
}

void queue_name_add_internal(struct buf *out, struct str ns, struct str name)
{
    if (ns.len > 0) {
        buf_add_str(out, ns);
        buf_add_str(out, QUEUE_NAME_MARK);
    }
    buf_add_str(out, name);
}

bool queue_name_is_visible(struct str ns, struct str internal)
{
    return ns.len == 0 || (str_starts_with(internal, ns) &&
                           str_starts_with(str_from_offset(internal, ns.len), QUEUE_NAME_MARK));
}

struct str queue_name_namespace(struct str internal)
{
    const char *mark = internal.len == 0 ? NULL
                                         : memmem(internal.ptr, internal.len, QUEUE_NAME_MARK.ptr,
                                                  QUEUE_NAME_MARK.len);
    struct str ns =
        mark == NULL ? STR_EMPTY : str_from(internal.ptr, (size_t)(mark - internal.ptr));
    return queue_name_is_namespace(ns) ? ns : STR_EMPTY;
}

bool queue_name_is_of(struct str ns, struct str internal)
{
    return str_eq(queue_name_namespace(internal), ns);
}

struct str queue_name_home(struct str internal)
{
    struct str ns = queue_name_namespace(internal);
    bool of_nobody = str_eq(ns, STR("default")) || internal.len == ns.len + QUEUE_NAME_MARK.len;
    return of_nobody ? STR_EMPTY : ns;
}

struct str queue_name_visible(struct str ns, struct str internal)
{
    return ns.len == 0 || !queue_name_is_visible(ns, internal)
               ? internal
               : str_from_offset(internal, ns.len + QUEUE_NAME_MARK.len);
}

bool queue_name_is_scheduler(struct str internal)
{
    struct str ns = queue_name_namespace(internal);
    return str_eq(queue_name_visible(ns, internal), QUEUE_NAME_SCHEDULER);
}
