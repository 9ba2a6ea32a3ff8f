#include "common/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *fby_strerror(fby_err err)
{
    static const char *const text[] = {
#define X(name, message) [FBY_##name] = (message),
        FBY_ERR_MAP(X)
#undef X
    };
    unsigned i = (unsigned)err;
    return i < sizeof(text) / sizeof(text[0]) ? text[i] : "unknown error";
}

fby_err fby_because(struct fby_why *why, fby_err err, const char *format, ...)
{
    if (why != NULL) {
        va_list args;
        va_start(args, format);
        vsnprintf(why->text, sizeof(why->text), format, args);
        va_end(args);
    }
    return err;
}

fby_err fby_because_in(
    struct fby_why *why, fby_err err, const char *format, ...)
{
    if (why != NULL) {
        char    inner[sizeof(why->text)];
        va_list args;
        memcpy(inner, why->text, sizeof(inner));
        va_start(args, format);
        int n = vsnprintf(why->text, sizeof(why->text), format, args);
        va_end(args);
        if (n >= 0 && (size_t)n < sizeof(why->text)) {
            snprintf(why->text + n, sizeof(why->text) - (size_t)n, ": %s",
                inner[0] != '\0' ? inner : fby_strerror(err));
        }
    }
    return err;
}
