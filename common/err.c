#include "common/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/line.h"

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

__attribute__((format(printf, 2, 0))) static void format_line(
    struct fby_why *why, const char *format, va_list args)
{
    vsnprintf(why->text, sizeof(why->text), format, args);
    fby_make_one_line(why->text);
}

fby_err fby_because(struct fby_why *why, fby_err err, const char *format, ...)
{
    if (why != NULL) {
        va_list args;
        va_start(args, format);
        format_line(why, format, args);
        va_end(args);
    }
    return err;
}

/* Whether `c` continues a UTF-8 sequence. */
static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Shorten `text` to at most `room` bytes that end with dots. */
static void shorten(char *text, size_t room)
{
    static const char dots[] = "...";
    if (strlen(text) <= room) {
        return;
    }
    size_t n = room < sizeof(dots) ? 0 : room - (sizeof(dots) - 1);
    while (n > 0 && is_continuation(text[n])) {
        n--;
    }
    memcpy(text + n, n > 0 ? dots : "", n > 0 ? sizeof(dots) : 1);
}

fby_err fby_because_in(
    struct fby_why *why, fby_err err, const char *format, ...)
{
    static const char separator[] = ": ";
    if (why == NULL) {
        return err;
    }
    struct fby_why cause = *why;
    va_list        args;
    if (cause.text[0] == '\0') {
        (void)fby_because(&cause, err, "%s", fby_strerror(err));
    }
    va_start(args, format);
    format_line(why, format, args);
    va_end(args);
    size_t size = strlen(cause.text) + 1;
    size_t room = sizeof(why->text) - size;
    shorten(why->text, room < sizeof(separator) ? 0 : room - strlen(separator));
    size_t n = strlen(why->text);
    if (n > 0) {
        memcpy(why->text + n, separator, sizeof(separator));
        n += strlen(separator);
    }
    memcpy(why->text + n, cause.text, size);
    return err;
}
