#include "base/buf.h"
#include "rpc/rpc_names_int.h"

/* Take the word that the text begins with. */
static struct str take_word(struct str *text)
{
    size_t n = 0;
    while (n < text->len && ((text->ptr[n] >= 'a' && text->ptr[n] <= 'z') || text->ptr[n] == '_')) {
        n++;
    }
    struct str word = str_from(text->ptr, n);
    *text = str_from_offset(*text, n);
    return word;
}

/* Move the index of a list and the separator after it, "[2]." or "[2]: ", to out. */
static void move_index(struct str *text, struct buf *out)
{
    size_t n = 0;
    if (text->len == 0 || text->ptr[0] != '[') {
        return;
    }
    while (n < text->len && (n == 0 || strchr("0123456789]:. ", text->ptr[n]) != NULL)) {
        n++;
    }
    buf_add(out, text->ptr, n);
    *text = str_from_offset(*text, n);
}

/* Fields that are JSON as text. The contract specifies the message of a payload that is too large
 * (rpc.md 1.4). */
static bool is_json(struct str word, struct str rest)
{
    return str_eq(word, STR("result")) || str_eq(word, STR("checkpoint")) ||
           (str_eq(word, STR("payload")) && !str_starts_with(rest, STR(" too large")));
}

/* "job 2 payload too large: …": the contract of the HTTP API specifies this form for lists. */
static bool move_payload(const char *list, struct str *text, struct buf *out)
{
    struct str rest = *text;
    struct str job = str_cut(&rest, ' ');
    struct str number = str_cut(&rest, ' ');
    int64_t n;
    if (!str_eq(job, STR("job")) || !str_to_i64(number, &n) ||
        !str_starts_with(rest, STR("payload too large"))) {
        return false;
    }
    buf_printf(out, "%s[" STR_FMT "]: ", list, STR_ARG(number));
    *text = rest;
    return true;
}

void rpc_names__of_message(const char *list, struct err *err)
{
    struct buf out;
    struct str rest = str_from_z(err->msg);
    buf_init(&out, 2 * sizeof err->msg);
    if (list == NULL || !move_payload(list, &rest, &out)) {
        struct str word = take_word(&rest);
        if (list != NULL && (str_eq(word, STR("jobs")) || str_eq(word, STR("acks")))) {
            buf_add_str(&out, str_from_z(list));
            move_index(&rest, &out);
            word = take_word(&rest);
        }
        buf_add_str(&out, word);
        buf_add_str(&out, is_json(word, rest) ? STR("_json") : STR_EMPTY);
    }
    buf_add_str(&out, rest);
    (void)err_set(err, err->code, STR_FMT, STR_ARG(buf_str(&out)));
    buf_deinit(&out);
}
