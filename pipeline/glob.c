/* glob.c - braces such as {000..127} and wildcards in paths: see location.h.
 * The names that braces stand for are never listed: name i follows from i. */
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
    bool        is_range;
    uint64_t    first;   /* of a range: its first number */
    int         digits;  /* of a range: minimal digits; 0: no leading zeros */
    uint64_t    choices; /* numbers of the range, or alternatives */
};

/* Set the error `what` about a brace. */
static fby_err error_at(
    const struct brace *b, const char *what, struct fby_error_detail *why)
{
    size_t length              = strcspn(b->begin, "}");
    char   text[FBY_PATH_SIZE] = {0};
    memcpy(text, b->begin, b->begin[length] == '}' ? length + 1 : length);
    return fby_error_set(
        why, FBY_CONFIG, "'%s': %s", fby_text_show(text).text, what);
}

/* Read the number at the start of `text`; return the number of its digits, of
 * which only the first MAX_DIGITS are used. */
static size_t read_number(const char *text, uint64_t *out)
{
    size_t digits = strspn(text, "0123456789");
    *out          = 0;
    for (size_t i = 0; i < digits && i < MAX_DIGITS; i++) {
        *out = *out * 10 + (uint64_t)(text[i] - '0');
    }
    return digits;
}

/* Read a range "{first..last}". */
static fby_err read_range(struct brace *b, struct fby_error_detail *why)
{
    const char *first_text   = b->begin + 1;
    const char *last_text    = first_text;
    uint64_t    last         = 0;
    size_t      first_digits = read_number(first_text, &b->first);
    size_t      last_digits  = 0;
    if (first_digits > 0 && strncmp(first_text + first_digits, "..", 2) == 0) {
        last_text   = first_text + first_digits + 2;
        last_digits = read_number(last_text, &last);
    }
    if (first_digits == 0 || last_digits == 0 ||
        last_text + last_digits + 1 != b->end) {
        return error_at(b, "a range is {FIRST..LAST}, both whole numbers", why);
    }
    if (first_digits > MAX_DIGITS || last_digits > MAX_DIGITS) {
        return error_at(b, "a range has numbers of at most 15 digits", why);
    }
    bool padded = (first_text[0] == '0' && first_digits > 1) ||
                  (last_text[0] == '0' && last_digits > 1);
    if (padded && first_digits != last_digits) {
        return error_at(b,
            "with leading zeros, both ends have the same number of digits",
            why);
    }
    if (last < b->first) {
        return error_at(b, "a range runs upwards", why);
    }
    b->is_range = true;
    b->digits   = padded ? (int)first_digits : 0;
    b->choices  = last - b->first + 1;
    return FBY_OK;
}

/* Read alternatives "{a,b,c}". They may be empty, and have no slash. */
static fby_err read_alternatives(struct brace *b, struct fby_error_detail *why)
{
    b->is_range = false;
    b->choices  = 1;
    for (const char *at = b->begin; at < b->end; at++) {
        b->choices += *at == ',' ? 1 : 0;
        if (*at == '/') {
            return error_at(b, "a brace stays within one path component", why);
        }
    }
    return b->choices > 1
               ? FBY_OK
               : error_at(b,
                     "a brace is a range like {000..127} or a choice "
                     "like {a,b}",
                     why);
}

/* Read the brace that begins at `at`, which points to '{'. */
static fby_err read_brace(
    const char *at, struct brace *b, struct fby_error_detail *why)
{
    *b            = (struct brace){.begin = at, .end = at};
    size_t length = strcspn(at + 1, "{}");
    if (at[1 + length] != '}') {
        return error_at(b,
            at[1 + length] == '{' ? "a brace within a brace is not known here"
                                  : "the brace is not closed",
            why);
    }
    b->end            = at + length + 2;
    const char *dots  = strstr(at, "..");
    const char *comma = strchr(at, ',');
    bool        is_range =
        dots != NULL && dots < b->end && (comma == NULL || comma >= b->end);
    return is_range ? read_range(b, why) : read_alternatives(b, why);
}

fby_err fby_braces_count(
    const char *rest, uint32_t *out, struct fby_error_detail *why)
{
    uint64_t    names  = 1;
    size_t      braces = 0;
    const char *at     = rest + strcspn(rest, "{}");
    while (*at != '\0') {
        struct brace b = {.begin = at};
        if (*at == '}') {
            return error_at(&b, "the brace was not opened", why);
        }
        FBY_TRY(read_brace(at, &b, why));
        braces++;
        /* The first limit keeps the product of the second from overflowing. */
        if (b.choices > FBY_MAX_PATTERN_NAMES ||
            names * b.choices > FBY_MAX_PATTERN_NAMES || braces > MAX_BRACES) {
            return fby_error_set(why, FBY_CONFIG,
                "'%s': a pattern has at most %d braces and stands for at most "
                "%d names",
                fby_text_show(rest).text, MAX_BRACES, FBY_MAX_PATTERN_NAMES);
        }
        names *= b.choices;
        at = b.end + strcspn(b.end, "{}");
    }
    *out = (uint32_t)names;
    return FBY_OK;
}

/* Write choice `i` of a brace to `to`; return the end of the text written. */
static char *write_choice(char *to, const struct brace *b, uint64_t i)
{
    if (b->is_range) {
        char number[32];
        int  length = snprintf(
             number, sizeof(number), "%0*" PRIu64, b->digits, b->first + i);
        memcpy(to, number, (size_t)length); /* without the NUL */
        return to + length;
    }
    const char *choice = b->begin + 1;
    for (; i > 0; i--) {
        choice += strcspn(choice, ",") + 1;
    }
    size_t length = strcspn(choice, ",}");
    memcpy(to, choice, length);
    return to + length;
}

/* Each brace is one digit of the number `i`: the digit is the index of the
 * choice, and its base is the number of choices. `later` is the number of names
 * that the later braces stand for, that is, the weight of the current digit. A
 * choice is shorter than its brace, so `out` is large enough. */
void fby_braces_write_name(
    const char *rest, uint32_t i, char out[FBY_PATH_SIZE])
{
    uint32_t names = 0;
    if (fby_braces_count(rest, &names, NULL) != FBY_OK || names == 0) {
        out[0] = '\0';
        return;
    }
    uint64_t number = i % names;
    uint64_t later  = names;
    char    *to     = out;
    for (const char *at = rest; *at != '\0';) {
        size_t n = strcspn(at, "{");
        memcpy(to, at, n);
        to += n;
        at += n;
        struct brace b;
        /* At a brace all the other conditions hold: the pattern was checked. */
        if (*at != '\0' && read_brace(at, &b, NULL) == FBY_OK &&
            b.choices > 0 && later >= b.choices) {
            later /= b.choices;
            to = write_choice(to, &b, number / later);
            number %= later;
            at = b.end;
        }
    }
    *to = '\0';
}

bool fby_has_wildcards(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

/* The next UTF-8 character: skip the bytes 10xxxxxx of the current one. */
static const char *next_character(const char *at)
{
    at++;
    while (((unsigned char)*at & 0xc0) == 0x80) {
        at++;
    }
    return at;
}

/* A star first matches no character. On a mismatch the last star is made to
 * match one character more. Earlier stars need no second try, because the last
 * star can match all that they could. */
bool fby_glob_match(const char *pattern, const char *name)
{
    const char *star  = NULL; /* position in `pattern` after its last star */
    const char *taken = NULL; /* end of the part of `name` that the star took */
    if (name[0] == '.' && pattern[0] != '.') {
        return false;
    }
    while (*name != '\0') {
        if (*pattern == '*') {
            star  = ++pattern;
            taken = name;
        } else if (*pattern == '?') {
            pattern++;
            name = next_character(name);
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = taken = next_character(taken);
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0'; /* only stars are left */
}
