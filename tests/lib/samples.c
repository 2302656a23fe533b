#include "lib/samples.h"

#include "base/check.h"

static struct wall at(int64_t ms)
{
    return (struct wall){.ns = ms * NS_PER_MS + 7};
}

struct id samples_id(unsigned number)
{
    return id_make((struct wall){.ns = 1700000000 * NS_PER_S}, 0x0102030405 + number, number);
}

/* The bytes of two job ids, one after the other. */
static struct str two_ids(void)
{
    static struct id ids[2];
    ids[0] = samples_id(101);
    ids[1] = samples_id(102);
    return str_from(ids, sizeof ids);
}

struct job samples_job_full(void)
{
    return (struct job){
        .id = samples_id(1),
        .queue = STR("mail.out"),
        .payload = STR("{\"to\":\"a@b\",\"n\":12345678901234567890}"),
        .state = JOB_ACTIVE,
        .priority = JOB_PRIORITY_HIGH,
        .backoff = JOB_BACKOFF_LINEAR,
        .attempt = 2,
        .max_retries = 5,
        .retry_base_ms = 1500,
        .retry_max_ms = 90000,
        .order = 11,
        .lease_token = 12,
        .version = 13,
        .created_at = at(1700000000001),
        .scheduled_at = at(1700000000002),
        .expire_at = at(1700000000003),
        .started_at = at(1700000000004),
        .completed_at = at(1700000000005),
        .failed_at = at(1700000000006),
        .cancelled_at = at(1700000000007),
        .lease_expires_at = at(1700000000008),
        .unique_period_s = 120,
        .unique_key = STR("order-17"),
        .batch_id = samples_id(2),
        .batch_counted = true,
        .worker_id = STR("worker-1"),
        .hostname = STR("host.example"),
        .tags = STR("{\"team\":\"billing\"}"),
        .progress = STR("{\"current\":3,\"total\":9}"),
        .checkpoint = STR("{\"page\":4}"),
        .result = STR("null"),
        .parent_id = STR("job_parent"),
        .chain_id = STR("chn_1"),
        .chain_step = -2,
        .has_chain_step = true,
        .chain_config = STR("{\"steps\":[{\"queue\":\"mail.out\"},{\"queue\":\"b\"}]}"),
        .hold_reason = STR("needs a human"),
        .schedule_id = samples_id(3),
        .is_agent = true,
        .agent = {.max_iterations = 8,
                  .max_cost_nusd = 2500000000,
                  .timeout_ms = 30000,
                  .timeout = STR("30s"),
                  .iteration = 3,
                  .total_cost_nusd = 123456789},
        .waits_for = two_ids(),
        .error_count = 21,
        .iteration_count = 22,
        .usage_count = 23,
    };
}

struct job samples_job_push(void)
{
    struct job j = samples_job_minimal();
    j.push = STR(
        "{\"url\":\"https://example.com/hook\",\"auth\":{\"type\":\"bearer\",\"token\":\"t\"}}");
    j.due_at = at(1700000000010);
    j.first_try_at = at(1700000000011);
    j.try_count = 7;
    j.try_first = 2;
    j.outcome = JOB_OUTCOME_TIMEOUT;
    j.cancel_reason = STR("not needed");
    j.name = STR("nightly/1");
    j.definition = 0x8000000000000001;
    j.counted_bytes = 240;
    j.cron = STR("CRON_TZ=UTC 0 9 * * *");
    j.cron_until = at(1800000000000);
    return j;
}

struct store_try samples_try(void)
{
    return (struct store_try){.row = 54,
                              .attempt = 2,
                              .outcome = JOB_OUTCOME_FAILED,
                              .error_type = STORE_TRY_ERROR_HTTP,
                              .http_status = 503,
                              .answer_ms = 12,
                              .due_at = at(1700000000610),
                              .started_at = at(1700000000611),
                              .ended_at = at(1700000000612),
                              .node = STR("node-1"),
                              .error = STR("webhook returned status 503")};
}

struct job samples_job_minimal(void)
{
    return (struct job){.id = samples_id(4), .queue = STR("q"), .payload = STR("{}")};
}

struct store_queue samples_queue(void)
{
    return (struct store_queue){.paused = true,
                                .max_concurrency = 4,
                                .throttle_rate = 100,
                                .throttle_window_ms = 60000,
                                .throttle_claims = 12345678901,
                                .created_at = at(1700000000100),
                                .completed = 31,
                                .dead = 32,
                                .cancelled = 33,
                                .failures = 34};
}

struct store_lock samples_lock(void)
{
    return (struct store_lock){.job = samples_id(5), .expires_at = at(1700000000200)};
}

struct store_owner samples_owner(void)
{
    return (struct store_owner){.known = true, .ns = STR("acme"), .scope = STR("mail.*, news")};
}

struct store_batch samples_batch(void)
{
    return (struct store_batch){.total = 41,
                                .pending = 42,
                                .succeeded = 43,
                                .failed = 44,
                                .callback_queue = STR("done"),
                                .callback_payload = STR("{\"x\":1}"),
                                .created_at = at(1700000000300),
                                .finished_at = at(1700000000301),
                                .sealed = true};
}

struct store_schedule samples_schedule(void)
{
    return (struct store_schedule){.name = STR("nightly"),
                                   .queue = STR("reports"),
                                   .cron = STR("0 3 * * *"),
                                   .timezone = STR("Europe/Madrid"),
                                   .payload = STR("{\"kind\":\"all\"}"),
                                   .unique_key = STR("nightly"),
                                   .tags = STR("{\"a\":\"b\"}"),
                                   .max_retries = 7,
                                   .priority = JOB_PRIORITY_HIGH,
                                   .enabled = true,
                                   .created_at = at(1700000000400),
                                   .updated_at = at(1700000000401),
                                   .last_run = at(1700000000402),
                                   .next_run = at(1700000000403)};
}

struct store_webhook samples_webhook(void)
{
    return (struct store_webhook){.ns = STR("acme"),
                                  .url = STR("https://example.com/hook?x=1"),
                                  .events = STR("completed\njob.dead\nqueue.*"),
                                  .secret = STR("s3cret"),
                                  .retry_limit = 5,
                                  .enabled = true,
                                  .created_at = at(1700000000600),
                                  .position = 123456,
                                  .last_status = 503,
                                  .last_error = STR("http 503"),
                                  .last_delivery_at = at(1700000000601)};
}

struct store_policy samples_policy(void)
{
    return (struct store_policy){.ns = STR("acme"),
                                 .name = STR("look first"),
                                 .queue = STR("acme::agents"),
                                 .tag_key = STR("env"),
                                 .tag_value = STR("prod"),
                                 .all = true,
                                 .enabled = true,
                                 .created_at = at(1700000000700)};
}

struct store_worker samples_worker(void)
{
    return (struct store_worker){.hostname = STR("host.example"),
                                 .queues = STR("[\"a\",\"b\"]"),
                                 .started_at = at(1700000000500),
                                 .last_heartbeat = at(1700000000501)};
}

struct store_bulk samples_bulk(void)
{
    return (struct store_bulk){.status = STORE_BULK_CANCELLED,
                               .action = COMMAND_JOB_MOVE,
                               .reset_attempts = true,
                               .priority = JOB_PRIORITY_HIGH,
                               .lists = 61,
                               .steps = 62,
                               .total = 63,
                               .processed = 64,
                               .affected = 65,
                               .errors = 66,
                               .cursor = samples_id(67),
                               .created_at = at(1700000000510),
                               .updated_at = at(1700000000511),
                               .finished_at = at(1700000000512),
                               .ns = STR("acme"),
                               .queue = STR("mail.in"),
                               .reason = STR("by hand"),
                               .filter = STR("{\"state\":[\"dead\"]}"),
                               .error = STR("it broke")};
}

static struct store_tokens tokens(void)
{
    return (struct store_tokens){.input = 1,
                                 .output = 2,
                                 .cache_creation = 3,
                                 .cache_read = 4,
                                 .cost_nusd = 5,
                                 .model = STR("model-x"),
                                 .provider = STR("someone")};
}

struct store_error samples_error(void)
{
    return (struct store_error){.row = 51,
                                .attempt = 2,
                                .created_at = at(1700000000600),
                                .error = STR("it broke"),
                                .backtrace = STR("at line 1")};
}

struct store_usage samples_usage(void)
{
    return (struct store_usage){.row = 52,
                                .attempt = 3,
                                .phase = STORE_PHASE_HEARTBEAT,
                                .created_at = at(1700000000601),
                                .tokens = tokens()};
}

struct store_iteration samples_iteration(void)
{
    return (struct store_iteration){.row = 53,
                                    .iteration = 4,
                                    .status = STORE_ITERATION_HOLD,
                                    .created_at = at(1700000000602),
                                    .checkpoint = STR("{\"page\":4}"),
                                    .hold_reason = STR("look at this"),
                                    .result = STR("[1,2]"),
                                    .tokens = tokens()};
}

struct store_event samples_event(unsigned i, uint64_t first_seq, struct wall when)
{
    CHECK(i < SAMPLES_EVENTS);
    enum store_event_type type = (enum store_event_type)(i + 1);
    struct store_event e = {.seq = first_seq + i,
                            .at = when,
                            .type = type,
                            .job = type < STORE_EVENT_QUEUE_PAUSED ? samples_id(i) : ID_NONE,
                            .queue = STR("mail.out")};
    if (type == STORE_EVENT_STARTED) {
        e.text = STR("worker-1");
        e.attempt = 2;
    } else if (type == STORE_EVENT_FAILED) {
        e.text = STR("it broke");
        e.attempt = UINT32_MAX;
        e.remaining = 300;
        e.next_attempt_at = at(1700000000700);
    } else if (type == STORE_EVENT_HELD || type == STORE_EVENT_BUDGET_EXCEEDED) {
        e.text = STR("needs a human");
    } else if (type == STORE_EVENT_PROGRESS) {
        e.text = STR("{\"current\":3}");
    } else if (type == STORE_EVENT_MOVED) {
        e.text = STR("mail.in");
        e.text2 = STR("mail.out");
    }
    return e;
}

/* Commands */

static struct command enqueue(void)
{
    static struct command_new jobs[2];
    jobs[0] = (struct command_new){
        .job = samples_job_full(), .expire_after_ms = 3600000, .starts_chain = true};
    jobs[1] = (struct command_new){.job = samples_job_minimal()};
    jobs[0].job.id = jobs[1].job.id = ID_NONE; /* a new job has no id yet */
    return (struct command){.enqueue = {.jobs = jobs,
                                        .count = COUNT_OF(jobs),
                                        .has_batch = true,
                                        .callback_queue = STR("done"),
                                        .callback_payload = STR("[true]"),
                                        .owner = samples_owner(),
                                        .idempotency_key = STR("request-1"),
                                        .body_hash = 0x0102030405060708}};
}

static struct command claim(void)
{
    static struct str queues[] = {{"mail.out", 8}, {"mail.in", 7}};
    return (struct command){.claim = {.queues = queues,
                                      .queue_count = COUNT_OF(queues),
                                      .worker_id = STR("worker-1"),
                                      .hostname = STR("host.example"),
                                      .ns = STR("acme"),
                                      .version = STR("1.4.2"),
                                      .lease_ms = 45000,
                                      .count = 10,
                                      .no_hold = true}};
}

static struct command ack(void)
{
    static struct command_ack_item items[2];
    items[0] = (struct command_ack_item){.id = samples_id(6),
                                         .lease_token = 300,
                                         .has_result = true,
                                         .result = STR("{\"ok\":true}"),
                                         .checkpoint = STR("{\"page\":5}"),
                                         .usage = tokens(),
                                         .agent_status = COMMAND_AGENT_HOLD,
                                         .step_status = COMMAND_STEP_EXIT,
                                         .hold_reason = STR("look"),
                                         .exit_reason = STR("enough")};
    items[1] = (struct command_ack_item){.id = samples_id(7)};
    static struct command_claim next;
    next = claim().claim;
    next.version = STR_EMPTY; /* this sample has no version */
    next.no_hold = false;
    return (struct command){.ack = {.lenient = true,
                                    .any_cost = true,
                                    .items = items,
                                    .count = COUNT_OF(items),
                                    .next = &next}};
}

static struct command heartbeat(void)
{
    static struct command_heartbeat_item items[2];
    items[0] = (struct command_heartbeat_item){.id = samples_id(8),
                                               .lease_token = 70000,
                                               .progress = STR("50"),
                                               .checkpoint = STR("{\"page\":6}"),
                                               .usage = tokens()};
    items[1] = (struct command_heartbeat_item){.id = samples_id(9)};
    return (struct command){
        .heartbeat = {.items = items, .count = COUNT_OF(items), .ns = STR("acme")}};
}

static struct command give_back(void)
{
    static struct command_return_item items[2];
    items[0] =
        (struct command_return_item){.id = samples_id(32), .lease_token = 70001, .order = 300};
    items[1] = (struct command_return_item){.id = samples_id(33), .lease_token = 1, .order = 0};
    return (struct command){.give_back = {.items = items, .count = COUNT_OF(items)}};
}

static struct command push_claim(void)
{
    static struct command_push_line lines[2];
    lines[0] = (struct command_push_line){
        .queue = STR("mail.out"), .host = STR("example.com:443"), .priority = 2, .count = 128};
    lines[1] = (struct command_push_line){.queue = STR("q"), .count = 1};
    return (struct command){.push_claim = {.node = STR("push:node-1"),
                                           .lease_ms = 300000,
                                           .lines = lines,
                                           .count = COUNT_OF(lines)}};
}

static struct command push_finish(void)
{
    static struct command_push_end items[2];
    items[0] = (struct command_push_end){.id = samples_id(34),
                                         .lease_token = 70002,
                                         .outcome = JOB_OUTCOME_FAILED,
                                         .error_type = STORE_TRY_ERROR_HTTP,
                                         .http_status = 429,
                                         .answer_ms = 31,
                                         .started_at = at(1700000000620),
                                         .ended_at = at(1700000000621),
                                         .retry_after_ms = 30000,
                                         .next = at(1700000060000),
                                         .error = STR("webhook returned status 429"),
                                         .result = STR("{\"status\":429}")};
    items[1] = (struct command_push_end){.id = samples_id(35), .lease_token = 1};
    return (struct command){
        .push_finish = {.keep_ms = 2592000000, .items = items, .count = COUNT_OF(items)}};
}

static struct command named_put(void)
{
    static struct command_new new;
    new = (struct command_new){.job = samples_job_push()};
    new.job.id = ID_NONE;
    return (struct command){
        .named_put = {.job = &new, .bytes_max = 1ULL << 30, .count_max = 100000}};
}

static struct command webhook_mark(void)
{
    static struct command_webhook_mark_item items[2];
    items[0] = (struct command_webhook_mark_item){.id = STR("wh_1"),
                                                  .created_at = at(1700000000600),
                                                  .position = 123457,
                                                  .attempted = true,
                                                  .status = 200,
                                                  .error = STR("none"),
                                                  .at = at(1700000000602)};
    items[1] = (struct command_webhook_mark_item){.id = STR("acme::wh_2"), .position = 7};
    return (struct command){.webhook_mark = {.items = items, .count = COUNT_OF(items)}};
}

static struct job_fit fit(void)
{
    return (struct job_fit){.states = 1U << JOB_DEAD | 1U << JOB_CANCELLED,
                            .priorities = 1U << JOB_PRIORITY_HIGH,
                            .queue = STR("mail.out")};
}

static struct command jobs(void)
{
    static struct id ids[3];
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = samples_id(10 + i);
    }
    return (struct command){.jobs = {.action = COMMAND_JOB_MOVE,
                                     .lenient = true,
                                     .reset_attempts = true,
                                     .priority = JOB_PRIORITY_HIGH,
                                     .queue = STR("mail.in"),
                                     .reason = STR("by hand"),
                                     .fit = fit(),
                                     .ids = ids,
                                     .count = COUNT_OF(ids)}};
}

static struct command queue(void)
{
    return (struct command){.queue = {.action = COMMAND_QUEUE_DELETE,
                                      .name = STR("mail.out"),
                                      .max = 5,
                                      .rate = 6,
                                      .window_ms = 7000,
                                      .cursor = samples_id(13),
                                      .until = samples_id(14),
                                      .in_done = true}};
}

static struct command bulk_put(void)
{
    static struct id ids[2];
    ids[0] = samples_id(21);
    ids[1] = samples_id(22);
    return (struct command){.bulk_put = {.action = COMMAND_JOB_MOVE,
                                         .reset_attempts = true,
                                         .priority = JOB_PRIORITY_HIGH,
                                         .queue = STR("mail.in"),
                                         .reason = STR("by hand"),
                                         .ns = STR("acme"),
                                         .scope = STR("mail.*, news"),
                                         .fit = fit(),
                                         .total = 3,
                                         .errors = 1,
                                         .ids = ids,
                                         .count = COUNT_OF(ids)}};
}

static struct command bulk_step(void)
{
    static struct id ids[2];
    ids[0] = samples_id(23);
    ids[1] = samples_id(24);
    return (struct command){.bulk_step = {.id = samples_id(25),
                                          .step = 7,
                                          .last = true,
                                          .cursor = samples_id(24),
                                          .ids = ids,
                                          .count = COUNT_OF(ids)}};
}

static struct command restore(void)
{
    static struct command_restore_item items[COMMAND_RESTORE_WEBHOOK]; /* kinds of version 1 */
    struct job job = samples_job_full();
    job.id = samples_id(30);
    items[0] = (struct command_restore_item){
        .kind = COMMAND_RESTORE_QUEUE, .name = STR("mail.out"), .queue = samples_queue()};
    items[1] = (struct command_restore_item){
        .kind = COMMAND_RESTORE_SCHEDULE, .id = samples_id(28), .schedule = samples_schedule()};
    items[2] = (struct command_restore_item){
        .kind = COMMAND_RESTORE_BATCH, .id = samples_id(29), .batch = samples_batch()};
    items[3] = (struct command_restore_item){.kind = COMMAND_RESTORE_JOB,
                                             .id = samples_id(30),
                                             .unique_until = at(1700000001000),
                                             .job = job};
    items[4] = (struct command_restore_item){
        .kind = COMMAND_RESTORE_ERROR, .id = samples_id(30), .place = 3, .error = samples_error()};
    items[5] = (struct command_restore_item){.kind = COMMAND_RESTORE_ITERATION,
                                             .id = samples_id(30),
                                             .place = 4,
                                             .iteration = samples_iteration()};
    items[6] = (struct command_restore_item){
        .kind = COMMAND_RESTORE_USAGE, .id = samples_id(30), .place = 5, .usage = samples_usage()};
    items[7] = (struct command_restore_item){
        .kind = COMMAND_RESTORE_WEBHOOK, .name = STR("acme::wh_1"), .webhook = samples_webhook()};
    return (struct command){.restore = {.items = items, .count = COUNT_OF(items)}};
}

static struct command access_records(void)
{
    /* Bytes of the quota: no request limits, 100 jobs, any payload size, 5 queues. Version 1
     * has no quotas, and version 2 has no last item. */
    static const char quota[56] = {[32] = 100, [48] = 5};
    static struct command_access_item items[] = {
        {.kind = STORE_ACCESS_ROLE,
         .rule = COMMAND_ACCESS_NEW,
         .name = {"viewer", 6},
         .body = {"\6Viewer\6queues\1\4read", 20}},
        {.kind = STORE_ACCESS_NAMESPACE,
         .rule = COMMAND_ACCESS_THERE,
         .deletes = true,
         .name = {"acme", 4}},
        {.kind = STORE_ACCESS_NAMESPACE, .name = {"zenith", 6}, .body = {quota, sizeof quota}},
        {.kind = STORE_ACCESS_NAMESPACE,
         .rule = COMMAND_ACCESS_SAME,
         .seen = 0x0123456789abcdef,
         .name = {"nadir", 5},
         .body = {quota, sizeof quota}},
    };
    return (struct command){.access = {.items = items, .count = COUNT_OF(items)}};
}

static struct command audit(void)
{
    static struct store_audit items[] = {
        {.at = {.ns = 1},
         .ns = {"acme", 4},
         .principal = {"ops", 3},
         .role = {"admin", 5},
         .method = {"POST", 4},
         .path = {"/api/v1/queues/q/pause", 22},
         .query = {"a=b", 3},
         .status = 200,
         .duration_ms = 2,
         .suppressed = 3},
        {.method = {"GET", 3}, .path = {"/", 1}, .status = 401},
    };
    return (struct command){
        .audit = {.retention_ms = 86400000, .items = items, .count = COUNT_OF(items)}};
}

static struct command content_of(enum command_type type)
{
    switch (type) {
    case COMMAND_ENQUEUE:
        return enqueue();
    case COMMAND_CLAIM:
        return claim();
    case COMMAND_ACK:
        return ack();
    case COMMAND_FAIL:
        return (struct command){.fail = {.id = samples_id(15),
                                         .lease_token = 1,
                                         .error = STR("it broke"),
                                         .backtrace = STR("at line 1")}};
    case COMMAND_HEARTBEAT:
        return heartbeat();
    case COMMAND_JOBS:
        return jobs();
    case COMMAND_REPLAY:
        return (struct command){.replay = {.id = samples_id(16),
                                           .from = 2,
                                           .once = {.key = STR("replay  k"), .hash = 77}}};
    case COMMAND_QUEUE:
        return queue();
    case COMMAND_TICK:
        return (struct command){0};
    case COMMAND_PURGE:
        return (struct command){.purge = {.retention_ms = 604800000}};
    case COMMAND_BATCH_OPEN:
        return (struct command){.batch_open = {.callback_queue = STR("done"),
                                               .callback_payload = STR("{\"x\":1}"),
                                               .owner = samples_owner(),
                                               .once = {.key = STR("batch  k"), .hash = 78}}};
    case COMMAND_BATCH_SEAL:
        return (struct command){.batch_seal = {.id = samples_id(17)}};
    case COMMAND_SCHEDULE_PUT:
        return (struct command){.schedule_put = {.id = samples_id(18),
                                                 .expected_updated_at = at(1700000000800),
                                                 .schedule = samples_schedule()}};
    case COMMAND_SCHEDULE_DELETE:
        return (struct command){.schedule_delete = {.id = samples_id(19)}};
    case COMMAND_SCHEDULE_FIRE:
        return (struct command){.schedule_fire = {.id = samples_id(20),
                                                  .manual = true,
                                                  .expected_next = at(1700000000900),
                                                  .next = at(1700000000901),
                                                  .once = {.key = STR("run  k"), .hash = 78}}};
    case COMMAND_WEBHOOK_PUT:
        return (struct command){.webhook_put = {.id = STR("acme::wh_1"),
                                                .keep_secret = true,
                                                .webhook = samples_webhook()}};
    case COMMAND_WEBHOOK_DELETE:
        return (struct command){.webhook_delete = {.id = STR("acme::wh_1")}};
    case COMMAND_WEBHOOK_MARK:
        return webhook_mark();
    case COMMAND_BULK_PUT:
        return bulk_put();
    case COMMAND_BULK_STEP:
        return bulk_step();
    case COMMAND_BULK_END:
        return (struct command){
            .bulk_end = {.id = samples_id(26), .cancelled = true, .error = STR("enough")}};
    case COMMAND_RESTORE:
        return restore();
    case COMMAND_POLICY_PUT:
        return (struct command){.policy_put = {.policy = samples_policy()}};
    case COMMAND_POLICY_DELETE:
        return (struct command){.policy_delete = {.id = samples_id(31)}};
    case COMMAND_BULK_QUEUE:
        return (struct command){.bulk_queue = {.action = COMMAND_QUEUE_DELETE,
                                               .name = STR("acme::mail.out"),
                                               .ns = STR("acme"),
                                               .cursor = samples_id(32),
                                               .until = samples_id(33),
                                               .in_done = true}};
    case COMMAND_RETURN:
        return give_back();
    case COMMAND_NODE_PUT:
        return (struct command){.node_put.node = {.id = 0x123456789abcdef0,
                                                  .state = STORE_NODE_MEMBER,
                                                  .voter = true,
                                                  .name = STR("node-2"),
                                                  .address = STR("10.0.0.2:9400"),
                                                  .http_url = STR("http://10.0.0.2:8080"),
                                                  .version = STR("0.3.0")}};
    case COMMAND_NODE_STATE:
        return (struct command){.node_state = {.id = 77, .state = STORE_NODE_LEAVING}};
    case COMMAND_ACCESS:
        return access_records();
    case COMMAND_AUDIT:
        return audit();
    case COMMAND_PUSH_CLAIM:
        return push_claim();
    case COMMAND_PUSH_FINISH:
        return push_finish();
    case COMMAND_NAMED_PUT:
        return named_put();
    case COMMAND_NAMED_PURGE:
        return (struct command){
            .named_purge = {.retention_ms = 2592000000, .cursor = samples_id(36)}};
    default:
        UNREACHABLE("every command has a sample");
    }
}

struct command samples_command(enum command_type type)
{
    struct command c = content_of(type);
    c.type = type;
    return c;
}
