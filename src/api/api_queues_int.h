/*
 * What the files of the queues share: the routes that remove jobs have a file of their own.
 */
#pragma once

#include "api/api_int.h"

/* api_queue_removal.c */
void api_queue_removal__clear(struct api_call *c);
void api_queue_removal__delete(struct api_call *c);
extern const struct json_schema api_queue_removal__clear_schema;
extern const struct json_schema api_queue_removal__delete_schema;
