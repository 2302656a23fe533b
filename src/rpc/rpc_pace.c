#include "rpc/rpc_pace_int.h"

enum { STRIKE_MS_MAX = 500 };

void rpc_pace__begin(struct rpc_pace *p, struct mono now)
{
    p->started = now;
}

void rpc_pace__answer(struct rpc_pace *p, struct mono now, bool is_strike)
{
    p->answered = now;
    p->strikes = is_strike ? p->strikes + 1 : 0;
}

struct mono rpc_pace__earliest(const struct rpc_pace *p)
{
    int64_t paced_ns = p->started.ns + (p->fps_max == 0 ? 0 : NS_PER_S / p->fps_max);
    int64_t from_ns = p->answered.ns > paced_ns ? p->answered.ns : paced_ns;
    int64_t strike_ms = (int64_t)p->strikes * p->strike_ms;
    strike_ms = strike_ms < STRIKE_MS_MAX ? strike_ms : STRIKE_MS_MAX;
    return (struct mono){from_ns + strike_ms * NS_PER_MS};
}
