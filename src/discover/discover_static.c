/*
 * Static: the nodes are those that were given. Looking again costs nothing, and nobody ever
 * vanishes from such a list.
 */
#include "discover/discover_int.h"

const struct discover_strategy discover_static__strategy = {.name = "static"};
