/*
 * Schemas: the tables of request bodies as JSON Schema, each under a name.
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

/* All of them, as members of the object that is open. */
void api_schema__write(const struct api_schema_set *s, struct json_write *w);

enum { API_SCHEMA_NAME_MAX = 120 };

/* Append words to a name in camel case: "job_id" becomes "JobId". */
void api_schema__add_camel(char name[static API_SCHEMA_NAME_MAX], struct str words);
