/*
 * Event_json: an event as the contract shows it (http-api.md 15.1), and as frames of a stream
 * (15.2).
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "json/json_write.h"
#include "store/store_event.h"

enum event_json_dialect {
    EVENT_JSON_NAMED,   /* an "event:" line; types are bare words */
    EVENT_JSON_MESSAGE, /* without that line; types of job events begin with "job." */
    EVENT_JSON_DIALECTS
};

/* The event object, with queue names as visible in the namespace. */
void event_json_write(struct json_write *w, const struct store_event *e, struct str ns,
                      enum event_json_dialect dialect);

/* Append the further fields of the event's type as JSON; nothing if there are none. */
void event_json_data(struct buf *out, const struct store_event *e, struct str ns);

/* Append a whole frame, with the blank line that ends it. */
void event_json_frame(struct buf *out, const struct store_event *e, struct str ns,
                      enum event_json_dialect dialect);
