#include "cli/cli_sse.h"

enum { SSE_LINE_BYTES_MAX = 16 << 20 };

void cli_sse_init(struct cli_sse *sse, bool (*on_event)(void *, const struct cli_sse_event *),
                  void *data)
{
    *sse = (struct cli_sse){.on_event = on_event, .data = data};
    buf_init(&sse->line, SSE_LINE_BYTES_MAX);
    buf_init(&sse->id, SSE_LINE_BYTES_MAX);
    buf_init(&sse->type, SSE_LINE_BYTES_MAX);
    buf_init(&sse->text, SSE_LINE_BYTES_MAX);
}

void cli_sse_deinit(struct cli_sse *sse)
{
    buf_deinit(&sse->line);
    buf_deinit(&sse->id);
    buf_deinit(&sse->type);
    buf_deinit(&sse->text);
}

static void begin_frame(struct cli_sse *sse)
{
    buf_clear(&sse->id);
    buf_clear(&sse->type);
    buf_clear(&sse->text);
    sse->any = false;
}

void cli_sse_restart(struct cli_sse *sse)
{
    begin_frame(sse);
    buf_clear(&sse->line);
    sse->after_cr = false;
}

static void set(struct buf *b, struct str value)
{
    buf_clear(b);
    buf_add_str(b, value);
}

static void take_field(struct cli_sse *sse, struct str line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    size_t at = colon == NULL ? line.len : (size_t)(colon - line.ptr);
    struct str name = str_from(line.ptr, at);
    struct str value = colon == NULL ? STR_EMPTY : str_from_offset(line, at + 1);
    if (value.len > 0 && value.ptr[0] == ' ') {
        value = str_from_offset(value, 1);
    }
    if (str_eq(name, STR("id"))) {
        set(&sse->id, value);
    } else if (str_eq(name, STR("event"))) {
        set(&sse->type, value);
    } else if (str_eq(name, STR("data"))) {
        if (sse->any) {
            buf_add_char(&sse->text, '\n');
        }
        buf_add_str(&sse->text, value);
        sse->any = true;
    }
}

static void keep_position(struct cli_sse *sse)
{
    if (sse->id.len > 0 && sse->id.len < sizeof sse->position) {
        memcpy(sse->position, sse->id.ptr, sse->id.len);
        sse->position[sse->id.len] = '\0';
    }
}

/* Handle a complete line. An empty line ends the frame; a frame without data is not an event. */
static bool take_line(struct cli_sse *sse)
{
    bool more = true;
    if (sse->line.len > 0) {
        if (sse->line.ptr[0] != ':') {
            take_field(sse, buf_str(&sse->line));
        }
    } else {
        struct cli_sse_event event = {buf_str(&sse->id), buf_str(&sse->type), buf_str(&sse->text)};
        keep_position(sse);
        more = !sse->any || sse->on_event(sse->data, &event);
        begin_frame(sse);
    }
    buf_clear(&sse->line);
    return more;
}

bool cli_sse_feed(struct cli_sse *sse, struct str piece)
{
    for (size_t i = 0; i < piece.len; i++) {
        char c = piece.ptr[i];
        bool second = sse->after_cr && c == '\n';
        sse->after_cr = c == '\r';
        if (second) {
            continue;
        }
        if (c != '\n' && c != '\r') {
            buf_add_char(&sse->line, c);
        } else if (!take_line(sse)) {
            return false;
        }
    }
    return true;
}
