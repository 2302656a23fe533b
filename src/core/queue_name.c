#include "core/queue_name.h"

#define MARK STR("::")

bool queue_name_is_visible(struct str ns, struct str internal)
{
    return ns.len == 0 || (str_starts_with(internal, ns) &&
                           str_starts_with(str_from_offset(internal, ns.len), MARK));
}

struct str queue_name_visible(struct str ns, struct str internal)
{
    return ns.len == 0 || !queue_name_is_visible(ns, internal)
               ? internal
               : str_from_offset(internal, ns.len + MARK.len);
}
