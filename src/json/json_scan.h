/*
 * Json_scan: iterates over JSON text and validates it, without building a tree.
 *
 * A value is a view of the source text: input of clients is checked once and then kept as the
 * original bytes, so that big integers and the order of keys are preserved. Open containers are
 * counted, and their closing brackets are kept in an array of fixed size; nothing here recurses or
 * allocates.
 *
 * The input is untrusted. After the first problem every further call returns "no more", and the
 * problem is kept, so that a caller iterates to the end and checks once:
 *
 *     struct json_scan s = json_scan_from(text);
 *     struct json_value key, value;
 *     if (json_scan_enter_object(&s)) {
 *         while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
 *             …
 *         }
 *     }
 *     if (!json_scan_done(&s)) {
 *         return json_scan_err(&s, err);
 *     }
 *
 * It accepts RFC 8259 in well-formed UTF-8, nested at most LIMIT_JSON_DEPTH deep. A byte order mark
 * is refused. An escaped half of a surrogate pair is grammatical JSON and is accepted. Values that
 * a client gives to be stored have a lower limit: whoever reads them sees them inside of documents.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json_value.h"

/* Open so that it can live on the stack; the members are private. */
struct json_scan {
    const char *begin;
    const char *at;
    const char *end;
    const char *problem; /* NULL, or the problem with the byte at `at` */
    unsigned depth;      /* containers entered but not left */
    unsigned depth_max;
    bool fresh; /* the last thing read was the bracket that opened a container */
};

struct json_scan json_scan_from(struct str text);

/* Pass one whole value, of any type and depth. False on a problem; *out is then unchanged. */
ATTR_NODISCARD bool json_scan_value(struct json_scan *s, struct json_value *out);

/* The type of the next value, from its first byte; JSON_TYPE_COUNT if there is none or the byte
 * is invalid. The value is not passed. */
enum json_type json_scan_peek(struct json_scan *s);

/* Enter the object or array that is the next value. Any other type is a problem, and returns false:
 * peek first if other types are allowed. */
ATTR_NODISCARD bool json_scan_enter_object(struct json_scan *s);
ATTR_NODISCARD bool json_scan_enter_array(struct json_scan *s);

/* Inside an object: pass the next key and its colon. The member's value must be passed or entered
 * and left before the next call. False at the end of the object, which is then left, or on a
 * problem. */
ATTR_NODISCARD bool json_scan_next_key(struct json_scan *s, struct json_value *out_key);

/* Inside an array: true before each element, which must then be passed. False at the end of the
 * array, which is then left, or on a problem. */
ATTR_NODISCARD bool json_scan_next_element(struct json_scan *s);

/* True if there was no problem and only white space is left. Otherwise there is a problem now. */
ATTR_NODISCARD bool json_scan_done(struct json_scan *s);

/* The problem as ERR_PARSE: "invalid JSON at byte 17: …". There must be one. */
enum err_code json_scan_err(const struct json_scan *s, struct err *err);

/* Whole texts. */

/* Is text exactly one value, with or without white space around it? ERR_PARSE if not. */
ATTR_NODISCARD enum err_code json_scan_check(struct str text, struct err *err);

/* The same for a value from a client: ERR_VALIDATION if it is nested more than
 * LIMIT_JSON_VALUE_DEPTH deep. */
ATTR_NODISCARD enum err_code json_scan_check_value(struct str text, struct err *err);

/* The first value of text; the rest is ignored. ERR_PARSE if text does not begin with a value. */
ATTR_NODISCARD enum err_code json_scan_first(struct str text, struct json_value *out,
                                             struct err *err);

/* The member of that name, the last one if there are several. False if there is none, or if text
 * does not begin with a well-formed object. */
ATTR_NODISCARD bool json_scan_member(struct str object, struct str name, struct json_value *out);

/* The members of several names, in one pass: out[i] is that of names[i], null if there is none.
 * False if text does not begin with a well-formed object. */
ATTR_NODISCARD bool json_scan_members(struct str object, const struct str *names, size_t count,
                                      struct json_value *out);

/* The same for a text that is an object with nothing but white space around it. */
ATTR_NODISCARD bool json_scan_whole_members(struct str text, const struct str *names, size_t count,
                                            struct json_value *out);
