/*
 * The view during a restore: jobs arrive first, and their errors and usage reports in separate
 * entries.
 */
#include "lib/test.h"
#include "view_kit.h"

static void restore(struct view_kit *k, struct command_restore_item it)
{
    (void)engine_kit_do(k->engine, &(struct command){.type = COMMAND_RESTORE,
                                                     .restore = {.items = &it, .count = 1}});
}

static void restore_error(struct view_kit *k, struct id id, uint32_t place)
{
    struct store_error e = {
        .attempt = place + 1, .created_at = {.ns = (place + 1) * NS_PER_S}, .error = STR("boom")};
    restore(k, (struct command_restore_item){
                   .kind = COMMAND_RESTORE_ERROR, .id = id, .place = place, .error = e});
}

static void restore_usage(struct view_kit *k, struct id id, uint32_t place)
{
    struct store_usage u = {.attempt = 1,
                            .phase = STORE_PHASE_ACK,
                            .created_at = {.ns = (place + 1) * NS_PER_S},
                            .tokens = {.input = 5}};
    restore(k, (struct command_restore_item){
                   .kind = COMMAND_RESTORE_USAGE, .id = id, .place = place, .usage = u});
}

/* Errors and usage reports of a restored job arrive in later entries, which do not write its
 * document. */
static void follows_what_is_restored_piece_by_piece(void **state)
{
    struct view_kit *k = view_kit_open(NULL);
    (void)state;
    struct job j = engine_kit_new_job("q").job;
    j.id = id_make((struct wall){.ns = 1500000000 * NS_PER_S}, 5, 1);
    j.created_at = (struct wall){.ns = 1500000000 * NS_PER_S};
    j.state = JOB_DEAD;
    j.error_count = 3;
    j.usage_count = 3;
    restore(k, (struct command_restore_item){.kind = COMMAND_RESTORE_JOB, .id = j.id, .job = j});
    view_kit_check(k);
    restore_error(k, j.id, 0);
    view_kit_check(k);
    restore_usage(k, j.id, 0);
    view_kit_check(k);
    restore_error(k, j.id, 1);
    restore_usage(k, j.id, 1);
    view_kit_check(k);
    view_kit_stop_view(k);
    restore_error(k, j.id, 2);
    view_kit_start_view(k);
    view_kit_check(k);
    /* One of its usage reports is in no backup. The view follows the others nevertheless. */
    engine_kit_job(k->engine, COMMAND_JOB_RETRY, j.id);
    view_kit_check(k);
    engine_kit_job(k->engine, COMMAND_JOB_DELETE, j.id);
    view_kit_check(k);
    view_kit_close(k);
}

TEST_GROUP(view_restore, cmocka_unit_test(follows_what_is_restored_piece_by_piece));
