/*
 * Rest_limiter: settings of the rate limiter (http-api.md 1.7).
 */
#pragma once

#include <stdbool.h>

struct rest_limiter_config {
    bool enabled;
    bool loopback;               /* also limit callers on this machine without a credential */
    double read_rps, read_burst; /* per client; 0 or less: the default */
    double write_rps, write_burst;
};

struct rest_limiter_config rest_limiter_config_default(void);
