/*
 * Settings_address: the parts of an address as settings have it, "host:port".
 */
#pragma once

#include "base/str.h"

/* The host at which others reach a bind address: its own, or 127.0.0.1 if it is a wildcard. */
struct str settings_address_host(struct str bind);
/* The part after the last colon of an address; empty if there is none. */
struct str settings_address_port(struct str address);
/* An address in 127.0.0.0/8. A name is not looked up and does not count. */
bool settings_address_is_loopback(struct str host);
