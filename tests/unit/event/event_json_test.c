#include "event/event_json.h"

#include "lib/expect.h"
#include "lib/test.h"

#define AT                                                                                         \
    {                                                                                              \
        .ns = 1771581606000000000                                                                  \
    }
#define JOB  "job_00000000010000000000000005"
#define WHEN "2026-02-20T10:00:06Z"

static void json__frames_are_as_the_contract_shows_them(void **state)
{
    const struct id job = id_make((struct wall){.ns = 1 * NS_PER_MS}, 0, 5);
    const struct {
        const char *name;
        struct store_event e;
        const char *ns;
        enum event_json_dialect dialect;
        const char *frame;
    } rows[] = {
        {"plain",
         {.seq = 17, .at = AT, .type = STORE_EVENT_COMPLETED, .job = job, .queue = STR("emails")},
         "",
         EVENT_JSON_NAMED,
         "id: 17\nevent: completed\ndata: {\"seq\":17,\"type\":\"completed\",\"job_id\":\"" JOB
         "\",\"queue\":\"emails\",\"at_ns\":1771581606000000000,\"id\":17,\"created_at\":\"" WHEN
         "\"}\n\n"},
        {"message",
         {.seq = 17, .at = AT, .type = STORE_EVENT_COMPLETED, .job = job, .queue = STR("emails")},
         "",
         EVENT_JSON_MESSAGE,
         "id: 17\ndata: {\"seq\":17,\"type\":\"job.completed\",\"job_id\":\"" JOB
         "\",\"queue\":\"emails\",\"at_ns\":1771581606000000000,\"id\":17,\"created_at\":\"" WHEN
         "\"}\n\n"},
        {"of a queue",
         {.seq = 1, .at = AT, .type = STORE_EVENT_QUEUE_PAUSED, .queue = STR("acme::emails")},
         "acme",
         EVENT_JSON_MESSAGE,
         "id: 1\ndata: {\"seq\":1,\"type\":\"queue.paused\",\"queue\":\"emails\","
         "\"at_ns\":1771581606000000000,\"id\":1,\"created_at\":\"" WHEN "\"}\n\n"},
        {"failed, for good",
         {.seq = 2,
          .at = AT,
          .type = STORE_EVENT_FAILED,
          .job = job,
          .queue = STR("q"),
          .text = STR("say \"no\"\n"),
          .attempt = 3},
         "",
         EVENT_JSON_NAMED,
         "id: 2\nevent: failed\ndata: {\"seq\":2,\"type\":\"failed\",\"job_id\":\"" JOB
         "\",\"queue\":\"q\",\"at_ns\":1771581606000000000,\"data\":{\"attempt\":3,\"error\":"
         "\"say \\\"no\\\"\\n\",\"attempts_remaining\":0},\"id\":2,\"created_at\":\"" WHEN
         "\"}\n\n"},
        {"moved within a namespace",
         {.seq = 3,
          .at = AT,
          .type = STORE_EVENT_MOVED,
          .job = job,
          .queue = STR("acme::b"),
          .text = STR("acme::a"),
          .text2 = STR("acme::b")},
         "acme",
         EVENT_JSON_NAMED,
         "id: 3\nevent: moved\ndata: {\"seq\":3,\"type\":\"moved\",\"job_id\":\"" JOB
         "\",\"queue\":\"b\",\"at_ns\":1771581606000000000,\"data\":{\"from\":\"a\",\"to\":\"b\"},"
         "\"id\":3,\"created_at\":\"" WHEN "\"}\n\n"},
        {"progress over lines",
         {.seq = 4,
          .at = AT,
          .type = STORE_EVENT_PROGRESS,
          .job = job,
          .queue = STR("q"),
          .text = STR("{\"a\":\n [1,\r\n\t2]}")},
         "",
         EVENT_JSON_NAMED,
         "id: 4\nevent: progress\ndata: {\"seq\":4,\"type\":\"progress\",\"job_id\":\"" JOB
         "\",\"queue\":\"q\",\"at_ns\":1771581606000000000,\"data\":{\"a\":[1,2]},\"id\":4,"
         "\"created_at\":\"" WHEN "\"}\n\n"},
        {"held without a reason",
         {.seq = 5, .at = AT, .type = STORE_EVENT_HELD, .job = job, .queue = STR("q")},
         "",
         EVENT_JSON_NAMED,
         "id: 5\nevent: held\ndata: {\"seq\":5,\"type\":\"held\",\"job_id\":\"" JOB
         "\",\"queue\":\"q\",\"at_ns\":1771581606000000000,\"id\":5,\"created_at\":\"" WHEN
         "\"}\n\n"},
    };
    struct buf out;
    (void)state;
    buf_init(&out, 4096);
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        buf_clear(&out);
        event_json_frame(&out, &rows[i].e, str_from_z(rows[i].ns), rows[i].dialect);
        expect_str(buf_str(&out), str_from_z(rows[i].frame));
    }
    buf_deinit(&out);
}

TEST_GROUP(event_json, cmocka_unit_test(json__frames_are_as_the_contract_shows_them));
