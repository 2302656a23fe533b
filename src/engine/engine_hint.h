/*
 * Engine_hint: when a client that was refused because of overload should try again (rpc.md 9).
 */
#pragma once

#include <stdint.h>

/* Milliseconds, depending on how full the pipeline is. The random number spreads clients that were
 * refused at the same time. */
uint32_t engine_hint_ms(uint64_t backlog, uint64_t limit, uint64_t random_number);
