/*
 * Small random choices of the generator.
 */
#include <string.h>

#include "base/check.h"
#include "sim/model_sim/generate_int.h"

bool generate_pick_chance(struct generate *g, unsigned percent)
{
    return rng_below(&g->rng, 100) < percent;
}

size_t generate_pick_below(struct generate *g, size_t n)
{
    return (size_t)rng_below(&g->rng, n);
}

int64_t generate_pick_number(struct generate *g, const int64_t *from, size_t count)
{
    return from[rng_below(&g->rng, count)];
}

struct str generate_pick_text(struct generate *g, const struct str *from, size_t count)
{
    return from[rng_below(&g->rng, count)];
}

void *generate_pick_alloc(struct generate *g, size_t size)
{
    void *p = arena_alloc(g->arena, size == 0 ? 1 : size, _Alignof(max_align_t));
    CHECK(p != NULL);
    memset(p, 0, size);
    return p;
}

struct str generate_pick_queue(struct generate *g)
{
    static const struct str names[] = {STR("q0"), STR("acme::q1"), STR("q2"),
                                       STR("q3"), STR("q4"),       STR("q5")};
    CHECK(g->profile->queues <= COUNT_OF(names));
    return names[rng_below(&g->rng, g->profile->queues)];
}

/* The owner of a batch. In old logs it is unknown. */
struct store_owner generate_pick_owner(struct generate *g)
{
    if (generate_pick_chance(g, 20)) {
        return (struct store_owner){0};
    }
    struct store_owner o = {.known = true, .ns = GENERATE_TEXT(g, STR_EMPTY, STR("acme"))};
    o.scope = GENERATE_TEXT(g, STR_EMPTY, STR("q*"));
    return o;
}

const struct model_job *generate_pick_job(struct generate *g, unsigned states)
{
    size_t count = g->model->jobs.count;
    if (count == 0) {
        return NULL;
    }
    size_t start = generate_pick_below(g, count);
    for (size_t i = 0; i < count; i++) {
        const struct model_job *j = model_job_at(g->model, (start + i) % count);
        if ((states & 1U << j->doc.state) != 0) {
            return j;
        }
    }
    return NULL;
}

struct id generate_pick_id(struct generate *g, unsigned states)
{
    uint64_t dice = rng_below(&g->rng, 100);
    if (dice < 2) {
        struct id id;
        uint64_t noise[2] = {rng_next(&g->rng), rng_next(&g->rng)};
        memcpy(id.b, noise, ID_BYTES);
        return id;
    }
    if (dice < 5 && g->gone_count > 0) {
        return g->gone[rng_below(&g->rng, g->gone_count)];
    }
    const struct model_job *j = generate_pick_job(g, dice < 15 ? (unsigned)GENERATE_ANY : states);
    if (j == NULL) {
        j = generate_pick_job(g, GENERATE_ANY);
    }
    return j == NULL ? id_make((struct wall){.ns = NS_PER_S}, 1, 1) : j->doc.id;
}

uint64_t generate_pick_token(struct generate *g, struct id id)
{
    const struct model_job *j = model_find_job(g->model, id);
    uint64_t dice = rng_below(&g->rng, 100);
    if (j == NULL || dice < 50) {
        return 0;
    }
    return dice < 90 ? j->doc.lease_token : 1 + rng_below(&g->rng, g->model->lease_token + 1);
}

struct store_tokens generate_pick_usage(struct generate *g)
{
    if (generate_pick_chance(g, 70)) {
        return (struct store_tokens){.input = 0};
    }
    return (struct store_tokens){
        .input = GENERATE_NUMBER(g, 0, 10, 123456789012),
        .output = GENERATE_NUMBER(g, 0, 0, 7),
        .cache_creation = GENERATE_NUMBER(g, 0, 0, 1),
        .cache_read = GENERATE_NUMBER(g, 0, 0, 2),
        .cost_nusd = GENERATE_NUMBER(g, 0, 1, 10000000, 499950000, 1000000000),
        .model = GENERATE_TEXT(g, STR_EMPTY, STR("m-1")),
        .provider = GENERATE_TEXT(g, STR_EMPTY, STR_EMPTY, STR("p")),
    };
}
