/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/list/json_line.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The skip_ functions return the end of the item that begins at `at`. `end` is
 * the end of the text. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        at += *at == '\\' && at + 1 < end ? 1 : 0; /* the escaped character */
    }
    return at < end ? at + 1 : end;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at)) {
        at++;
    }
    return at;
}

/* Skip all characters that occur in numbers; is_number() checks their order. */
static const char *skip_number(const char *at, const char *end)
{
    while (at < end && *at != '\0' && strchr("0123456789+-.eE", *at) != NULL) {
        at++;
    }
    return at;
}

/* Is the text from `at` to `end` one valid number of JSON? */
static bool is_number(const char *at, const char *end)
{
    at += at < end && *at == '-' ? 1 : 0;
    const char *integer = at;
    at                  = skip_digits(at, end);
    if (at == integer || (*integer == '0' && at > integer + 1)) {
        return false; /* no digit, or a leading zero */
    }
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at                   = skip_digits(fraction, end);
        if (at == fraction) {
            return false;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-') ? 1 : 0;
        const char *exponent = at;
        at                   = skip_digits(exponent, end);
        if (at == exponent) {
            return false;
        }
    }
    return at == end;
}

void fby_json_zero_numbers(char *text, size_t size)
{
    const char *end = text + size;
    for (const char *at = text; at < end;) {
        const char *begin = at;
        if (*at == '"') {
            at = skip_string(at, end);
        } else if (is_digit(*at) || *at == '-') {
            at = skip_number(at, end);
        } else {
            at++;
        }
        if (is_number(begin, at)) {
            char *number = text + (begin - text); /* `begin`, not const */
            memset(number, ' ', (size_t)(at - begin));
            number[0] = '0';
        }
    }
}

/* Skip the next key and its ':'. */
static const char *skip_key(const char *at, const char *end)
{
    while (at < end && *at != ':') {
        at = *at == '"' ? skip_string(at, end) : at + 1;
    }
    return at < end ? at + 1 : end;
}

/* Skip one token; *depth is the number of open lists and objects. */
static const char *skip_token(const char *at, const char *end, size_t *depth)
{
    if (*at == '"') {
        return skip_string(at, end);
    }
    *depth += *at == '{' || *at == '[' ? 1 : 0;
    *depth -= *at == '}' || *at == ']' ? 1 : 0;
    return at + 1;
}

size_t fby_json_copy_next_value(struct fby_json_values *self, char *out)
{
    size_t      depth = 0; /* number of open lists and objects in the value */
    size_t      size  = 0; /* bytes written to `out` */
    const char *end   = self->end;
    const char *at    = skip_key(self->at, end);
    /* At depth 0, a comma ends the value, and '}' the object. */
    while (at < end && (depth > 0 || (*at != ',' && *at != '}'))) {
        const char *next = skip_token(at, end, &depth);
        size_t      n    = is_blank(*at) ? 0 : (size_t)(next - at);
        memcpy(out + size, at, n);
        size += n;
        at = next;
    }
    self->at = at;
    return size;
}
