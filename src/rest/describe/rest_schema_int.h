/*
 * Schemas: the tables of requests as JSON Schema. Schemas of bodies have names.
 */
#pragma once

#include "json/json_schema.h"
#include "json/json_write.h"

struct rest_schema_set;

struct rest_schema_set *rest_schema__new(void);
void rest_schema__free(struct rest_schema_set *s);

/* Add a table under this name, unless it was added already, and nested tables under names that
 * begin with it. */
void rest_schema__add(struct rest_schema_set *s, const struct json_schema *table, const char *name);

/* Write {"$ref": …} to a table that was added. */
void rest_schema__reference(const struct rest_schema_set *s, struct json_write *w,
                            const struct json_schema *table);

/* Write the schema of one field, as members of the open object. Not for fields that contain
 * objects. */
void rest_schema__field(struct json_write *w, const struct json_schema *table,
                        const struct json_field *f);

/* Write the description of the field, including the meaning of its flags. */
void rest_schema__describe(struct json_write *w, const struct json_field *f);

/* Write all added tables, as members of the open object. */
void rest_schema__write(const struct rest_schema_set *s, struct json_write *w);

enum { REST_SCHEMA_NAME_MAX = 120 };

/* Append words to a name in camel case: "job_id" becomes "JobId". */
void rest_schema__add_camel(char name[static REST_SCHEMA_NAME_MAX], struct str words);
