#include "rpc/rpc_descriptor.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "proto/proto_encode.h"
#include "rpc/rpc_health_int.h"
#include "rpc/rpc_int.h"

enum { DESCRIPTOR_BYTES_MAX = 256 * 1024 };

#define TIMESTAMP_NAME ".google.protobuf.Timestamp"
#define TIMESTAMP_FILE "google/protobuf/timestamp.proto"

/* The parts of google/protobuf/descriptor.proto that are used here */

enum { TYPE_DOUBLE = 1, TYPE_I64 = 3, TYPE_U64 = 4, TYPE_I32 = 5, TYPE_BOOL = 8, TYPE_TEXT = 9 };
enum { TYPE_MESSAGE = 11, TYPE_ENUM = 14, LABEL_ONE = 1, LABEL_MANY = 3 };

struct value_desc {
    struct str name;
    int32_t number;
};

struct enum_desc {
    struct str name;
    struct value_desc *value;
    size_t value_count;
};

struct field_desc {
    struct str name;
    int32_t number, label, type;
    struct str type_name, json_name;
};

struct options_desc {
    bool map_entry;
};

/* A message inside a message: an entry of a map. */
struct nested_desc {
    struct str name;
    struct field_desc *field;
    size_t field_count;
    struct options_desc *options;
};

struct message_desc {
    struct str name;
    struct field_desc *field;
    size_t field_count;
    struct nested_desc *nested_type;
    size_t nested_count;
    struct enum_desc *enum_type;
    size_t enum_count;
};

struct method_desc {
    struct str name, input_type, output_type;
    bool client_streaming, server_streaming;
};

struct service_desc {
    struct str name;
    struct method_desc *method;
    size_t method_count;
};

struct file_desc {
    struct str name, package;
    struct str *dependency;
    size_t dependency_count;
    struct message_desc *message_type;
    size_t message_count;
    struct service_desc *service;
    size_t service_count;
    struct str syntax;
};

/* clang-format off */
static const struct proto_field value_rows[] = {
    PROTO_ROW(struct value_desc, 1, STR, name),
    PROTO_ROW(struct value_desc, 2, I32, number),
};
static const struct proto_message value_type = PROTO_MESSAGE_OF(struct value_desc, "google.protobuf.EnumValueDescriptorProto", value_rows);
static const struct proto_field enum_rows[] = {
    PROTO_ROW(struct enum_desc, 1, STR, name),
    PROTO_LIST_OF(struct enum_desc, 2, value, value_count, struct value_desc, &value_type),
};
static const struct proto_message enum_type = PROTO_MESSAGE_OF(struct enum_desc, "google.protobuf.EnumDescriptorProto", enum_rows);
static const struct proto_field field_rows[] = {
    PROTO_ROW(struct field_desc, 1, STR, name),
    PROTO_ROW(struct field_desc, 3, I32, number),
    PROTO_ROW(struct field_desc, 4, I32, label),
    PROTO_ROW(struct field_desc, 5, I32, type),
    PROTO_ROW(struct field_desc, 6, STR, type_name),
    PROTO_ROW(struct field_desc, 10, STR, json_name),
};
static const struct proto_message field_type = PROTO_MESSAGE_OF(struct field_desc, "google.protobuf.FieldDescriptorProto", field_rows);
static const struct proto_field options_rows[] = {
    PROTO_ROW(struct options_desc, 7, BOOL, map_entry),
};
static const struct proto_message options_type = PROTO_MESSAGE_OF(struct options_desc, "google.protobuf.MessageOptions", options_rows);
static const struct proto_field nested_rows[] = {
    PROTO_ROW(struct nested_desc, 1, STR, name),
    PROTO_LIST_OF(struct nested_desc, 2, field, field_count, struct field_desc, &field_type),
    PROTO_ONE_OF(struct nested_desc, 7, options, struct options_desc, &options_type),
};
static const struct proto_message nested_type = PROTO_MESSAGE_OF(struct nested_desc, "google.protobuf.DescriptorProto", nested_rows);
static const struct proto_field message_rows[] = {
    PROTO_ROW(struct message_desc, 1, STR, name),
    PROTO_LIST_OF(struct message_desc, 2, field, field_count, struct field_desc, &field_type),
    PROTO_LIST_OF(struct message_desc, 3, nested_type, nested_count, struct nested_desc, &nested_type),
    PROTO_LIST_OF(struct message_desc, 4, enum_type, enum_count, struct enum_desc, &enum_type),
};
static const struct proto_message message_type = PROTO_MESSAGE_OF(struct message_desc, "google.protobuf.DescriptorProto", message_rows);
static const struct proto_field method_rows[] = {
    PROTO_ROW(struct method_desc, 1, STR, name),
    PROTO_ROW(struct method_desc, 2, STR, input_type),
    PROTO_ROW(struct method_desc, 3, STR, output_type),
    PROTO_ROW(struct method_desc, 5, BOOL, client_streaming),
    PROTO_ROW(struct method_desc, 6, BOOL, server_streaming),
};
static const struct proto_message method_type = PROTO_MESSAGE_OF(struct method_desc, "google.protobuf.MethodDescriptorProto", method_rows);
static const struct proto_field service_rows[] = {
    PROTO_ROW(struct service_desc, 1, STR, name),
    PROTO_LIST_OF(struct service_desc, 2, method, method_count, struct method_desc, &method_type),
};
static const struct proto_message service_type = PROTO_MESSAGE_OF(struct service_desc, "google.protobuf.ServiceDescriptorProto", service_rows);
static const struct proto_field file_rows[] = {
    PROTO_ROW(struct file_desc, 1, STR, name),
    PROTO_ROW(struct file_desc, 2, STR, package),
    PROTO_STRS(struct file_desc, 3, dependency, dependency_count),
    PROTO_LIST_OF(struct file_desc, 4, message_type, message_count, struct message_desc, &message_type),
    PROTO_LIST_OF(struct file_desc, 6, service, service_count, struct service_desc, &service_type),
    PROTO_ROW(struct file_desc, 12, STR, syntax),
};
static const struct proto_message file_type = PROTO_MESSAGE_OF(struct file_desc, "google.protobuf.FileDescriptorProto", file_rows);
/* clang-format on */

/* Descriptors are built from the tables, in an arena that is freed after encoding */

#define NEW(arena, type, count) new_array(arena, sizeof(type), count)
static void *new_array(struct arena *arena, size_t size, size_t count)
{
    void *piece = arena_need(arena, size * (count > 0 ? count : 1), _Alignof(max_align_t));
    memset(piece, 0, size * count);
    return piece;
}

static struct str short_name(const struct proto_message *type)
{
    return str_from_z(strrchr(type->name, '.') + 1);
}

/* Absolute names begin with a dot. */
static struct str absolute(struct arena *arena, const struct proto_message *type)
{
    struct buf text;
    buf_init(&text, (size_t)4 * PROTO_NAME_MAX);
    buf_printf(&text, ".%s", type->name);
    struct str kept = arena_str(arena, buf_str(&text));
    buf_deinit(&text);
    return kept;
}

static const int32_t types[PROTO_KIND_COUNT] = {
    [PROTO_STR] = TYPE_TEXT,     [PROTO_I32] = TYPE_I32,         [PROTO_I64] = TYPE_I64,
    [PROTO_U64] = TYPE_U64,      [PROTO_F64] = TYPE_DOUBLE,      [PROTO_BOOL] = TYPE_BOOL,
    [PROTO_TIME] = TYPE_MESSAGE, [PROTO_MESSAGE] = TYPE_MESSAGE,
};

static struct field_desc *fields_of(struct arena *arena, const struct proto_message *type)
{
    struct field_desc *list = NEW(arena, struct field_desc, type->count);
    for (size_t i = 0; i < type->count; i++) {
        const struct proto_field *row = &type->fields[i];
        char json[PROTO_NAME_MAX];
        list[i] = (struct field_desc){
            .name = str_from_z(row->name),
            .number = (int32_t)row->number,
            .label = row->label == PROTO_ONE ? LABEL_ONE : LABEL_MANY,
            .type = types[row->kind],
            .json_name = arena_str(arena, proto_json_name(row, json)),
        };
        if (row->kind == PROTO_TIME) {
            list[i].type_name = STR(TIMESTAMP_NAME);
        } else if (row->kind == PROTO_MESSAGE) {
            list[i].type_name = absolute(arena, row->message);
        }
    }
    return list;
}

static void add_nested(struct arena *arena, const struct proto_message *entry,
                       struct message_desc *into)
{
    struct nested_desc *nested = &into->nested_type[into->nested_count++];
    *nested = (struct nested_desc){.name = short_name(entry),
                                   .field = fields_of(arena, entry),
                                   .field_count = entry->count,
                                   .options = NEW(arena, struct options_desc, 1)};
    nested->options->map_entry = true;
}

enum { MESSAGES_MAX = 64 };

static bool is_there(const struct file_desc *file, struct str name)
{
    for (size_t i = 0; i < file->message_count; i++) {
        if (str_eq(file->message_type[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Add the message, unless it is already in the file, and the messages of its fields. The tables
 * limit the depth. */
static void add_message(struct arena *arena, const struct proto_message *type,
                        struct file_desc *file)
{
    if (is_there(file, short_name(type))) {
        return;
    }
    CHECK(file->message_count < MESSAGES_MAX);
    struct message_desc *m = &file->message_type[file->message_count++];
    *m = (struct message_desc){.name = short_name(type),
                               .field = fields_of(arena, type),
                               .field_count = type->count,
                               .nested_type = NEW(arena, struct nested_desc, type->count)};
    for (size_t i = 0; i < type->count; i++) {
        const struct proto_field *row = &type->fields[i];
        if (row->label == PROTO_MAP) {
            add_nested(arena, row->message, m);
            add_message(arena, row->message->fields[1].message,
                        file); /* NOLINT(misc-no-recursion) */
        } else if (row->kind == PROTO_MESSAGE) {
            add_message(arena, row->message, file);
        }
    }
}

static void add_methods(struct arena *arena, const struct rpc_method *methods,
                        struct service_desc *service, struct file_desc *file)
{
    while (methods[service->method_count].name.len > 0) {
        service->method_count++;
    }
    service->method = NEW(arena, struct method_desc, service->method_count);
    for (size_t i = 0; i < service->method_count; i++) {
        const struct rpc_method *m = &methods[i];
        service->method[i] = (struct method_desc){.name = m->name,
                                                  .input_type = absolute(arena, m->request),
                                                  .output_type = absolute(arena, m->response),
                                                  .client_streaming = m->kind == RPC_BIDI,
                                                  .server_streaming = m->kind != RPC_UNARY};
        add_message(arena, m->request, file);
        add_message(arena, m->response, file);
    }
}

/* The tables have no enums, so turn the field into one here. */
static void add_health_enum(struct arena *arena, struct file_desc *file)
{
    static const char *const words[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
    struct message_desc *response = &file->message_type[file->message_count - 1];
    struct enum_desc *status = NEW(arena, struct enum_desc, 1);
    CHECK(str_eq(response->name, STR("HealthCheckResponse")));
    status->name = STR("ServingStatus");
    status->value = NEW(arena, struct value_desc, COUNT_OF(words));
    status->value_count = COUNT_OF(words);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        status->value[i] = (struct value_desc){str_from_z(words[i]), (int32_t)i};
    }
    response->enum_type = status;
    response->enum_count = 1;
    response->field[0].type = TYPE_ENUM;
    response->field[0].type_name = STR(".grpc.health.v1.HealthCheckResponse.ServingStatus");
}

/* google/protobuf/timestamp.proto, on which the service's file depends. */
struct timestamp {
    int64_t seconds;
    int32_t nanos;
};
static const struct proto_field timestamp_rows[] = {
    PROTO_ROW(struct timestamp, 1, I64, seconds),
    PROTO_ROW(struct timestamp, 2, I32, nanos),
};
static const struct proto_message timestamp_type =
    PROTO_MESSAGE_OF(struct timestamp, "google.protobuf.Timestamp", timestamp_rows);

/* Files */

static const struct source {
    const char *file, *package, *service; /* service NULL: the timestamp alone */
    const struct rpc_method *methods;
} sources[] = {
    {"corvo/v1/worker.proto", "corvo.v1", "WorkerService", rpc_unary__methods},
    {"grpc/health/v1/health.proto", "grpc.health.v1", "Health", rpc_health__methods},
    {TIMESTAMP_FILE, "google.protobuf", NULL, NULL},
};

static void fill(struct arena *arena, const struct source *s, struct file_desc *file)
{
    *file = (struct file_desc){.name = str_from_z(s->file),
                               .package = str_from_z(s->package),
                               .message_type = NEW(arena, struct message_desc, MESSAGES_MAX),
                               .syntax = STR("proto3")};
    if (s->service == NULL) {
        add_message(arena, &timestamp_type, file);
        return;
    }
    file->service = NEW(arena, struct service_desc, 1);
    file->service_count = 1;
    file->service->name = str_from_z(s->service);
    add_methods(arena, s->methods, file->service, file);
    if (s->methods == rpc_health__methods) {
        add_health_enum(arena, file);
    } else {
        file->dependency = NEW(arena, struct str, 1);
        file->dependency[0] = STR(TIMESTAMP_FILE);
        file->dependency_count = 1;
    }
}

bool rpc_descriptor_file(struct str name, struct buf *out)
{
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        if (str_eq(name, str_from_z(sources[i].file))) {
            struct arena *arena = arena_new(DESCRIPTOR_BYTES_MAX);
            struct file_desc file;
            fill(arena, &sources[i], &file);
            proto_encode(&file_type, &file, out);
            arena_free(arena);
            return true;
        }
    }
    return false;
}

/* Names */

/* Remove the part and the dot after it from the start of the name. False, with the name unchanged,
 * if the name does not begin with the part or ends in a dot. */
static bool cut_part(struct str *name, struct str part)
{
    if (!str_starts_with(*name, part)) {
        return false;
    }
    struct str rest = str_from_offset(*name, part.len);
    if (rest.len == 1 || (rest.len > 1 && rest.ptr[0] != '.')) {
        return false;
    }
    *name = str_from_offset(rest, rest.len > 0 ? 1 : 0);
    return true;
}

static bool is_field(const struct field_desc *fields, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(fields[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Is it the enum or one of its values? Full names of values contain the message but not the
 * enum. */
static bool is_enum_or_value(const struct enum_desc *e, struct str name)
{
    if (str_eq(e->name, name)) {
        return true;
    }
    for (size_t i = 0; i < e->value_count; i++) {
        if (str_eq(e->value[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Does the message declare the name, which is relative to the message? Empty: the message
 * itself. */
static bool message_declares(const struct message_desc *m, struct str name)
{
    if (name.len == 0 || is_field(m->field, m->field_count, name)) {
        return true;
    }
    for (size_t i = 0; i < m->enum_count; i++) {
        if (is_enum_or_value(&m->enum_type[i], name)) {
            return true;
        }
    }
    for (size_t i = 0; i < m->nested_count; i++) {
        const struct nested_desc *nested = &m->nested_type[i];
        struct str rest = name;
        if (cut_part(&rest, nested->name)) {
            return rest.len == 0 || is_field(nested->field, nested->field_count, rest);
        }
    }
    return false;
}

static bool service_declares(const struct service_desc *s, struct str name)
{
    for (size_t i = 0; i < s->method_count; i++) {
        if (str_eq(name, s->method[i].name)) {
            return true;
        }
    }
    return name.len == 0;
}

/* Does the file declare the name, which is relative to the file's package? */
static bool file_declares(const struct file_desc *file, struct str name)
{
    for (size_t i = 0; i < file->message_count; i++) {
        struct str rest = name;
        if (cut_part(&rest, file->message_type[i].name)) {
            return message_declares(&file->message_type[i], rest);
        }
    }
    return file->service_count > 0 && cut_part(&name, file->service->name) &&
           service_declares(file->service, name);
}

struct str rpc_descriptor_file_of(struct str symbol)
{
    struct str found = STR_EMPTY;
    for (size_t i = 0; i < COUNT_OF(sources) && found.len == 0; i++) {
        struct str name = symbol;
        if (!cut_part(&name, str_from_z(sources[i].package)) || name.len == 0) {
            continue;
        }
        struct arena *arena = arena_new(DESCRIPTOR_BYTES_MAX);
        struct file_desc file;
        fill(arena, &sources[i], &file);
        if (file_declares(&file, name)) {
            found = str_from_z(sources[i].file);
        }
        arena_free(arena);
    }
    return found;
}
