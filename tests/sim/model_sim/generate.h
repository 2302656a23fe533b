/*
 * Generate: random commands that meet often.
 *
 * Few queues, few keys and few workers, so that everything collides; ids of jobs that exist, in
 * states that fit, with a share of wrong ones, stale tokens and duplicates; a clock that likes the
 * moments at which something falls due, one nanosecond before and one after. The seed decides all
 * of it, and chooses a character for the whole run: which operations are frequent, how large
 * entries are, how many jobs there are at a time.
 */
#pragma once

#include "base/arena.h"
#include "fsm/command/command.h"
#include "lib/rng.h"
#include "sim/model_sim/model.h"

/* How many different characters there are; consecutive seeds take turns. */
enum { GENERATE_PROFILES = 10 };

struct generate_profile;

struct generate {
    struct rng rng;
    const struct generate_profile *profile;
    const struct model *model;
    struct arena *arena; /* of the commands; the caller empties it */
    struct wall clock;
    struct id gone[16]; /* ids that existed once */
    size_t gone_count;
    struct command_queue follow[8]; /* what asked to be asked again, in a later entry */
    size_t follow_count, follow_ready;
};

struct generate generate_new(uint64_t seed, const struct model *model, struct arena *arena);

/* For the next entry: its time, how many commands, whether its events are logged. */
struct wall generate_time(struct generate *g);
size_t generate_count(struct generate *g);
bool generate_events(struct generate *g);

/* Whether commands can be too much for an entry. There is one in each then. */
bool generate_is_large(const struct generate *g);

/* The next command. */
void generate_command(struct generate *g, struct command *out);

/* What the model answered to it. */
void generate_answered(struct generate *g, const struct command *c, const struct result *r);

/* Operations that one run of this seed should have, of so many on average. */
uint64_t generate_operations(uint64_t seed, uint64_t average);
