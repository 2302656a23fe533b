#include "api/api_bulk_int.h"

void api_bulk_filter__begin(struct api_call *c)
{
    api_call__fail(c, ERR_BULK, "filter is not supported yet");
}
