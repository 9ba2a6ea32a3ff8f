/* guess_values.c - find the kind of the values of a list's columns.
 *
 * The kind of each value follows from its text, and is merged with the kind of
 * the values before it. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"

static bool is_whole(const char *text, size_t size)
{
    size_t digits = 0;
    while (digits < size && text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    return size > 0 && size <= 9 && digits == size;
}

/* ---- Members of objects -------------------------------------------------- */

/* True for letters, digits, '_' and '-': these need no quotes in a key or
 * comment. */
static bool is_plain(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return n > 0 && name[n] == '\0';
}

static void add_path(struct fby_init_member *member, const char *above,
    const char *name, const json_t *value)
{
    size_t used = strlen(member->inside);
    size_t left = sizeof(member->inside) - used;
    if (!is_plain(name) || strlen(above) + strlen(name) + 8 > left) {
        return;
    }
    snprintf(member->inside + used, left, "%s%s%s%s", used > 0 ? ", " : "",
        above, above[0] != '\0' ? "." : "", name);
    if (used == 0) {
        member->first = json_is_number(value)   ? FBY_INIT_NUMBER
                        : json_is_string(value) ? FBY_INIT_TEXT
                                                : FBY_INIT_MIXED;
    }
}

/* List the members of an object, and the members of these that are objects. */
static void name_members(struct fby_init_member *member, json_t *object)
{
    const char *name  = NULL;
    const char *below = NULL;
    json_t     *value = NULL;
    json_t     *inner = NULL;
    json_object_foreach(object, name, value)
    {
        if (!json_is_object(value)) {
            add_path(member, "", name, value);
            continue;
        }
        json_object_foreach(value, below, inner)
        {
            add_path(member, is_plain(name) ? name : "?", below, inner);
        }
    }
}

static void raise_to(uint32_t *most, size_t n)
{
    *most = n > *most ? (uint32_t)n : *most;
}

static enum fby_init_value add_entries(
    struct fby_init_member *member, const json_t *list)
{
    size_t n       = json_array_size(list);
    size_t texts   = 0;
    size_t numbers = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(list, i);
        texts += json_is_string(entry) ? 1 : 0;
        numbers += json_is_number(entry) ? 1 : 0;
        raise_to(&member->most, json_string_length(entry));
    }
    if (n > 0 && texts == n) {
        return FBY_INIT_TEXTS;
    }
    raise_to(&member->most, n);
    return numbers == n ? FBY_INIT_NUMBERS : FBY_INIT_LISTS;
}

static enum fby_init_value value_of(
    struct fby_init_member *member, const char *text, size_t size)
{
    if (is_whole(text, size)) {
        return FBY_INIT_WHOLE;
    }
    static const char begins[] = {'[', '{', '-', '0', '1', '2', '3', '4', '5',
        '6', '7', '8', '9', ' ', '\t'};
    bool              may = memchr(begins, text[0], sizeof(begins)) != NULL;
    json_t *json = may ? json_loadb(text, size, JSON_DECODE_ANY, NULL) : NULL;
    enum fby_init_value value = FBY_INIT_TEXT;
    if (json_is_number(json)) {
        value = FBY_INIT_NUMBER;
    } else if (json_is_array(json)) {
        value = add_entries(member, json);
    } else if (json_is_object(json)) {
        value = FBY_INIT_OBJECT;
        if (member->inside[0] == '\0') {
            name_members(member, json);
        }
    }
    json_decref(json);
    return value;
}

static enum fby_init_value merge(enum fby_init_value a, enum fby_init_value b)
{
    if (a == b || a == FBY_INIT_NO_VALUE) {
        return b;
    }
    if (a <= FBY_INIT_TEXT && b <= FBY_INIT_TEXT) {
        return a > b ? a : b;
    }
    return FBY_INIT_MIXED;
}

void fby_guess_add_value(
    struct fby_init_member *member, const char *text, size_t size)
{
    if (member->value != FBY_INIT_MIXED) {
        member->value = merge(member->value, value_of(member, text, size));
    }
    raise_to(&member->longest, size);
}
