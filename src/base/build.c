#include "base/build.h"

#ifndef CORVO_RELEASE
#define CORVO_RELEASE "dev"
#endif
#ifndef CORVO_COMMIT
#define CORVO_COMMIT "unknown"
#endif
#ifndef CORVO_DATE
#define CORVO_DATE "unknown"
#endif

const char build_release[] = CORVO_RELEASE;
const char build_commit[] = CORVO_COMMIT;
const char build_date[] = CORVO_DATE;
