#include "http/http_known.h"

#include "http/http_field.h"

static const struct str names[HTTP_KNOWN_COUNT] = {
#define X(id, text) [HTTP_KNOWN_##id] = {(text), sizeof(text) - 1},
    HTTP_KNOWN_LIST(X)
#undef X
};

/* Search the known names of the same length. */
static enum http_known among(struct str name, enum http_known first, enum http_known last)
{
    char letter = (char)(name.ptr[0] | 0x20);
    for (unsigned i = first; i <= (unsigned)last; i++) {
        if (names[i].ptr[0] == letter && http_field_is(name, names[i])) {
            return (enum http_known)i;
        }
    }
    return HTTP_KNOWN_NONE;
}

enum http_known http_known_of(struct str name)
{
    switch (name.len) {
    case 4:
        return among(name, HTTP_KNOWN_HOST, HTTP_KNOWN_HOST);
    case 6:
        return among(name, HTTP_KNOWN_ACCEPT, HTTP_KNOWN_PREFER);
    case 7:
        return among(name, HTTP_KNOWN_UPGRADE, HTTP_KNOWN_UPGRADE);
    case 9:
        return among(name, HTTP_KNOWN_FORWARDED, HTTP_KNOWN_X_API_KEY);
    case 10:
        return among(name, HTTP_KNOWN_CONNECTION, HTTP_KNOWN_USER_AGENT);
    case 11:
        return among(name, HTTP_KNOWN_TRACEPARENT, HTTP_KNOWN_X_CORVO_API);
    case 12:
        return among(name, HTTP_KNOWN_CONTENT_TYPE, HTTP_KNOWN_X_REQUEST_ID);
    case 13:
        return among(name, HTTP_KNOWN_AUTHORIZATION, HTTP_KNOWN_LAST_EVENT_ID);
    case 14:
        return among(name, HTTP_KNOWN_CONTENT_LENGTH, HTTP_KNOWN_SEC_FETCH_SITE);
    case 15:
        return among(name, HTTP_KNOWN_ACCEPT_ENCODING, HTTP_KNOWN_X_FORWARDED_FOR);
    case 16:
        return among(name, HTTP_KNOWN_CONTENT_ENCODING, HTTP_KNOWN_CONTENT_ENCODING);
    case 17:
        return among(name, HTTP_KNOWN_TRANSFER_ENCODING, HTTP_KNOWN_X_FORWARDED_PROTO);
    case 18:
        return among(name, HTTP_KNOWN_CONNECT_TIMEOUT_MS, HTTP_KNOWN_CONNECT_TIMEOUT_MS);
    case 19:
        return among(name, HTTP_KNOWN_X_CORVO_CLIENT_NAME, HTTP_KNOWN_X_CORVO_CONSISTENCY);
    case 20:
        return among(name, HTTP_KNOWN_GRPC_ACCEPT_ENCODING, HTTP_KNOWN_X_CORVO_PROXY_STREAM);
    case 22:
        return among(name, HTTP_KNOWN_X_CORVO_CLIENT_VERSION, HTTP_KNOWN_X_CORVO_CLUSTER_SECRET);
    case 23:
        return among(name, HTTP_KNOWN_CONNECT_ACCEPT_ENCODING, HTTP_KNOWN_CONNECT_ACCEPT_ENCODING);
    case 24:
        return among(name, HTTP_KNOWN_CONNECT_CONTENT_ENCODING,
                     HTTP_KNOWN_CONNECT_PROTOCOL_VERSION);
    default:
        return HTTP_KNOWN_NONE;
    }
}

struct str http_known_name(enum http_known known)
{
    return names[known];
}
