/* SPDX-License-Identifier: Apache-2.0 */
/* guess_values.c - find the kinds of the columns of a list (.csv, .jsonl), and
 * of the keys of JSON members.
 *
 * The kind of a value, such as number or text, follows from its text. The kind
 * of a column is merged from the kinds of its values, one after the other. */
#include "cli/init/guess_values.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_members.h"
#include "cli/init/words.h"
#include "common/utf8.h"
#include "pipeline/text.h"

bool fby_guess_is_digits(const char *text, size_t size)
{
    size_t digits = 0;
    while (digits < size && text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    return size > 0 && size <= 9 && digits == size;
}

/* True for letters, digits, '_' and '-', which need no quotes in YAML. */
static bool is_plain(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return n > 0 && name[n] == '\0';
}

/* Append NAME or ABOVE.NAME to the keys, if it fits and needs no quotes. */
static void add_key(struct fby_init_member *member, const char *above,
    const char *name, const json_t *value)
{
    size_t used = strlen(member->keys);
    size_t left = sizeof(member->keys) - used;
    if (!is_plain(name) ||
        strlen(above) + strlen(name) + 8 > left) { /* 8: separators, '\0' */
        return;
    }
    snprintf(member->keys + used, left, "%s%s%s%s", used > 0 ? ", " : "", above,
        above[0] != '\0' ? "." : "", name);
    if (used == 0) {
        member->first_key_kind = json_is_number(value)   ? FBY_INIT_NUMBER
                                 : json_is_string(value) ? FBY_INIT_TEXT
                                                         : FBY_INIT_MIXED;
    }
}

/* List the keys of an object and of the objects directly in it. */
static void list_keys(struct fby_init_member *member, json_t *object)
{
    const char *name        = NULL;
    const char *inner_name  = NULL;
    json_t     *value       = NULL;
    json_t     *inner_value = NULL;
    json_object_foreach(object, name, value)
    {
        if (!json_is_object(value)) {
            add_key(member, "", name, value);
            continue;
        }
        json_object_foreach(value, inner_name, inner_value)
        {
            /* `key:` cannot name such an object; "?" shows that it exists. */
            add_key(
                member, is_plain(name) ? name : "?", inner_name, inner_value);
        }
    }
}

static void raise_to(uint32_t *largest, size_t n)
{
    *largest = n > *largest ? (uint32_t)n : *largest;
}

/* Note what a number needs of a wire type. */
static void look_at_number(struct fby_init_member *member, const json_t *value)
{
    json_int_t integer = json_integer_value(value); /* 0: no integer */
    double     as_f32  = (float)integer;         /* 2^63: above all integers */
    double     real    = json_real_value(value); /* 0: no real */
    member->has_real   = member->has_real || json_is_real(value);
    if (member->rounded == 0 && fabs(real) >= 0x1p23 && fabs(real) < 0x1p53 &&
        (double)(float)real != real) {
        member->rounded = real;
    }
    member->has_whole = member->has_whole || json_is_integer(value);
    member->has_long =
        member->has_long || integer < INT32_MIN || integer > INT32_MAX;
    member->has_wide =
        member->has_wide || as_f32 >= 0x1p63 || (json_int_t)as_f32 != integer;
}

/* The kind of a JSON list. Raises member->max_length to the length of the list
 * or, for texts, of its longest text. Sets member->has_inner_lists. */
static enum fby_init_value kind_of_list(
    struct fby_init_member *member, const json_t *list)
{
    size_t n       = json_array_size(list);
    size_t texts   = 0;
    size_t numbers = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(list, i);
        texts += json_is_string(entry) ? 1 : 0;
        numbers += json_is_number(entry) ? 1 : 0;
        look_at_number(member, entry);
        if (json_is_object(entry) && member->keys[0] == '\0') {
            list_keys(member, json_array_get(list, i));
        }
        member->has_inner_lists =
            member->has_inner_lists || json_is_array(entry);
        /* Only lists of texts use this length, which is 0 for other entries. */
        raise_to(&member->max_length, json_string_length(entry));
    }
    if (n > 0 && texts == n) {
        return FBY_INIT_TEXT_LISTS;
    }
    raise_to(&member->max_length, n);
    return numbers == n ? FBY_INIT_NUMBER_LISTS : FBY_INIT_OTHER_LISTS;
}

/* Look at a number in digits, whose text has no NUL. One that is too large for
 * 64 bits counts as the largest. */
static void look_at_digits(
    struct fby_init_member *member, const char *text, size_t size)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%.*s",
        size < sizeof(digits) ? (int)size : (int)sizeof(digits) - 1, text);
    json_t *number = json_integer(strtoll(digits, NULL, 10));
    look_at_number(member, number);
    json_decref(number);
}

/* The kind of one value. Updates member->max_length and member->keys, too. */
static enum fby_init_value kind_of_value(
    struct fby_init_member *member, const char *text, size_t size)
{
    if (fby_guess_is_digits(text, size)) {
        look_at_digits(member, text, size);
        return FBY_INIT_DIGITS;
    }
    /* JSON other than texts, true, false and null begins with one of these. */
    static const char first_bytes[] = {'[', '{', '-', '0', '1', '2', '3', '4',
        '5', '6', '7', '8', '9', ' ', '\t'};
    bool              may_be_json =
        memchr(first_bytes, text[0], sizeof(first_bytes)) != NULL;
    json_t *json =
        may_be_json ? json_loadb(text, size, JSON_DECODE_ANY, NULL) : NULL;
    enum fby_init_value kind = FBY_INIT_TEXT; /* if not JSON, or null, true */
    if (json_is_number(json)) {
        kind = FBY_INIT_NUMBER;
        look_at_number(member, json);
    } else if (json_is_array(json)) {
        kind = kind_of_list(member, json);
    } else if (json_is_object(json)) {
        kind = FBY_INIT_OBJECT;
        if (member->keys[0] == '\0') {
            list_keys(member, json);
        }
    }
    json_decref(json);
    return kind;
}

enum fby_init_value fby_guess_merge_values(
    enum fby_init_value a, enum fby_init_value b)
{
    if (a == b || a == FBY_INIT_NO_VALUE) {
        return b;
    }
    if (a <= FBY_INIT_TEXT && b <= FBY_INIT_TEXT) {
        return a > b ? a : b; /* DIGITS < NUMBER < TEXT: the more general */
    }
    return FBY_INIT_MIXED;
}

/* True for numbers as people write them: 1,200.50, 3%, $5, 3,5. */
static bool looks_like_number(const char *text, size_t size)
{
    size_t i      = size > 0 && strchr("+-$", text[0]) != NULL ? 1 : 0;
    size_t digits = 0;
    size_t points = 0;
    bool   is_id =
        i + 1 < size && text[i] == '0' && isdigit((unsigned char)text[i + 1]);
    for (; i < size && strchr("0123456789.,", text[i]) != NULL; i++) {
        digits += isdigit((unsigned char)text[i]) ? 1 : 0;
        points += text[i] == '.' ? 1 : 0;
    }
    i += i + 1 < size && text[i] == ' ' ? 1 : 0;
    i += i < size && text[i] == '%' ? 1 : 0;
    return i == size && digits > 0 && points <= 1 && !is_id;
}

/* True for what stands for a missing number. */
static bool is_nan(const char *text, size_t size)
{
    static const char *const words[] = {
        "nan", "inf", "infinity", "na", "n/a", "?"};
    size_t sign = size > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (size - sign == strlen(words[i]) &&
            strncasecmp(text + sign, words[i], size - sign) == 0) {
            return true;
        }
    }
    return false;
}

/* Note which signs a number has: before a fraction are not three digits, or a 0 is
 * before the sign, or the other sign is before it. */
static void look_at_signs(
    struct fby_init_member *member, const char *text, size_t size)
{
    char number[64];
    snprintf(number, sizeof(number), "%.*s", (int)size, text);
    const char *begin = number + strspn(number, "+-$");
    const char *comma = strchr(begin, ',');
    const char *last  = strrchr(begin, ',');
    const char *point = strchr(begin, '.');
    if (comma == NULL) {
        member->has_point = member->has_point || point != NULL;
        return;
    }
    bool is_zero  = comma == begin + 1 && *begin == '0';
    bool is_three = strspn(last + 1, "0123456789") == 3 && !is_zero;
    bool is_decimal =
        point != NULL ? point < comma : comma == last && !is_three;
    bool is_large             = point != NULL ? point > last : comma != last;
    member->has_decimal_comma = member->has_decimal_comma || is_decimal;
    member->has_thousands     = member->has_thousands || is_large;
}

bool fby_guess_are_written_numbers(const struct fby_init_member *member)
{
    return member->value == FBY_INIT_TEXT && member->n_values > 0 &&
           member->n_numbers == member->n_values && !member->only_nan;
}

bool fby_guess_are_unclear_numbers(const struct fby_init_member *member)
{
    return member->has_decimal_comma &&
           (member->has_thousands || member->has_point);
}

/* Is the text a whole number that 64 bits cannot hold? JSON has none. */
static bool is_huge(const char *text, size_t size)
{
    char   number[64];
    size_t sign = size > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    snprintf(number, sizeof(number), "%.*s", (int)(size - sign), text + sign);
    return size < sizeof(number) && number[0] != '0' &&
           strspn(number, "0123456789") == size - sign && size - sign >= 19;
}

/* Count a value of a list, and note the first that is no number. */
static void count_number(struct fby_init_member *member,
    enum fby_init_value kind, const char *text, size_t size)
{
    bool is_number = kind == FBY_INIT_DIGITS || kind == FBY_INIT_NUMBER;
    char value[32];
    bool is_missing = !is_number && is_nan(text, size);
    bool looks_so   = is_number || looks_like_number(text, size);
    member->n_numbers += looks_so || is_missing ? 1 : 0;
    member->has_nan = member->has_nan || is_missing;
    member->only_nan =
        (member->only_nan || member->n_values == 0) && is_missing;
    member->has_huge =
        member->has_huge || (kind == FBY_INIT_TEXT && is_huge(text, size));
    if (looks_so) {
        look_at_signs(member, text, size);
    }
    if (kind == FBY_INIT_DIGITS && size > 1 && text[0] == '0' &&
        member->padded[0] == '\0') {
        snprintf(
            member->padded, sizeof(member->padded), "%.*s", (int)size, text);
    }
    if (!is_number && member->n_texts++ == 0) {
        member->text_row = member->n_values + 1;
        snprintf(value, sizeof(value), "%.*s",
            size < sizeof(value) ? (int)size : (int)sizeof(value) - 1, text);
        snprintf(member->text_value, sizeof(member->text_value), "%.16s",
            fby_text_show_begin(value, 16).text);
    }
}

void fby_guess_add_value(
    struct fby_init_member *member, const char *text, size_t size)
{
    if (member->value != FBY_INIT_MIXED) {
        enum fby_init_value kind = kind_of_value(member, text, size);
        member->value            = fby_guess_merge_values(member->value, kind);
        count_number(member, kind, text, size);
    }
    member->n_values++;
    raise_to(&member->longest, size);
}

/* ---- the keys of JSON members ---- */

/* The kind of a key of kind `a` after a value of kind `b`. A number and a text
 * of one key have no common field. */
static enum fby_init_value merge_keys(
    enum fby_init_value a, enum fby_init_value b)
{
    bool is_text = a == FBY_INIT_TEXT || b == FBY_INIT_TEXT;
    return is_text && a != b ? FBY_INIT_MIXED : fby_guess_merge_values(a, b);
}

/* The kind of a value in a JSON object. Raises the lengths of `member`. */
static enum fby_init_value kind_of_json(
    struct fby_init_member *member, const json_t *value)
{
    enum { MAX_ID = 999999999 }; /* as fby_guess_is_digits() */
    if (json_is_string(value)) {
        raise_to(&member->longest, json_string_length(value));
        return FBY_INIT_TEXT;
    }
    if (json_is_array(value)) {
        return kind_of_list(member, value);
    }
    if (json_is_object(value)) {
        return FBY_INIT_OBJECT;
    }
    if (json_is_boolean(value)) {
        return FBY_INIT_BOOLEANS;
    }
    look_at_number(member, value);
    bool is_id = json_is_integer(value) && json_integer_value(value) >= 0 &&
                 json_integer_value(value) <= MAX_ID;
    return is_id                   ? FBY_INIT_DIGITS
           : json_is_number(value) ? FBY_INIT_NUMBER
                                   : FBY_INIT_MIXED;
}

/* The member for a key of the JSON files `extension`, added if it is missing.
 * NULL: no entry is free. */
static struct fby_init_member *find_or_add_key(
    struct fby_guess_split *split, const char *extension, const char *key)
{
    uint32_t i = fby_guess_find_key(split, extension, key);
    if (i < split->n_members) {
        return &split->members[i];
    }
    if (split->n_members == FBY_GUESS_MEMBERS) {
        return NULL;
    }
    struct fby_init_member *member = &split->members[split->n_members++];
    *member                        = (struct fby_init_member){.count = 0};
    snprintf(member->extension, sizeof(member->extension), "%s", extension);
    snprintf(member->key, sizeof(member->key), "%s", key);
    return member;
}

/* Count a value, other than null, of the key. */
static void count_value(struct fby_init_member *member, const json_t *value)
{
    enum fby_init_value kind = kind_of_json(member, value);
    member->value = member->count == 0 ? kind : merge_keys(member->value, kind);
    member->count++;
    if (member->value == FBY_INIT_TEXT) {
        fby_init_add_word(
            member, json_string_value(value), json_string_length(value));
    } else {
        fby_init_free_words(member);
    }
}

/* Note that the JSON files have a key without a member. */
static void note_more_keys(struct fby_guess_split *split, const char *extension)
{
    uint32_t i = fby_guess_find_key(split, extension, "");
    if (i < split->n_members) {
        split->members[i].has_more_keys = true;
    }
}

/* Count ABOVE.NAME or NAME with its value. */
static void count_key(struct fby_guess_split *split, const char *extension,
    const char *above, const char *name, const json_t *value)
{
    char key[FBY_NAME_SIZE];
    int  n = snprintf(
         key, sizeof(key), "%s%s%s", above, above[0] != '\0' ? "." : "", name);
    bool fits = n < (int)sizeof(key) && name[0] != '\0' &&
                !fby_utf8_has_control(key, strlen(key));
    struct fby_init_member *member =
        fits ? find_or_add_key(split, extension, key) : NULL;
    if (member == NULL) {
        note_more_keys(split, extension);
        return;
    }
    member->has_dots = member->has_dots || strchr(above, '.') != NULL ||
                       strchr(name, '.') != NULL;
    if (!json_is_null(value)) {
        count_value(member, value);
    } else {
        member->has_null = true;
        member->value    = member->count == 0 ? FBY_INIT_NULLS : member->value;
    }
}

/* Count the keys of an object within an object, which has the key `above`. */
static void count_inner_keys(struct fby_guess_split *split,
    const char *extension, const char *above, json_t *object)
{
    const char *name  = NULL;
    json_t     *value = NULL;
    json_object_foreach(object, name, value)
    {
        count_key(split, extension, above, name, value);
    }
}

static void count_keys(
    struct fby_guess_split *split, const char *extension, json_t *object)
{
    const char *name  = NULL;
    json_t     *value = NULL;
    json_object_foreach(object, name, value)
    {
        if (json_object_size(value) == 0) {
            count_key(split, extension, "", name, value);
        } else {
            count_inner_keys(split, extension, name, value);
        }
    }
}

fby_err fby_guess_add_json(struct fby_guess_split *split, const char *extension,
    const char *text, size_t size, struct fby_error_detail *why)
{
    json_error_t error;
    json_t      *json = json_loadb(
             text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (json == NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "no valid JSON (line %d: %s): write it again", error.line,
            fby_text_show_begin(error.text, 40).text);
    }
    struct fby_init_member *root = NULL;
    if (json_is_object(json)) {
        count_keys(split, extension, json);
    } else {
        root = find_or_add_key(split, extension, FBY_INIT_ROOT_KEY);
    }
    if (root != NULL) {
        count_value(root, json);
    }
    json_decref(json);
    return FBY_OK;
}
