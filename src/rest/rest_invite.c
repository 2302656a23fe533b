#include <stdio.h>

#include "rest/rest_invite_int.h"

static void invited(struct engine_invite *i)
{
    rest_call__wake(i->data);
}

void rest_invite__send(struct rest_call *c, struct engine_invite *i, struct str name,
                       struct str address, void (*then)(struct rest_call *c))
{
    struct engine *e = c->rest->config.engine;
    const struct command member = {/* as it will be recorded, except for the number */
                                   .type = COMMAND_NODE_PUT,
                                   .node_put.node = {.id = 1, .name = name, .address = address}};
    if (!rest_call__has_memory(c)) {
        return;
    }
    *i = (struct engine_invite){
        .done = invited, .reply_to = http_loop_mailbox(c->req->loop), .data = c};
    if (command_check(&member, &engine_settings(e)->limits, &i->err) != ERR_OK) {
        then(c);
        return;
    }
    (void)snprintf(i->name, sizeof i->name, STR_FMT, STR_ARG(name));
    (void)snprintf(i->address, sizeof i->address, STR_FMT, STR_ARG(address));
    rest_call__wait(c, then);
    if (!engine_invite_send(e, i)) {
        (void)err_set_default(&i->err, ERR_STOPPING);
        rest_call__later(c, then);
    }
}
