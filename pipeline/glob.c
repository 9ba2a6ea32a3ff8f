/* SPDX-License-Identifier: Apache-2.0 */
/* glob.c - braces such as {000..127} and wildcards in paths: see location.h.
 * The names that braces stand for are never listed: name i follows from i. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/location.h"
#include "pipeline/text.h"

enum { MAX_DIGITS = 15 /* of a number */, MAX_BRACES = 8 /* of a pattern */ };

/* One pair of braces {...}: a range of numbers, or alternatives. */
struct brace {
    const char *begin; /* points to '{' */
    const char *end;   /* points behind '}' */
    bool        is_range;
    uint64_t    first;     /* range: the first number */
    int         digits;    /* range: minimum of digits; 0: no leading zeros */
    uint64_t    n_choices; /* numbers of the range, or alternatives */
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
    bool reaches_end = last_text + last_digits + 1 == b->end;
    if (first_digits == 0 || last_digits == 0 || !reaches_end) {
        return error_at(b, "a range is {FIRST..LAST}, both whole numbers", why);
    }
    if (first_digits > MAX_DIGITS || last_digits > MAX_DIGITS) {
        return error_at(b, "a range has numbers of at most 15 digits", why);
    }
    bool has_zeros = (first_text[0] == '0' && first_digits > 1) ||
                     (last_text[0] == '0' && last_digits > 1);
    if (has_zeros && first_digits != last_digits) {
        return error_at(b,
            "with leading zeros, both ends have the same number of digits",
            why);
    }
    if (last < b->first) {
        return error_at(b, "a range must ascend", why);
    }
    b->is_range  = true;
    b->digits    = has_zeros ? (int)first_digits : 0;
    b->n_choices = last - b->first + 1;
    return FBY_OK;
}

/* Read alternatives "{a,b,c}". They may be empty, and have no slash. */
static fby_err read_alternatives(struct brace *b, struct fby_error_detail *why)
{
    b->is_range  = false;
    b->n_choices = 1;
    for (const char *c = b->begin; c < b->end; c++) {
        b->n_choices += *c == ',' ? 1 : 0;
        if (*c == '/') {
            return error_at(b, "a brace must not contain '/'", why);
        }
    }
    return b->n_choices > 1
               ? FBY_OK
               : error_at(b,
                     "a brace is a range like {000..127} or a choice "
                     "like {a,b}",
                     why);
}

/* Read the brace at the start of `text`, which begins with '{'. */
static fby_err read_brace(
    const char *text, struct brace *b, struct fby_error_detail *why)
{
    *b            = (struct brace){.begin = text, .end = text};
    size_t length = strcspn(text + 1, "{}");
    if (text[1 + length] != '}') {
        return error_at(b,
            text[1 + length] == '{' ? "nested braces are not supported"
                                    : "the brace is not closed",
            why);
    }
    b->end                = text + length + 2;
    const char *dots      = strstr(text, "..");
    const char *comma     = strchr(text, ',');
    bool        has_dots  = dots != NULL && dots < b->end;
    bool        has_comma = comma != NULL && comma < b->end;
    return has_dots && !has_comma ? read_range(b, why)
                                  : read_alternatives(b, why);
}

fby_err fby_braces_count(
    const char *rest, uint32_t *out, struct fby_error_detail *why)
{
    uint64_t    n_names  = 1;
    size_t      n_braces = 0;
    const char *text     = rest + strcspn(rest, "{}");
    while (*text != '\0') {
        struct brace b = {.begin = text};
        if (*text == '}') {
            return error_at(&b, "the brace was not opened", why);
        }
        FBY_TRY(read_brace(text, &b, why));
        n_braces++;
        /* The first condition prevents an overflow in the second one. */
        if (b.n_choices > FBY_MAX_PATTERN_NAMES ||
            n_names * b.n_choices > FBY_MAX_PATTERN_NAMES ||
            n_braces > MAX_BRACES) {
            return fby_error_set(why, FBY_CONFIG,
                "'%s': a pattern has at most %d braces and expands to at most "
                "%d names",
                fby_text_show(rest).text, MAX_BRACES, FBY_MAX_PATTERN_NAMES);
        }
        n_names *= b.n_choices;
        text = b.end + strcspn(b.end, "{}");
    }
    *out = (uint32_t)n_names;
    return FBY_OK;
}

/* Write choice `i` of a brace to `out`; return the end of the text written. */
static char *write_choice(char *out, const struct brace *b, uint64_t i)
{
    if (b->is_range) {
        char number[32];
        int  length = snprintf(
             number, sizeof(number), "%0*" PRIu64, b->digits, b->first + i);
        memcpy(out, number, (size_t)length); /* without the NUL */
        return out + length;
    }
    const char *choice = b->begin + 1;
    for (; i > 0; i--) {
        choice += strcspn(choice, ",") + 1;
    }
    size_t length = strcspn(choice, ",}");
    memcpy(out, choice, length);
    return out + length;
}

/* Each brace is one digit of the number `i`: the digit is the index of the
 * choice, and its base is the number of choices. `weight` is the weight of the
 * current digit: the number of names that the later braces stand for. A choice
 * is shorter than its brace, so `out` is large enough. */
void fby_braces_write_name(
    const char *rest, uint32_t i, char out[FBY_PATH_SIZE])
{
    uint32_t n_names = 0;
    if (fby_braces_count(rest, &n_names, NULL) != FBY_OK || n_names == 0) {
        out[0] = '\0';
        return;
    }
    uint64_t remainder = i % n_names;
    uint64_t weight    = n_names;
    char    *end       = out;
    for (const char *text = rest; *text != '\0';) {
        size_t length = strcspn(text, "{");
        memcpy(end, text, length);
        end += length;
        text += length;
        struct brace b;
        /* At a brace, the other conditions hold, because `rest` is valid. */
        if (*text != '\0' && read_brace(text, &b, /*why=*/NULL) == FBY_OK &&
            b.n_choices > 0 && weight >= b.n_choices) {
            weight /= b.n_choices;
            end = write_choice(end, &b, remainder / weight);
            remainder %= weight;
            text = b.end;
        }
    }
    *end = '\0';
}

bool fby_has_wildcards(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

/* The second UTF-8 character of `text`. Bytes 10xxxxxx continue the first. */
static const char *next_character(const char *text)
{
    text++;
    while (((unsigned char)*text & 0xc0) == 0x80) {
        text++;
    }
    return text;
}

/* A star first matches no character. On a mismatch the last star is made to
 * match one character more. Earlier stars need no second try, because the last
 * star can match all that they could. */
bool fby_glob_match(const char *pattern, const char *name)
{
    const char *after_star = NULL; /* the pattern after its last star */
    const char *star_end   = NULL; /* in `name`: after what the star matches */
    if (name[0] == '.' && pattern[0] != '.') {
        return false;
    }
    while (*name != '\0') {
        if (*pattern == '*') {
            after_star = ++pattern;
            star_end   = name;
        } else if (*pattern == '?') {
            pattern++;
            name = next_character(name);
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (after_star != NULL) {
            pattern = after_star;
            name = star_end = next_character(star_end);
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0'; /* only stars are left */
}
