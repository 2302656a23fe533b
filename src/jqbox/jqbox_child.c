#include "jqbox/jqbox_child.h"

#include <jq.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/limits.h"
#include "base/str.h"
#include "jqbox/jqbox_cell.h"

enum {
    SOCKET = STDIN_FILENO,
    READ_BYTES = 64 * 1024,
    HEAD = sizeof(uint32_t), /* header of a frame */
    ANSWERS = 4096,
};

/* Received bytes that are not processed yet. */
struct input {
    char *bytes;
    size_t at, len, cap;
};

bool jqbox_child_is_asked(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], JQBOX_CHILD_ARGUMENT) == 0;
}

/* The parent has gone or violates the protocol, so there is no one to report an error to. */
ATTR_NORETURN static void leave(void)
{
    _exit(0);
}

static void send_all(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(SOCKET, bytes, len);
        if (n <= 0) {
            leave();
        }
        bytes += n;
        len -= (size_t)n;
    }
}

/* Take a complete frame from the input, if there is one. */
static bool take_frame(struct input *in, struct str *out)
{
    size_t have = in->len - in->at;
    if (have < HEAD) {
        return false;
    }
    uint32_t len;
    memcpy(&len, in->bytes + in->at, HEAD);
    if (len > LIMIT_OP_BYTES) {
        leave();
    }
    if (have - HEAD < len) {
        return false;
    }
    *out = str_from(in->bytes + in->at + HEAD, len);
    in->at += HEAD + len;
    return true;
}

/* Read more input. Frames returned earlier are invalid after this. */
static void read_more(struct input *in)
{
    size_t rest = in->len - in->at;
    if (rest > 0) {
        memmove(in->bytes, in->bytes + in->at, rest);
    }
    in->at = 0;
    in->len = rest;
    if (in->cap - in->len < READ_BYTES) {
        in->cap = in->cap * 2 + READ_BYTES;
        in->bytes = realloc(in->bytes, in->cap);
        if (in->bytes == NULL) {
            abort();
        }
    }
    ssize_t n = read(SOCKET, in->bytes + in->len, in->cap - in->len);
    if (n <= 0) {
        leave();
    }
    in->len += (size_t)n;
}

/* Compiling */

struct complaint {
    char text[256];
    size_t len;
};

/* libjq reports each mistake and then their number; the first message has the reason. */
static void complain_cb(void *data, jv message)
{
    struct complaint *c = data;
    if (c->len == 0 && jv_get_kind(message) == JV_KIND_STRING) {
        int n = snprintf(c->text, sizeof c->text, "%s", jv_string_value(message));
        c->len = n < 0 ? 0 : (size_t)n < sizeof c->text ? (size_t)n : sizeof c->text - 1;
    }
    jv_free(message);
}

/* Report to the parent: an empty text, or the error. */
static void report(const char *text, size_t text_len)
{
    uint32_t len = (uint32_t)text_len;
    send_all((const char *)&len, HEAD);
    send_all(text, len);
}

static jq_state *compile(struct str program)
{
    struct complaint complaint = {.len = 0};
    jq_state *jq = jq_init();
    char *z = malloc(program.len + 1);
    if (jq == NULL || z == NULL) {
        abort();
    }
    memcpy(z, program.ptr, program.len);
    z[program.len] = '\0';
    jq_set_error_cb(jq, complain_cb, &complaint);
    jq_set_input_cb(jq, NULL, NULL); /* libjq 1.6 leaves these uninitialized */
    jq_set_debug_cb(jq, NULL, NULL);
    /* There are no libraries, but libjq fails without a library path. */
    jq_set_attr(jq, jv_string("JQ_LIBRARY_PATH"), jv_array());
    jq_set_attr(jq, jv_string("JQ_ORIGIN"), jv_string("/"));
    jq_set_attr(jq, jv_string("PROGRAM_ORIGIN"), jv_string("/"));
    bool good = jq_compile(jq, z) != 0;
    if (!good && complaint.len == 0) {
        complain_cb(&complaint, jv_string("it does not compile"));
    }
    free(z);
    report(complaint.text, good ? 0 : complaint.len);
    if (!good) {
        leave();
    }
    jq_set_error_cb(jq, NULL, NULL);
    return jq;
}

/* Answering */

static bool matches(jq_state *jq, struct str text)
{
    jv value = jv_parse_sized(text.ptr, (int)text.len);
    if (!jv_is_valid(value)) { /* nested deeper than libjq allows */
        jv_free(value);
        return false;
    }
    jq_start(jq, value, 0);
    jv result = jq_next(jq);
    bool truth = jv_get_kind(result) == JV_KIND_TRUE;
    jv_free(result);
    return truth;
}

int jqbox_child_main(void)
{
    struct input in = {.cap = 0};
    struct str frame;
    char answers[ANSWERS];
    size_t count = 0;
    if (!jqbox_cell_enter()) {
        static const char no_cell[] = "this system cannot confine it";
        report(no_cell, sizeof no_cell - 1);
        leave();
    }
    while (!take_frame(&in, &frame)) {
        read_more(&in);
    }
    jq_state *jq = compile(frame);
    for (;;) {
        if (count < ANSWERS && take_frame(&in, &frame)) {
            answers[count++] = matches(jq, frame) ? '1' : '0';
        } else if (count > 0) {
            send_all(answers, count);
            count = 0;
        } else {
            read_more(&in);
        }
    }
}
