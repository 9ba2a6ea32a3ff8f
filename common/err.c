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

/* What does not fit is cut: the outer words, which say where, come first. */
fby_err fby_because_in(
    struct fby_why *why, fby_err err, const char *format, ...)
{
    if (why != NULL) {
        struct fby_why inner = *why;
        va_list        args;
        va_start(args, format);
        vsnprintf(why->text, sizeof(why->text), format, args);
        va_end(args);
        size_t      n = strlen(why->text);
        const char *rest =
            inner.text[0] != '\0' ? inner.text : fby_strerror(err);
        if (n + 2 < sizeof(why->text)) {
            memcpy(why->text + n, ": ", 3);
            n += 2;
            size_t fits = strnlen(rest, sizeof(why->text) - 1 - n);
            memcpy(why->text + n, rest, fits);
            why->text[n + fits] = '\0';
        }
    }
    return err;
}
