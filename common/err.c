/* SPDX-License-Identifier: Apache-2.0 */
/* Format the text of an error, and put prefixes before it. */
#include "common/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

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
    struct fby_error_detail *why, const char *format, va_list args)
{
    vsnprintf(why->text, sizeof(why->text), format, args);
    fby_make_one_line(why->text);
}

fby_err fby_error_set(
    struct fby_error_detail *why, fby_err err, const char *format, ...)
{
    if (why != NULL) {
        va_list args;
        va_start(args, format);
        format_line(why, format, args);
        va_end(args);
    }
    return err;
}

/* True if `c` continues a UTF-8 sequence. */
static bool is_continuation_byte(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* If `text` has more than `max_bytes`, shorten it to at most these, with "..."
 * at its end. If nothing fits before the dots, the text becomes empty. */
static void shorten(char *text, size_t max_bytes)
{
    static const char dots[] = "...";
    if (strlen(text) <= max_bytes) {
        return;
    }
    size_t kept = max_bytes < sizeof(dots) ? 0 : max_bytes - strlen(dots);
    while (kept > 0 && is_continuation_byte(text[kept])) {
        kept--; /* do not cut through a character */
    }
    if (kept > 0) {
        memcpy(text + kept, dots, sizeof(dots));
    } else {
        text[0] = '\0';
    }
}

fby_err fby_error_prefix(
    struct fby_error_detail *why, fby_err err, const char *format, ...)
{
    static const char separator[] = ": ";
    if (err == FBY_OK || why == NULL) {
        return err;
    }
    struct fby_error_detail cause = *why;
    va_list                 args;
    if (cause.text[0] == '\0') {
        (void)fby_error_set(&cause, err, "%s", fby_strerror(err));
    }
    va_start(args, format);
    format_line(why, format, args);
    va_end(args);
    size_t cause_size = strlen(cause.text) + 1; /* with its NUL */
    size_t room       = sizeof(why->text) - cause_size;
    shorten(why->text, room < sizeof(separator) ? 0 : room - strlen(separator));
    size_t used = strlen(why->text);
    if (used > 0) {
        memcpy(why->text + used, separator, sizeof(separator));
        used += strlen(separator);
    }
    memcpy(why->text + used, cause.text, cause_size);
    return err;
}
