#include "unit/proto/proto_sample.h"

static const struct proto_field inner_rows[] = {
    PROTO_ROW(struct sample_inner, 1, STR, name),
    PROTO_ROW(struct sample_inner, 2, I64, count),
};
static const struct proto_message inner =
    PROTO_MESSAGE_OF(struct sample_inner, "test.Inner", inner_rows);

static const struct proto_field entry_rows[] = {
    PROTO_ROW(struct sample_entry, 1, STR, key),
    PROTO_ONE_OF(struct sample_entry, 2, value, struct sample_inner, &inner),
};
static const struct proto_message entry =
    PROTO_MESSAGE_OF(struct sample_entry, "test.Sample.ByNameEntry", entry_rows);

static const struct proto_field rows[] = {
    PROTO_ROW(struct sample, 1, STR, text),
    PROTO_ROW(struct sample, 2, I32, small_number),
    PROTO_ROW(struct sample, 3, I64, number),
    PROTO_ROW(struct sample, 4, U64, big_number),
    PROTO_ROW(struct sample, 5, F64, ratio),
    PROTO_ROW(struct sample, 6, BOOL, flag),
    PROTO_ROW(struct sample, 7, TIME, at),
    PROTO_ONE_OF(struct sample, 8, inner, struct sample_inner, &inner),
    PROTO_STRS(struct sample, 9, words, word_count),
    PROTO_LIST_OF(struct sample, 10, items, item_count, struct sample_inner, &inner),
    PROTO_MAP_OF(struct sample, 200, by_name, by_name_count, struct sample_entry, &entry),
};
const struct proto_message proto_sample = PROTO_MESSAGE_OF(struct sample, "test.Sample", rows);
