/* Brace ranges and wildcards of location.h. A pattern is never expanded into
 * a list: its names are numbered, like the digits of a clock. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/location.h"
#include "pipeline/text.h"

enum { MAX_DIGITS = 15, MAX_BRACES = 8 };

/* One {...}: a range of numbers, or alternatives. */
struct brace {
    const char *begin; /* at '{' */
    const char *end;   /* after '}' */
    bool        range;
    uint64_t    first;  /* range */
    int         digits; /* range: at least so many; 0: as many as needed */
    uint64_t    names;
};

static fby_err wrong(
    const struct brace *b, const char *what, struct fby_why *why)
{
    size_t n                   = strcspn(b->begin, "}");
    char   text[FBY_PATH_SIZE] = {0};
    memcpy(text, b->begin, b->begin[n] == '}' ? n + 1 : n);
    fby_because(why, FBY_CONFIG, "'%s': %s", fby_text_show(text).text, what);
    return FBY_CONFIG;
}

/* Digits at `at` as a number; returns how many there were. */
static size_t read_number(const char *at, uint64_t *out)
{
    size_t n = strspn(at, "0123456789");
    *out     = 0;
    for (size_t i = 0; i < n && i < MAX_DIGITS; i++) {
        *out = *out * 10 + (uint64_t)(at[i] - '0');
    }
    return n;
}

/* "{first..last}": `at` is behind the opening brace. */
static fby_err read_range(struct brace *b, struct fby_why *why)
{
    const char *at   = b->begin + 1;
    uint64_t    last = 0;
    size_t      n    = read_number(at, &b->first);
    size_t      m    = 0;
    if (n > 0 && strncmp(at + n, "..", 2) == 0) {
        m = read_number(at + n + 2, &last);
    }
    if (n == 0 || m == 0 || at + n + 2 + m + 1 != b->end) {
        return wrong(b, "a range is {FIRST..LAST}, both whole numbers", why);
    }
    if (n > MAX_DIGITS || m > MAX_DIGITS) {
        return wrong(b, "a range has numbers of at most 15 digits", why);
    }
    bool padded = (at[0] == '0' && n > 1) || (at[n + 2] == '0' && m > 1);
    if (padded && n != m) {
        return wrong(b,
            "with leading zeros, both ends have the same number of digits",
            why);
    }
    if (last < b->first) {
        return wrong(b, "a range runs upwards", why);
    }
    b->range  = true;
    b->digits = padded ? (int)n : 0;
    b->names  = last - b->first + 1;
    return FBY_OK;
}

/* "{a,b,c}": empty alternatives are allowed, slashes are not. */
static fby_err read_alternatives(struct brace *b, struct fby_why *why)
{
    b->range = false;
    b->names = 1;
    for (const char *at = b->begin; at < b->end; at++) {
        b->names += *at == ',' ? 1 : 0;
        if (*at == '/') {
            return wrong(b, "a brace stays within one path component", why);
        }
    }
    return b->names > 1 ? FBY_OK
                        : wrong(b,
                              "a brace is a range like {000..127} or a choice "
                              "like {a,b}",
                              why);
}

/* The brace whose '{' is at `at`. */
static fby_err read_brace(const char *at, struct brace *b, struct fby_why *why)
{
    *b       = (struct brace){.begin = at};
    size_t n = strcspn(at + 1, "{}");
    if (at[1 + n] != '}') {
        return wrong(b,
            at[1 + n] == '{' ? "a brace within a brace is not known here"
                             : "the brace is not closed",
            why);
    }
    b->end            = at + n + 2;
    const char *dots  = strstr(at, "..");
    const char *comma = strchr(at, ',');
    bool        range =
        dots != NULL && dots < b->end && (comma == NULL || comma >= b->end);
    return range ? read_range(b, why) : read_alternatives(b, why);
}

fby_err fby_braces_count(const char *rest, uint32_t *out, struct fby_why *why)
{
    uint64_t names  = 1;
    size_t   braces = 0;
    for (const char *at = rest; *(at += strcspn(at, "{}")) != '\0';) {
        struct brace b = {.begin = at};
        if (*at == '}') {
            return wrong(&b, "the brace was not opened", why);
        }
        fby_err err = read_brace(at, &b, why);
        if (err != FBY_OK) {
            return err;
        }
        if (b.names > FBY_MAX_EXPANSION ||
            names * b.names > FBY_MAX_EXPANSION || ++braces > MAX_BRACES) {
            return fby_because(why, FBY_CONFIG,
                "'%s': a pattern has at most %d braces and stands for at most "
                "%d names",
                fby_text_show(rest).text, MAX_BRACES, FBY_MAX_EXPANSION);
        }
        names *= b.names;
        at = b.end;
    }
    *out = (uint32_t)names;
    return FBY_OK;
}

/* Write what choice `i` of a brace stands for; returns where it ends. */
static char *put_choice(char *to, const struct brace *b, uint64_t i)
{
    if (b->range) {
        char digits[32];
        int  n = snprintf(
             digits, sizeof(digits), "%0*" PRIu64, b->digits, b->first + i);
        memcpy(to, digits, (size_t)n);
        return to + n;
    }
    const char *at = b->begin + 1;
    for (; i > 0; i--) {
        at += strcspn(at, ",") + 1;
    }
    size_t n = strcspn(at, ",}");
    memcpy(to, at, n);
    return to + n;
}

/* Every choice is shorter than the brace it replaces, so `out` is large
 * enough. The names behind a brace run faster: divide by their number. */
void fby_braces_name(const char *rest, uint32_t i, char out[FBY_PATH_SIZE])
{
    uint32_t behind = 0;
    if (fby_braces_count(rest, &behind, NULL) != FBY_OK || behind == 0) {
        out[0] = '\0';
        return;
    }
    uint64_t number = i % behind;
    uint64_t left   = behind;
    char    *to     = out;
    for (const char *at = rest; *at != '\0';) {
        size_t n = strcspn(at, "{");
        memcpy(to, at, n);
        to += n;
        at += n;
        struct brace b;
        if (*at != '\0' && read_brace(at, &b, NULL) == FBY_OK && b.names > 0 &&
            left >= b.names) {
            left /= b.names;
            to = put_choice(to, &b, number / left);
            number %= left;
            at = b.end;
        }
    }
    *to = '\0';
}

bool fby_glob_has(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

/* After one UTF-8 letter. */
static const char *next_letter(const char *at)
{
    at++;
    while (((unsigned char)*at & 0xc0) == 0x80) {
        at++;
    }
    return at;
}

/* A star takes as little as it can; at a dead end the last star takes one
 * letter more. Stars before it need no second try. */
bool fby_glob_match(const char *pattern, const char *name)
{
    const char *star  = NULL; /* after the last star */
    const char *taken = NULL; /* by it */
    if (name[0] == '.' && pattern[0] != '.') {
        return false;
    }
    while (*name != '\0') {
        if (*pattern == '*') {
            star  = ++pattern;
            taken = name;
        } else if (*pattern == '?') {
            pattern++;
            name = next_letter(name);
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = taken = next_letter(taken);
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}
