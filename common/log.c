#include "common/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log_limit.h"

static struct {
    char               process[32];
    enum fby_log_level level;
    bool               colours;
} settings = {.process = "forebay", .level = FBY_LOG_WARN};

static enum fby_log_level level_from_environment(enum fby_log_level fallback)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    const char              *wanted  = getenv("FOREBAY_LOG");
    for (size_t i = 0; wanted != NULL && i < 4; i++) {
        if (strcmp(wanted, names[i]) == 0) {
            return (enum fby_log_level)i;
        }
    }
    return fallback;
}

void fby_log_init(const char *process, enum fby_log_level level)
{
    snprintf(settings.process, sizeof(settings.process), "%s", process);
    settings.level   = level_from_environment(level);
    settings.colours = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
}

static void stamp(char *out, size_t size)
{
    struct timespec now;
    struct tm       local;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    snprintf(out, size, "%02d:%02d:%02d.%03ld", local.tm_hour, local.tm_min,
        local.tm_sec, now.tv_nsec / 1000000);
}

/* Errors and FAULTs, which tests count, are always written. */
static bool admit(
    enum fby_log_level level, const char *word, uint64_t *left_out)
{
    static pthread_mutex_t      lock = PTHREAD_MUTEX_INITIALIZER;
    static struct fby_log_limit limit; /* guarded by lock */
    *left_out = 0;
    if (level == FBY_LOG_ERROR || level == FBY_LOG_DEBUG ||
        strcmp(word, "FAULT") == 0) {
        return true;
    }
    pthread_mutex_lock(&lock);
    bool admitted = fby_log_limit_admit(&limit, word, fby_now_ns(), left_out);
    pthread_mutex_unlock(&lock);
    return admitted;
}

/* One write() a line, so that lines of several processes do not mix. */
__attribute__((format(printf, 3, 0))) static void say(enum fby_log_level level,
    const char *word, const char *format, va_list args)
{
    static const char *const colour[] = {"\033[31m", "\033[33m", "", "\033[2m"};
    uint64_t                 left_out = 0;
    if (level > settings.level || !admit(level, word, &left_out)) {
        return;
    }
    char time[64];
    char body[900];
    char more[64] = "";
    char line[1264];
    stamp(time, sizeof(time));
    vsnprintf(body, sizeof(body), format, args);
    if (left_out > 0) {
        snprintf(
            more, sizeof(more), " (%" PRIu64 " such lines left out)", left_out);
    }
    int n = snprintf(line, sizeof(line), "%s%s %s[%d] %s%s %s%s\n",
        settings.colours ? colour[level] : "", time, settings.process,
        (int)getpid(), word, settings.colours ? "\033[0m" : "", body, more);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) {
        return; /* nobody is left to tell */
    }
}

#define LEVEL(name, level)                               \
    void name(const char *word, const char *format, ...) \
    {                                                    \
        va_list args;                                    \
        va_start(args, format);                          \
        say(level, word, format, args);                  \
        va_end(args);                                    \
    }

LEVEL(fby_error, FBY_LOG_ERROR)
LEVEL(fby_warn, FBY_LOG_WARN)
LEVEL(fby_info, FBY_LOG_INFO)
LEVEL(fby_debug, FBY_LOG_DEBUG)
