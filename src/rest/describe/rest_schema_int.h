/*
 * Schemas: the tables of requests as JSON Schema. Schemas of bodies have names.
 */
#pragma once

#include "json/json_schema.h"
#include "json/json_write.h"

struct rest_schema_set;

struct rest_schema_set *rest_schema__new(void);
void rest_schema__free(struct rest_schema_set *s);

/* Take up a table under this name, unless it is there already, and those inside it under names
 * that begin with it. */
void rest_schema__add(struct rest_schema_set *s, const struct json_schema *table, const char *name);

/* {"$ref": …} to a table that was taken up. */
void rest_schema__reference(const struct rest_schema_set *s, struct json_write *w,
                            const struct json_schema *table);

/* One field of a table as a schema of its own: the members of the object that is open. Not for
 * fields that hold objects. */
void rest_schema__field(struct json_write *w, const struct json_schema *table,
                        const struct json_field *f);

/* What the field is for, with what its flags mean to whoever fills it in. */
void rest_schema__describe(struct json_write *w, const struct json_field *f);

/* All of them, as members of the object that is open. */
void rest_schema__write(const struct rest_schema_set *s, struct json_write *w);

enum { REST_SCHEMA_NAME_MAX = 120 };

/* Append words to a name in camel case: "job_id" becomes "JobId". */
void rest_schema__add_camel(char name[static REST_SCHEMA_NAME_MAX], struct str words);
