/*
 * A disk that becomes full, and space that is released.
 */
#include <string.h>

#include "base/check.h"
#include "lib/test.h"
#include "os/os_file.h"
#include "view/view_int.h"
#include "view_kit.h"

enum { CHUNK = 25, PAYLOAD_BYTES = 1000 };

static void put_many(struct view_kit *k, unsigned count, struct str payload)
{
    static struct command_new jobs[CHUNK];
    for (unsigned i = 0; i < CHUNK; i++) {
        jobs[i] = engine_kit_new_job("q");
        if (payload.len > 0) {
            jobs[i].job.payload = payload;
        }
    }
    for (unsigned put = 0; put < count; put += CHUNK) {
        struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = CHUNK}};
        (void)engine_kit_do(k->engine, &c);
    }
}

static void run_count_all(struct view_kit *k, struct view_reader *r, void *data)
{
    struct view_filter all = {0};
    (void)(view_search_count(r, &all, k->arena, data, &k->err) == ERR_OK);
}

static void stops_when_it_is_told_and_goes_on(void **state)
{
    struct view_kit *k = view_kit_open(NULL);
    uint64_t found = 0;
    (void)state;
    put_many(k, CHUNK, STR_EMPTY);
    view_kit_check(k);
    uint64_t written = view_kit_status(k).written;
    view_set_space(k->view, true);
    put_many(k, 4 * CHUNK, STR_EMPTY);
    view_kit_ask(k, false, run_count_all, &found); /* does not wait for wait_ms */
    assert_int_equal(k->err.code, ERR_OK);
    assert_int_equal(found, CHUNK);
    assert_int_equal(k->lag, 4 * CHUNK);
    struct view_status s = view_kit_status(k);
    assert_true(s.low_space);
    assert_int_equal(s.lag, 4 * CHUNK);
    assert_int_equal(s.written, written);
    assert_int_equal(view_kit_rebuild(k), ERR_NO_SPACE); /* it needs even more */
    view_set_space(k->view, false);
    /* Until the view has published that there is space, answers arrive early: some before the rows
     * are written, and some after them, before the words are. */
    do {
        view_kit_ask(k, false, run_count_all, &found);
    } while (k->lag > 0 || view_kit_status(k).low_space);
    assert_int_equal(found, 5 * CHUNK);
    view_kit_check(k);
    view_kit_close(k);
}

static void no_space_at_all(struct view_config *config)
{
    config->free_bytes_min = UINT64_MAX / 4;
}

static void begins_nothing_without_space(void **state)
{
    struct view_kit *k = view_kit_open(no_space_at_all);
    uint64_t found = 0;
    (void)state;
    put_many(k, CHUNK, STR_EMPTY);
    view_kit_ask(k, false, run_count_all, &found);
    assert_int_equal(k->err.code, ERR_UNHEALTHY);
    assert_true(view_kit_status(k).low_space);
    view_kit_stop_view(k);
    k->config.free_bytes_min = 1;
    view_kit_start_view(k);
    view_kit_check(k);
    assert_false(view_kit_status(k).low_space);
    view_kit_close(k);
}

/* At a start, the file is behind and there is no space to update it. The view then answers with
 * what it has. */
static void shows_what_it_has_while_it_cannot_catch_up(void **state)
{
    struct view_kit *k = view_kit_open(NULL);
    uint64_t found = 0;
    (void)state;
    put_many(k, CHUNK, STR_EMPTY);
    view_kit_check(k);
    view_kit_keep_image(k);
    put_many(k, CHUNK, STR_EMPTY);
    view_kit_stop_view(k);
    view_kit_use_image(k);
    k->config.free_bytes_min = UINT64_MAX / 4;
    view_kit_start_view(k);
    view_kit_ask(k, false, run_count_all, &found);
    assert_int_equal(k->err.code, ERR_OK);
    assert_int_equal(found, CHUNK);
    assert_true(k->lag >= CHUNK);
    view_kit_stop_view(k);
    k->config.free_bytes_min = 0;
    view_kit_start_view(k);
    view_kit_check(k);
    assert_false(view_kit_status(k).rebuilt);
    view_kit_close(k);
}

static void soon(struct view_config *config)
{
    config->shrink_ms = 1;
}

static uint64_t file_bytes(const struct view_kit *k)
{
    struct os_file_path path = view_kit_path(k);
    struct os_file_info info;
    struct err err;
    enum err_code code = os_file_stat(path.z, &info, &err);
    CHECK(code == ERR_OK);
    return info.size;
}

static void what_was_deleted_is_given_back(void **state)
{
    static char payload[PAYLOAD_BYTES + 3];
    struct view_kit *k = view_kit_open(soon);
    (void)state;
    memset(payload, 'x', sizeof payload);
    payload[0] = payload[PAYLOAD_BYTES + 1] = '"';
    put_many(k, 20000, str_from(payload, PAYLOAD_BYTES + 2));
    view_kit_check(k);
    view_kit_stop_view(k); /* moves everything from the log into the file */
    view_kit_start_view(k);
    uint64_t full = file_bytes(k);
    assert_true(full > 16 << 20);
    engine_kit_queue(k->engine, COMMAND_QUEUE_CLEAR, "q", 0);
    do {
        view_kit_check(k);
    } while (file_bytes(k) > full / 2);
    view_kit_close(k);
}

TEST_GROUP(view_space, cmocka_unit_test(stops_when_it_is_told_and_goes_on),
           cmocka_unit_test(begins_nothing_without_space),
           cmocka_unit_test(shows_what_it_has_while_it_cannot_catch_up),
           cmocka_unit_test(what_was_deleted_is_given_back));
