/*
 * Fuzz: external input of the command line client: ids from a pipe, events from a stream, JSON to
 * format. A stream has the same events no matter how it is split. Formatted JSON is still JSON.
 */
#include <stdint.h>

#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/cli_sse.h"
#include "cli/commands/cli_ids.h"
#include "json/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 1 << 20 };

static bool on_event(void *data, const struct cli_sse_event *event)
{
    struct buf *out = data;
    buf_add_str(out, event->id);
    buf_add_char(out, '|');
    buf_add_str(out, event->type);
    buf_add_char(out, '|');
    buf_add_str(out, event->data);
    buf_add_char(out, '\0');
    return true;
}

static void feed(struct buf *out, struct str text, size_t cut)
{
    struct cli_sse sse;
    buf_init(out, BYTES_MAX);
    cli_sse_init(&sse, on_event, out);
    CHECK(cli_sse_feed(&sse, str_from(text.ptr, cut)));
    CHECK(cli_sse_feed(&sse, str_from_offset(text, cut)));
    cli_sse_deinit(&sse);
}

static void check_events(struct str text)
{
    struct buf whole;
    struct buf cut;
    feed(&whole, text, text.len);
    feed(&cut, text, text.len / 2);
    CHECK(str_eq(buf_str(&whole), buf_str(&cut)));
    buf_deinit(&whole);
    buf_deinit(&cut);
}

static void check_ids(struct str text)
{
    struct arena *arena = arena_new(BYTES_MAX * 4);
    struct cli_ids ids;
    struct err err = {0};
    if (cli_ids_read(text, arena, &ids, &err) == ERR_OK) {
        for (size_t i = 0; i < ids.count; i++) {
            CHECK(ids.id[i].len > 0);
        }
    } else {
        CHECK(err.code == ERR_VALIDATION);
        CHECK(err.msg[0] != '\0');
    }
    arena_free(arena);
}

static void check_layout(struct str text)
{
    struct err err;
    struct buf once;
    struct buf twice;
    if (json_scan_check(text, &err) != ERR_OK) {
        return;
    }
    buf_init(&once, (size_t)BYTES_MAX * 1024);
    buf_init(&twice, (size_t)BYTES_MAX * 1024);
    cli_json_indent(&once, text);
    CHECK(json_scan_check(buf_str(&once), &err) == ERR_OK);
    cli_json_indent(&twice, buf_str(&once));
    CHECK(str_eq(buf_str(&once), buf_str(&twice)));
    buf_deinit(&once);
    buf_deinit(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_from(data, size > BYTES_MAX / 16 ? BYTES_MAX / 16 : size);
    check_events(text);
    check_ids(text);
    check_layout(text);
    return 0;
}
