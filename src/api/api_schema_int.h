/*
 * Schemas: the tables of requests as JSON Schema, those of bodies each under a name.
 */
#pragma once

#include "json/json_schema.h"
#include "json/json_write.h"

struct api_schema_set;

struct api_schema_set *api_schema__new(void);
void api_schema__free(struct api_schema_set *s);

/* Take up a table under this name, unless it is there already, and those inside it under names
 * that begin with it. */
void api_schema__add(struct api_schema_set *s, const struct json_schema *table, const char *name);

/* {"$ref": …} to a table that was taken up. */
void api_schema__reference(const struct api_schema_set *s, struct json_write *w,
                           const struct json_schema *table);

/* One field of a table as a schema of its own: the members of the object that is open. Not for
 * fields that hold objects. */
void api_schema__field(struct json_write *w, const struct json_schema *table,
                       const struct json_field *f);

/* What the field is for, with what its flags mean to whoever fills it in. */
void api_schema__describe(struct json_write *w, const struct json_field *f);

/* All of them, as members of the object that is open. */
void api_schema__write(const struct api_schema_set *s, struct json_write *w);

enum { API_SCHEMA_NAME_MAX = 120 };

/* Append words to a name in camel case: "job_id" becomes "JobId". */
void api_schema__add_camel(char name[static API_SCHEMA_NAME_MAX], struct str words);
