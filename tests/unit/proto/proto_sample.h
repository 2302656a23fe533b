/*
 * A message with every kind and label, for the tests of the codecs.
 */
#pragma once

#include "proto/proto.h"

struct sample_inner {
    struct str name;
    int64_t count;
};

struct sample_entry {
    struct str key;
    struct sample_inner *value;
};

struct sample {
    struct str text;
    int32_t small_number;
    int64_t number;
    uint64_t big_number;
    double ratio;
    bool flag;
    struct wall at;
    struct sample_inner *inner;
    struct str *words;
    size_t word_count;
    struct sample_inner *items;
    size_t item_count;
    struct sample_entry *by_name;
    size_t by_name_count;
};

extern const struct proto_message proto_sample;
