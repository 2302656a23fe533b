#include "fsm/command/command_take.h"

#include <string.h>

size_t command_take_count(struct unpack *u, size_t min)
{
    uint64_t n = unpack_varint(u);
    if (n > unpack_left(u) / min) {
        u->bad = true;
        return 0;
    }
    return (size_t)n;
}

void *command_take_room(struct unpack *u, struct arena *a, size_t n, size_t size)
{
    void *p = arena_alloc(a, (n == 0 ? 1 : n) * size, _Alignof(max_align_t));
    u->bad |= p == NULL;
    return p;
}

void *command_take_array(struct unpack *u, struct arena *a, size_t n, size_t size)
{
    void *p = command_take_room(u, a, n, size);
    if (p != NULL) {
        memset(p, 0, (n == 0 ? 1 : n) * size);
    }
    return p;
}
