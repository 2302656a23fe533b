/*
 * Rest_queues: shared by the files for queues; the routes that remove jobs have their own file.
 */
#pragma once

#include "rest/rest_int.h"

/* rest_queue_removal.c */
void rest_queue_removal__clear(struct rest_call *c);
void rest_queue_removal__delete(struct rest_call *c);
extern const struct json_schema rest_queue_removal__clear_schema;
extern const struct json_schema rest_queue_removal__delete_schema;
