#include "core/job.h"

#include "base/check.h"

static const char *const state_names[JOB_STATE_COUNT] = {
    [JOB_SCHEDULED] = "scheduled", [JOB_PENDING] = "pending",     [JOB_ACTIVE] = "active",
    [JOB_RETRYING] = "retrying",   [JOB_HELD] = "held",           [JOB_COMPLETED] = "completed",
    [JOB_DEAD] = "dead",           [JOB_CANCELLED] = "cancelled",
};

static const char *const backoff_names[] = {
    [JOB_BACKOFF_NONE] = "none",
    [JOB_BACKOFF_FIXED] = "fixed",
    [JOB_BACKOFF_LINEAR] = "linear",
    [JOB_BACKOFF_EXPONENTIAL] = "exponential",
};

const char *job_state_name(enum job_state s)
{
    CHECK(s < JOB_STATE_COUNT);
    return state_names[s];
}

const char *job_backoff_name(enum job_backoff b)
{
    CHECK((size_t)b < COUNT_OF(backoff_names));
    return backoff_names[b];
}

/* The index of name in a list of words, or count. */
static size_t word_index(const char *const *words, size_t count, struct str name)
{
    size_t i = 0;
    while (i < count && !str_eq(str_from_z(words[i]), name)) {
        i++;
    }
    return i;
}

bool job_state_parse(struct str name, enum job_state *out)
{
    size_t i = word_index(state_names, COUNT_OF(state_names), name);
    if (i == COUNT_OF(state_names)) {
        return false;
    }
    *out = (enum job_state)i;
    return true;
}

bool job_backoff_parse(struct str name, enum job_backoff *out)
{
    size_t i = word_index(backoff_names, COUNT_OF(backoff_names), name);
    if (i == COUNT_OF(backoff_names)) {
        return false;
    }
    *out = (enum job_backoff)i;
    return true;
}

/* base << (attempt - 1), saturating. */
static int64_t doubled(int64_t base_ms, uint32_t attempt)
{
    CHECK(attempt > 0);
    uint32_t shift = attempt - 1;
    if (base_ms == 0) {
        return 0;
    }
    return shift >= 63 || base_ms > INT64_MAX >> shift ? INT64_MAX : base_ms << shift;
}

int64_t job_backoff_delay_ms(const struct job *j, uint32_t attempt)
{
    int64_t delay = 0;
    attempt = attempt == 0 ? 1 : attempt; /* a restored job may have attempt 0 */
    switch (j->backoff) {
    case JOB_BACKOFF_NONE:
        return 0;
    case JOB_BACKOFF_FIXED:
        delay = j->retry_base_ms;
        break;
    case JOB_BACKOFF_LINEAR:
        if (__builtin_mul_overflow(j->retry_base_ms, (int64_t)attempt, &delay)) {
            delay = INT64_MAX;
        }
        break;
    case JOB_BACKOFF_EXPONENTIAL:
        delay = doubled(j->retry_base_ms, attempt);
        break;
    default:
        UNREACHABLE("a job has one of the four back-offs");
    }
    return j->retry_max_ms > 0 && delay > j->retry_max_ms ? j->retry_max_ms : delay;
}

uint32_t job_attempts_remaining(const struct job *j)
{
    return j->attempt < j->max_retries ? j->max_retries - j->attempt : 0;
}

enum job_outcome job_last_failure(const struct job *j)
{
    bool timed_out = j->outcome == JOB_OUTCOME_TIMEOUT;
    switch ((int)j->state) {
    case JOB_RETRYING:
    case JOB_DEAD:
        return timed_out ? JOB_OUTCOME_TIMEOUT : JOB_OUTCOME_FAILED;
    case JOB_PENDING: /* its next try is due */
        return j->attempt > 0 && (timed_out || j->outcome == JOB_OUTCOME_FAILED)
                   ? (enum job_outcome)j->outcome
                   : JOB_OUTCOME_NONE;
    default:
        return JOB_OUTCOME_NONE;
    }
}

const char *job_outcome_name(unsigned outcome)
{
    static const char *const names[JOB_OUTCOME_COUNT] = {
        [JOB_OUTCOME_NONE] = "",
        [JOB_OUTCOME_COMPLETED] = "completed",
        [JOB_OUTCOME_FAILED] = "failed",
        [JOB_OUTCOME_TIMEOUT] = "timeout",
        [JOB_OUTCOME_CANCELLED] = "cancelled",
    };
    return outcome < JOB_OUTCOME_COUNT ? names[outcome] : "";
}
