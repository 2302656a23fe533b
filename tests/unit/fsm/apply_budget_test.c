/*
 * Budgets and costs. The kit applies all entries again with restarts, so the sums must be restored
 * from the store.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "fsm/explain.h"
#include "lib/machine_kit.h"
#include "lib/rng.h"
#include "store/store_access.h"

#define NAME(text) STR(text)

static const int64_t DAY_MS = (int64_t)24 * 3600 * 1000;

static const struct result *put(struct kit *k, struct str name, struct store_budget rec)
{
    static struct buf body;
    buf_deinit(&body);
    buf_init(&body, 4096);
    store_access_encode_budget(&rec, &body);
    struct command_access_item item = {
        .kind = STORE_ACCESS_BUDGET, .name = name, .body = buf_str(&body)};
    const struct result *r = kit_apply(
        k, &(struct command){.type = COMMAND_ACCESS, .access = {.items = &item, .count = 1}});
    buf_deinit(&body);
    return r;
}

static void set_budget(struct kit *k, struct str name, struct store_budget rec)
{
    assert_int_equal(put(k, name, rec)->code, ERR_OK);
}

static void delete_budget(struct kit *k, struct str name)
{
    struct command_access_item item = {.kind = STORE_ACCESS_BUDGET, .name = name, .deletes = true};
    const struct result *r = kit_apply(
        k, &(struct command){.type = COMMAND_ACCESS, .access = {.items = &item, .count = 1}});
    assert_int_equal(r->code, ERR_OK);
}

static struct store_budget daily(int64_t nusd, enum store_budget_action action)
{
    return (struct store_budget){.has_daily = true, .daily_nusd = nusd, .on_exceed = action};
}

static struct store_budget per_job(int64_t nusd)
{
    return (struct store_budget){
        .has_per_job = true, .per_job_nusd = nusd, .on_exceed = STORE_BUDGET_REJECT};
}

/* Complete a new job like this one, at this cost. */
static void spend(struct kit *k, const struct job *j, int64_t nusd)
{
    char queue[LIMIT_INTERNAL_NAME_BYTES + 1];
    (void)snprintf(queue, sizeof queue, STR_FMT, STR_ARG(j->queue));
    struct id id = kit_enqueue_job(k, j);
    assert_true(id_eq(kit_claim(k, queue), id));
    struct command_ack_item item = {.id = id, .usage = {.input = 1, .cost_nusd = nusd}};
    assert_int_equal(kit_ack_item(k, item)->code, ERR_OK);
}

static enum err_code claim_code(struct kit *k, const char *queue)
{
    struct str name = str_from_z(queue);
    struct command c = {.type = COMMAND_CLAIM,
                        .claim = {.queues = &name,
                                  .queue_count = 1,
                                  .worker_id = STR("worker"),
                                  .hostname = STR("host"),
                                  .lease_ms = JOB_LEASE_MS,
                                  .count = 1}};
    return kit_apply(k, &c)->code;
}

static void budget__holds_the_oldest_job_of_its_queue(void **state)
{
    struct kit *k = *state;
    struct job j = kit_template("costly", "{}");
    set_budget(k, NAME("q\0costly"), daily(100, STORE_BUDGET_HOLD));
    spend(k, &j, 60);
    assert_false(machine_over_budget(k->machine, STR("costly"), k->now));
    spend(k, &j, 40);
    assert_true(machine_over_budget(k->machine, STR("costly"), k->now));
    struct id first = kit_enqueue(k, "costly", "{}");
    struct id second = kit_enqueue(k, "costly", "{}");
    assert_true(id_is_none(kit_claim(k, "costly")));
    assert_int_equal(kit_job(k, first).state, JOB_HELD);
    assert_int_equal(kit_job(k, second).state, JOB_PENDING);
    /* A new day has a new sum. */
    kit_pass_ms(k, DAY_MS);
    assert_true(id_eq(kit_claim(k, "costly"), second));
    assert_false(machine_over_budget(k->machine, STR("costly"), k->now));
}

/* Check the budget that keeps a job from being handed out: of its queue, or of a tag. */
static struct wall expect_stop(struct kit *k, struct id id, bool of_tag, const char *reason)
{
    struct explain_job x;
    explain_job(k->machine, id, k->now, k->arena, &x);
    struct explain_budget found = of_tag ? x.budget : x.queue.budget;
    assert_false(of_tag ? x.queue.budget.exceeded : x.budget.exceeded);
    assert_int_equal(found.exceeded, reason != NULL);
    if (reason != NULL) {
        expect_str(found.reason, str_from_z(reason));
        assert_int_equal(found.refuses, !of_tag);
    }
    return found.until;
}

static void budget__explains_why_a_job_waits(void **state)
{
    struct kit *k = *state;
    struct job j = kit_template("waits", "{}");
    j.tags = STR("{\"waits\":\"yes\"}");
    struct job other = kit_template("waits elsewhere", "{}");
    other.tags = j.tags;
    struct id id = kit_enqueue_job(k, &j);
    set_budget(k, NAME("q\0waits"), daily(0, STORE_BUDGET_ALERT));
    (void)expect_stop(k, id, false, NULL);
    set_budget(k, NAME("q\0waits"), daily(0, STORE_BUDGET_REJECT));
    set_budget(k, NAME("t\0waits=yes"), daily(10, STORE_BUDGET_HOLD));
    struct wall until = expect_stop(k, id, false, "budget exceeded: queue:waits");
    assert_int_equal(until.ns, 0); /* every day */
    delete_budget(k, NAME("q\0waits"));
    spend(k, &other, 10);
    until = expect_stop(k, id, true, "budget exceeded: tag:waits=yes");
    assert_true(until.ns > k->now.ns);
    kit_pass_ms(k, DAY_MS);
    (void)expect_stop(k, id, true, NULL);
    delete_budget(k, NAME("t\0waits=yes"));
}

/* Costs before the first budget count, for every scope. */
static void budget__counts_what_was_spent_before_it(void **state)
{
    struct kit *k = *state;
    const struct {
        struct str name;
        struct store_budget rec;
    } rows[] = {
        {NAME("qearly\0early::spent"), daily(100, STORE_BUDGET_REJECT)},
        {NAME("qearly\0early::spent"), per_job(49)},
        {NAME("q\0early::spent"), daily(100, STORE_BUDGET_REJECT)},
        {NAME("gearly\0*"), daily(100, STORE_BUDGET_REJECT)},
        {NAME("gearly\0*"), per_job(49)},
        {NAME("tearly\0n=1"), daily(100, STORE_BUDGET_REJECT)},
        {NAME("tearly\0team=r\xc3\xa4"
              "d"),
         daily(100, STORE_BUDGET_REJECT)},
    };
    struct job j = kit_template("early::spent", "{}");
    j.tags = STR("{\"n\":1,\"team\":\"blue\",\"team\":\"r\\u00e4d\",\"a=b\":\"c\"}");
    spend(k, &j, 50);
    spend(k, &j, 50);
    (void)kit_enqueue_job(k, &j);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name.ptr);
        for (int time = 0; time < 2; time++) {
            set_budget(k, rows[i].name, rows[i].rec);
            assert_int_equal(claim_code(k, "early::spent"), ERR_BUDGET_EXCEEDED);
            delete_budget(k, rows[i].name);
            kit_reopen(k);
        }
    }
    /* Of two tags with the same key, the last one counts. A budget cannot name a key that contains
     * '='. */
    set_budget(k, NAME("tearly\0team=blue"), daily(1, STORE_BUDGET_REJECT));
    set_budget(k, NAME("tearly\0a=b=c"), daily(1, STORE_BUDGET_REJECT));
    set_budget(k, NAME("g\0*"), daily(1, STORE_BUDGET_REJECT));
    assert_false(id_is_none(kit_claim(k, "early::spent")));
    delete_budget(k, NAME("g\0*")); /* the other tests have costs there */
}

/* Every sum equals a recount of the reports at any time. */
static void sums__equal_a_recount(void **state)
{
    enum { QUEUES = 3, TAGS = 3, STEPS = 150 };
    static const char *const queues[QUEUES] = {"sums::a", "sums::b", "other-sums::a"};
    static const char *const tags[TAGS] = {"{\"t\":\"x\"}", "{\"t\":\"y\",\"u\":\"x\"}", ""};
    static const struct {
        struct str name;
        unsigned queues, tags; /* bits of the queues and tags that count */
    } rows[] = {
        {NAME("qsums\0sums::a"), 1, 7},   {NAME("qsums\0sums::b"), 2, 7},
        {NAME("gsums\0*"), 3, 7},         {NAME("gother-sums\0*"), 4, 7},
        {NAME("tsums\0t=x"), 3, 1},       {NAME("tsums\0t=y"), 3, 2},
        {NAME("tother-sums\0u=x"), 4, 2},
    };
    struct kit *k = *state;
    struct rng rng = rng_from(20261117);
    int64_t sums[COUNT_OF(rows)] = {0};
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned q = (unsigned)rng_below(&rng, QUEUES);
        unsigned t = (unsigned)rng_below(&rng, TAGS);
        int64_t nusd = (int64_t)rng_below(&rng, 100);
        struct job j = kit_template(queues[q], "{}");
        j.tags = str_from_z(tags[t]);
        if (rng_below(&rng, 10) == 0) {
            kit_pass_ms(k, DAY_MS);
            memset(sums, 0, sizeof sums);
        }
        spend(k, &j, nusd);
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            sums[i] += (rows[i].queues >> q & 1) != 0 && (rows[i].tags >> t & 1) != 0 ? nusd : 0;
        }
        size_t asked = rng_below(&rng, COUNT_OF(rows));
        const char *queue = rows[asked].queues == 4   ? queues[2]
                            : rows[asked].queues == 2 ? queues[1]
                                                      : queues[0];
        j = kit_template(queue, "{}");
        j.tags = str_from_z(tags[rows[asked].tags == 2 ? 1 : 0]);
        struct id id = kit_enqueue_job(k, &j);
        set_budget(k, rows[asked].name, daily(sums[asked], STORE_BUDGET_REJECT));
        assert_int_equal(claim_code(k, queue), ERR_BUDGET_EXCEEDED);
        set_budget(k, rows[asked].name, daily(sums[asked] + 1, STORE_BUDGET_REJECT));
        assert_true(id_eq(kit_claim(k, queue), id));
        assert_int_equal(kit_ack(k, id)->code, ERR_OK);
        delete_budget(k, rows[asked].name);
    }
}

/* If there are more tags than sums, those with budgets are counted. The next day has room again. */
static void sums__of_tags_are_limited(void **state)
{
    struct kit *k = *state;
    struct job j = kit_template("many::q", "{}");
    char tags[LIMIT_TAGS * 24];
    for (unsigned day = 0; day < 2; day++) {
        struct job last = kit_template("many::q", "{}");
        last.tags = STR("{\"n\":\"last\"}");
        for (unsigned made = 0; made < LIMIT_SPEND_TAGS_SPACE; made += LIMIT_TAGS) {
            size_t len = 0;
            for (unsigned i = 0; i < LIMIT_TAGS; i++) {
                len += (size_t)snprintf(tags + len, sizeof tags - len, "%c\"k%u\":\"%u\"",
                                        i == 0 ? '{' : ',', i, made + i);
            }
            tags[len++] = '}';
            j.tags = str_from(tags, len);
            spend(k, &j, 10);
        }
        spend(k, &last, 50); /* there is no room for its tag */
        set_budget(k, NAME("tmany\0n=last"), daily(50, STORE_BUDGET_REJECT));
        set_budget(k, NAME("tmany\0k3=3"), daily(11, STORE_BUDGET_REJECT));
        spend(k, &last, 49);
        spend(k, &last, 1);
        struct id id = kit_enqueue_job(k, &last);
        assert_int_equal(claim_code(k, "many::q"), ERR_BUDGET_EXCEEDED);
        delete_budget(k, NAME("tmany\0n=last"));
        assert_true(id_eq(kit_claim(k, "many::q"), id));
        assert_int_equal(kit_ack(k, id)->code, ERR_OK);
        j.tags = STR("{\"k3\":\"3\"}");
        spend(k, &j, 1);
        id = kit_enqueue_job(k, &j);
        assert_int_equal(claim_code(k, "many::q"), ERR_BUDGET_EXCEEDED);
        delete_budget(k, NAME("tmany\0k3=3"));
        assert_true(id_eq(kit_claim(k, "many::q"), id));
        kit_pass_ms(k, DAY_MS);
    }
}

/* An entry of a version without budgets leaves no sums. */
static void sums__are_not_kept_of_old_entries(void **state)
{
    struct kit *k = *state;
    uint8_t present = k->entry_version;
    struct job j = kit_template("old", "{}");
    struct buf value;
    k->entry_version = 2;
    spend(k, &j, 50);
    k->entry_version = present;
    buf_init(&value, 4096);
    assert_false(store_get(machine_store(k->machine), STORE_KIND_SPEND, STR("qold"), &value));
    buf_deinit(&value);
    spend(k, &j, 50);
    set_budget(k, NAME("q\0old"), daily(51, STORE_BUDGET_REJECT));
    assert_int_equal(claim_code(k, "old"), ERR_OK);
}

static struct store_budget read_budget(struct kit *k, struct str name)
{
    static char kept[512];
    char key[64] = {STORE_ACCESS_BUDGET};
    struct store_access_frame frame;
    struct store_budget rec;
    struct buf value;
    buf_init(&value, sizeof kept);
    memcpy(key + 1, name.ptr, name.len);
    assert_true(store_get(machine_store(k->machine), STORE_KIND_ACCESS, str_from(key, 1 + name.len),
                          &value));
    memcpy(kept, value.ptr, value.len);
    assert_true(store_access_decode_frame(str_from(kept, value.len), &frame));
    assert_true(store_access_decode_budget(frame.body, &rec));
    buf_deinit(&value);
    return rec;
}

/* Ids are in the order of creation. An id in the record is kept. */
static void budget__has_an_id_in_order(void **state)
{
    struct kit *k = *state;
    static const struct str names[] = {NAME("q\0c"), NAME("q\0b"), NAME("q\0a"), NAME("q\0c")};
    char before[ID_TEXT_MAX + 1] = "";
    struct store_budget rec = daily(1, STORE_BUDGET_ALERT);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct id id;
        set_budget(k, names[i], rec);
        struct str made = read_budget(k, names[i]).id;
        assert_true(id_parse(made, ID_BUDGET, &id));
        assert_true(str_cmp(made, str_from_z(before)) > 0);
        memcpy(before, made.ptr, made.len);
    }
    rec.id = STR("budget_other");
    set_budget(k, names[0], rec);
    assert_true(str_eq(read_budget(k, names[0]).id, rec.id));
}

static void budgets__are_limited_in_number(void **state)
{
    struct kit *k = *state;
    static struct command_access_item items[LIMIT_ACCESS_ITEMS];
    static char names[LIMIT_ACCESS_ITEMS][16];
    struct store_budget rec = daily(1, STORE_BUDGET_ALERT);
    struct command c = {.type = COMMAND_ACCESS, .access = {.items = items}};
    struct buf body;
    unsigned made = 0;
    enum err_code code = ERR_OK;
    buf_init(&body, 4096);
    store_access_encode_budget(&rec, &body);
    while (code == ERR_OK) {
        size_t count = made < LIMIT_BUDGETS - LIMIT_ACCESS_ITEMS ? LIMIT_ACCESS_ITEMS : 1;
        for (size_t i = 0; i < count; i++) {
            int len = snprintf(names[i], sizeof names[i], "q%cn%u", 0, made++);
            items[i] = (struct command_access_item){.kind = STORE_ACCESS_BUDGET,
                                                    .name = str_from(names[i], (size_t)len),
                                                    .body = buf_str(&body)};
        }
        c.access.count = count;
        code = kit_apply(k, &c)->code;
        assert_in_range(made, 1, LIMIT_BUDGETS + 1);
    }
    assert_int_equal(code, ERR_BUDGET);
    set_budget(k, NAME("q\0n0"), rec); /* this budget exists already */
    delete_budget(k, NAME("q\0n0"));
    set_budget(k, NAME("q\0new"), rec);
    buf_deinit(&body);
}

/* A limit per job refuses an ack that exceeds it, unless the ack accepts any cost. */
static void budget_of_one_job__refuses_acks_that_ask_for_it(void **state)
{
    static const struct {
        const char *name;
        bool lenient, any_cost;
        enum err_code code;
        uint32_t affected;
    } rows[] = {
        {"one", false, false, ERR_BUDGET_EXCEEDED, 0},
        {"one of any cost", false, true, ERR_OK, 1},
        {"many", true, false, ERR_OK, 0},
        {"many of any cost", true, true, ERR_OK, 1},
    };
    struct kit *k = *state;
    struct id ids[COUNT_OF(rows)];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ids[i] = kit_active(k, "dear"); /* before the average of the queue exceeds the limit */
    }
    set_budget(k, NAME("q\0dear"), per_job(100));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct command_ack_item item = {.id = ids[i], .usage = {.input = 1, .cost_nusd = 101}};
        struct command c = {.type = COMMAND_ACK,
                            .ack = {.lenient = rows[i].lenient,
                                    .any_cost = rows[i].any_cost,
                                    .items = &item,
                                    .count = 1}};
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->code, rows[i].code);
        assert_int_equal(r->affected, rows[i].affected);
        kit_expect_state(k, ids[i], rows[i].affected == 1 ? JOB_COMPLETED : JOB_ACTIVE);
        assert_int_equal(kit_usages(k, ids[i]).count, rows[i].affected);
    }
}

/* A heartbeat with two equal reports for one job. */
static const struct result *beat_twice(struct kit *k, struct id id, int64_t nusd)
{
    struct command_heartbeat_item items[] = {
        {.id = id, .usage = {.input = 1, .cost_nusd = nusd}},
        {.id = id, .usage = {.input = 1, .cost_nusd = nusd}},
    };
    struct command c = {.type = COMMAND_HEARTBEAT,
                        .heartbeat = {.items = items, .count = COUNT_OF(items)}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->count, COUNT_OF(items));
    return r;
}

/* A report counts immediately, so the next report of the same entry is added to it. */
static void budget_of_one_job__counts_reports_of_the_same_entry(void **state)
{
    struct kit *k = *state;
    uint8_t present = k->entry_version;
    struct id now = kit_active(k, "beats");
    struct id then = kit_active(k, "beats");
    set_budget(k, NAME("q\0beats"), per_job(100));
    const struct result *r = beat_twice(k, now, 51);
    assert_false(r->items[0].budget_exceeded);
    assert_true(r->items[1].budget_exceeded);
    assert_int_equal(r->items[1].status, RESULT_CANCEL);
    kit_expect_state(k, now, JOB_CANCELLED);
    assert_int_equal(kit_job(k, now).usage_nusd, 102);
    /* Earlier versions did not count it, and store no sum. */
    k->entry_version = COMMAND_ENTRY_PUT;
    r = beat_twice(k, then, 51);
    k->entry_version = present;
    assert_false(r->items[1].budget_exceeded);
    kit_expect_state(k, then, JOB_ACTIVE);
    assert_int_equal(kit_job(k, then).usage_summed, 0);
    delete_budget(k, NAME("q\0beats"));
}

static enum err_code ack_code(struct kit *k, struct id id, int64_t nusd)
{
    struct command_ack_item item = {.id = id, .usage = {.input = 1, .cost_nusd = nusd}};
    return kit_apply(k, &(struct command){.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}})
        ->code;
}

/* Reports of entries of earlier versions count, no matter when they were made. */
static void budget_of_one_job__counts_reports_without_a_sum(void **state)
{
    struct kit *k = *state;
    uint8_t present = k->entry_version;
    struct id id = kit_active(k, "sum");
    struct command_heartbeat_item item = {.id = id, .usage = {.input = 1, .cost_nusd = 30}};
    for (unsigned i = 0; i < 4; i++) {
        k->entry_version = i % 2 == 0 ? COMMAND_ENTRY_PUT : present;
        (void)kit_beat_item(k, item);
        struct job j = kit_job(k, id);
        assert_int_equal(j.usage_count, i + 1);
        assert_int_equal(j.usage_summed, i % 2 == 0 ? i : i + 1);
        assert_int_equal(j.usage_nusd, 30 * j.usage_summed);
    }
    k->entry_version = present;
    set_budget(k, NAME("q\0sum"), per_job(150));
    assert_int_equal(ack_code(k, id, 31), ERR_BUDGET_EXCEEDED);
    assert_int_equal(ack_code(k, id, 30), ERR_OK);
    assert_int_equal(kit_job(k, id).usage_nusd, 150);
    delete_budget(k, NAME("q\0sum"));
}

static struct command claim_of(struct str *queues, size_t count)
{
    return (struct command){.type = COMMAND_CLAIM,
                            .claim = {.queues = queues,
                                      .queue_count = count,
                                      .worker_id = STR("worker"),
                                      .hostname = STR("host"),
                                      .lease_ms = JOB_LEASE_MS,
                                      .count = 2}};
}

static struct id enqueue_tagged(struct kit *k, const char *queue, struct str tags)
{
    struct job j = kit_template(queue, "{}");
    j.tags = tags;
    return kit_enqueue_job(k, &j);
}

/* Create a budget of 0 for a tag, which is always exceeded. */
static void exhaust_tag(struct kit *k, struct str name, enum store_budget_action action)
{
    set_budget(k, name, daily(0, action));
}

/* A fetch holds one job of a queue. The next job in line is left pending if it is over its budget,
 * too, and claimed if it is not. */
static void budget_of_a_tag__holds_one_job_of_a_fetch(void **state)
{
    struct kit *k = *state;
    uint8_t present = k->entry_version;
    struct str queue = STR("tagged");
    struct command c = claim_of(&queue, 1);
    struct str tags = STR("{\"team\":\"red\"}");
    struct id red[4];
    exhaust_tag(k, NAME("t\0team=red"), STORE_BUDGET_HOLD);
    for (unsigned i = 0; i < 3; i++) {
        red[i] = enqueue_tagged(k, "tagged", tags);
    }
    struct id plain = kit_enqueue(k, "tagged", "{}");
    red[3] = enqueue_tagged(k, "tagged", tags);
    for (unsigned i = 0; i < 2; i++) {
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->count, 0);
        assert_int_equal(r->affected, 1);
        kit_expect_state(k, red[i], JOB_HELD);
        kit_expect_state(k, red[i + 1], JOB_PENDING);
    }
    expect_str(kit_job(k, red[0]).hold_reason, STR("budget exceeded: tag:team=red"));
    /* A fetch that has already held a job leaves the next one pending. */
    c.claim.no_hold = true;
    assert_int_equal(kit_apply(k, &c)->affected, 0);
    kit_expect_state(k, red[2], JOB_PENDING);
    c.claim.no_hold = false;
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, plain));
    kit_expect_state(k, red[2], JOB_HELD);
    kit_expect_state(k, red[3], JOB_PENDING);
    /* Earlier versions hold all such jobs. */
    (void)enqueue_tagged(k, "tagged", tags);
    k->entry_version = COMMAND_ENTRY_PUT;
    r = kit_apply(k, &c);
    k->entry_version = present;
    assert_int_equal(r->affected, 0);
    kit_expect_count(k, "tagged", JOB_HELD, 5);
    delete_budget(k, NAME("t\0team=red"));
}

/* No job is held or expired, and the worker is not recorded. */
static void refused_fetch__changes_nothing(void **state)
{
    struct kit *k = *state;
    uint8_t present = k->entry_version;
    struct str queues[] = {STR("mild"), STR("mixed"), STR("strict")};
    struct command c = claim_of(queues, COUNT_OF(queues));
    c.claim.worker_id = STR("nobody");
    set_budget(k, NAME("q\0mild"), daily(0, STORE_BUDGET_HOLD));
    exhaust_tag(k, NAME("t\0level=hold"), STORE_BUDGET_HOLD);
    exhaust_tag(k, NAME("t\0level=no"), STORE_BUDGET_REJECT);
    struct id mild = kit_enqueue(k, "mild", "{}");
    struct id mixed = enqueue_tagged(k, "mixed", STR("{\"level\":\"hold\"}"));
    struct job j = kit_template("strict", "{}");
    j.expire_at = wall_add_ms(k->now, 10);
    j.priority = JOB_PRIORITY_HIGH;
    struct id old = kit_enqueue_job(k, &j);
    struct id strict = enqueue_tagged(k, "strict", STR("{\"level\":\"no\"}"));
    kit_pass_ms(k, 20);
    kit_refuses(k, &c, ERR_BUDGET_EXCEEDED, "budget exceeded: tag:level=no", ID_NONE);
    kit_expect_state(k, old, JOB_PENDING);
    /* A fetch that gets a job is not refused. It holds the jobs before that job. */
    struct id plain = kit_enqueue(k, "mixed", "{}");
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->count, 1);
    assert_int_equal(r->affected, 2);
    assert_true(id_eq(r->items[0].id, plain));
    kit_expect_state(k, mild, JOB_HELD);
    kit_expect_state(k, mixed, JOB_HELD);
    kit_expect_state(k, strict, JOB_PENDING);
    /* Earlier versions held jobs before they refused a fetch. */
    mild = kit_enqueue(k, "mild", "{}");
    k->entry_version = COMMAND_ENTRY_PUT;
    assert_int_equal(kit_apply(k, &c)->code, ERR_BUDGET_EXCEEDED);
    k->entry_version = present;
    kit_expect_state(k, mild, JOB_HELD);
    delete_budget(k, NAME("q\0mild"));
    delete_budget(k, NAME("t\0level=hold"));
    delete_budget(k, NAME("t\0level=no"));
}

/* The jobs that fill an entry are all over their budgets. The fetch is refused each time, and reads
 * no jobs after them. */
static void refused_fetch__has_read_an_entry_at_most(void **state)
{
    enum { PAYLOAD_BYTES = 1000000, QUEUES = 1 + LIMIT_STEP_BYTES / PAYLOAD_BYTES };
    struct kit *k = *state;
    struct str queues[QUEUES + 1];
    char *payload = malloc(PAYLOAD_BYTES + 1);
    assert_non_null(payload);
    memset(payload, '1', PAYLOAD_BYTES);
    payload[PAYLOAD_BYTES] = '\0';
    exhaust_tag(k, NAME("t\0size=large"), STORE_BUDGET_HOLD);
    for (size_t i = 0; i < QUEUES; i++) {
        queues[i] = kit_text(k, "large.%zu", i);
        struct job j = kit_template("large", payload);
        j.queue = queues[i];
        j.tags = STR("{\"size\":\"large\"}");
        (void)kit_enqueue_job(k, &j);
    }
    queues[QUEUES] = STR("small");
    struct id small = kit_enqueue(k, "small", "{}");
    struct command c = claim_of(queues, COUNT_OF(queues));
    uint64_t digest = kit_digest(k);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_BUDGET_EXCEEDED);
    assert_in_range(r->cost, LIMIT_STEP_BYTES, LIMIT_STEP_BYTES + 2 * PAYLOAD_BYTES);
    assert_int_equal(kit_digest(k), digest);
    /* With fewer queues, jobs are held until the entry is full. The next fetch gets the remaining
     * job. */
    c.claim.queues += QUEUES / 2;
    c.claim.queue_count -= QUEUES / 2;
    r = kit_apply(k, &c);
    assert_true(r->more);
    assert_in_range(r->affected, 1, QUEUES / 2);
    c.claim.no_hold = true;
    r = kit_apply(k, &c);
    assert_int_equal(r->affected, 0);
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, small));
    delete_budget(k, NAME("t\0size=large"));
    free(payload);
}

static void queue_that_is_listed_twice__counts_once(void **state)
{
    struct kit *k = *state;
    uint8_t present = k->entry_version;
    struct str queues[] = {STR("twice"), STR("once"), STR("twice")};
    struct command c = claim_of(queues, COUNT_OF(queues));
    set_budget(k, NAME("q\0twice"), daily(0, STORE_BUDGET_HOLD));
    for (unsigned i = 0; i < 4; i++) {
        (void)kit_enqueue(k, "twice", "{}");
    }
    assert_int_equal(kit_apply(k, &c)->affected, 1);
    kit_expect_count(k, "twice", JOB_HELD, 1);
    c.claim.no_hold = true;
    assert_int_equal(kit_apply(k, &c)->affected, 0);
    kit_expect_count(k, "twice", JOB_HELD, 1);
    c.claim.no_hold = false;
    k->entry_version = COMMAND_ENTRY_PUT;
    (void)kit_apply(k, &c);
    k->entry_version = present;
    kit_expect_count(k, "twice", JOB_HELD, 3);
    delete_budget(k, NAME("q\0twice"));
}

/* A waiting fetch learns when a daily budget is renewed, even if no entry was applied since. */
static void daily_budget__gives_way_at_midnight(void **state)
{
    struct kit *k = *state;
    struct job j = kit_template("late", "{}");
    struct wall until;
    struct wall midnight = {.ns = (k->now.ns / (DAY_MS * NS_PER_MS) + 1) * DAY_MS * NS_PER_MS};
    j.tags = STR("{\"when\":\"late\"}");
    spend(k, &j, 100);
    (void)kit_enqueue_job(k, &j);
    for (unsigned i = 0; i < 2; i++) {
        enum store_budget_action action = i == 0 ? STORE_BUDGET_HOLD : STORE_BUDGET_REJECT;
        set_budget(k, NAME("q\0late"), daily(100, action));
        assert_false(machine_claimable(k->machine, STR("late"), k->now, &until));
        assert_int_equal(until.ns, midnight.ns);
        assert_int_equal(machine_claimable_count(k->machine, STR("late"), k->now), 0);
        assert_true(machine_claimable(k->machine, STR("late"), midnight, &until));
        assert_int_equal(until.ns, 0);
        assert_int_equal(machine_claimable_count(k->machine, STR("late"), midnight), 1);
        assert_int_equal(machine_places(k->machine, STR("late"), k->now, false), 0);
        assert_true(machine_places(k->machine, STR("late"), midnight, false) > 0);
    }
    /* These budgets are not renewed at the end of the day. */
    set_budget(k, NAME("q\0late"), daily(0, STORE_BUDGET_HOLD));
    assert_false(machine_claimable(k->machine, STR("late"), k->now, &until));
    assert_int_equal(until.ns, 0);
    set_budget(k, NAME("q\0late"), per_job(99));
    assert_false(machine_claimable(k->machine, STR("late"), k->now, &until));
    assert_int_equal(until.ns, 0);
    delete_budget(k, NAME("q\0late"));
    /* A budget of a tag applies to the next job in line. */
    assert_false(machine_next_is_held(k->machine, STR("late"), k->now, &until));
    set_budget(k, NAME("t\0when=late"), daily(100, STORE_BUDGET_HOLD));
    assert_true(machine_claimable(k->machine, STR("late"), k->now, &until));
    assert_true(machine_next_is_held(k->machine, STR("late"), k->now, &until));
    assert_int_equal(until.ns, midnight.ns);
    assert_false(machine_next_is_held(k->machine, STR("late"), midnight, &until));
    delete_budget(k, NAME("t\0when=late"));
}

/* A daily budget also applies to a queue that is deleted and created again on the same day. */
static void daily_budget__outlives_its_queue(void **state)
{
    struct kit *k = *state;
    struct job j = kit_template("phoenix", "{}");
    set_budget(k, NAME("q\0phoenix"), daily(100, STORE_BUDGET_REJECT));
    spend(k, &j, 100);
    (void)kit_empty(k, COMMAND_QUEUE_DELETE, "phoenix");
    kit_reopen(k);
    struct id id = kit_enqueue_job(k, &j);
    kit_reopen(k);
    assert_int_equal(claim_code(k, "phoenix"), ERR_BUDGET_EXCEEDED);
    /* The average is that of the stored jobs, which were removed. */
    assert_false(machine_over_budget(k->machine, STR("phoenix"),
                                     (struct wall){.ns = k->now.ns + DAY_MS * NS_PER_MS}));
    (void)kit_empty(k, COMMAND_QUEUE_DELETE, "phoenix");
    kit_pass_ms(k, DAY_MS);
    /* Reports of the next day remove the rest of the previous day. */
    struct job other = kit_template("phoenix::other", "{}");
    spend(k, &other, 1);
    id = kit_enqueue_job(k, &j);
    assert_true(id_eq(kit_claim(k, "phoenix"), id));
    /* The same with an entry of an earlier version, which removes the sum with the queue. */
    (void)kit_ack(k, id);
    spend(k, &j, 99);
    k->entry_version = COMMAND_ENTRY_STRICT;
    (void)kit_empty(k, COMMAND_QUEUE_DELETE, "phoenix");
    k->entry_version = COMMAND_ENTRY_VERSION;
    spend(k, &j, 99);
    id = kit_enqueue_job(k, &j);
    assert_true(id_eq(kit_claim(k, "phoenix"), id));
    (void)kit_ack(k, id);
    delete_budget(k, NAME("q\0phoenix"));
}

TEST_GROUP_FIXTURE(apply_budget, kit_setup, kit_teardown,
                   cmocka_unit_test(budget__holds_the_oldest_job_of_its_queue),
                   cmocka_unit_test(budget__explains_why_a_job_waits),
                   cmocka_unit_test(budget__counts_what_was_spent_before_it),
                   cmocka_unit_test(budget_of_one_job__refuses_acks_that_ask_for_it),
                   cmocka_unit_test(budget_of_one_job__counts_reports_of_the_same_entry),
                   cmocka_unit_test(budget_of_one_job__counts_reports_without_a_sum),
                   cmocka_unit_test(budget_of_a_tag__holds_one_job_of_a_fetch),
                   cmocka_unit_test(refused_fetch__changes_nothing),
                   cmocka_unit_test(refused_fetch__has_read_an_entry_at_most),
                   cmocka_unit_test(queue_that_is_listed_twice__counts_once),
                   cmocka_unit_test(daily_budget__gives_way_at_midnight),
                   cmocka_unit_test(daily_budget__outlives_its_queue),
                   cmocka_unit_test(sums__equal_a_recount),
                   cmocka_unit_test(sums__of_tags_are_limited),
                   cmocka_unit_test(sums__are_not_kept_of_old_entries),
                   cmocka_unit_test(budget__has_an_id_in_order),
                   cmocka_unit_test(budgets__are_limited_in_number));
