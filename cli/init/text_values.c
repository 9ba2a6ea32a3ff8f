/* SPDX-License-Identifier: Apache-2.0 */
/* text_values.c - write the fields of values: columns of lists (.csv, .jsonl),
 * and keys of JSON members of tar samples. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/names.h"
#include "cli/init/text_state.h"
#include "cli/init/words.h"
#include "common/plural.h"
#include "pipeline/text.h"

uint32_t fby_init_round_up(uint32_t number)
{
    uint32_t power = 1;
    while (power < number) {
        power *= 2;
    }
    return power;
}

enum { MARGIN = 4, LEAST_LIMIT = 64 /* bytes */ };

uint32_t fby_init_text_limit(
    const struct fby_init_member *member, uint32_t longest)
{
    if (!member->some_words_unread) {
        return fby_init_round_up(longest);
    }
    uint32_t limit = fby_init_round_up(MARGIN * longest);
    return limit > LEAST_LIMIT ? limit : LEAST_LIMIT;
}

void fby_init_append_limit_note(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    if (member->some_words_unread) {
        fby_init_append(out, "  # Not all texts were read: max_length has a "
                             "margin, and longer texts are cut.\n");
    }
}

static void append_left_out(struct fby_buffer *out,
    const struct fby_init_member *member, const char *reason)
{
    bool is_root = strcmp(member->key, FBY_INIT_ROOT_KEY) == 0;
    bool has_key = member->key[0] != '\0' && !is_root;
    fby_init_append_left_out(out,
        is_root   ? "member"
        : has_key ? "key"
                  : "column",
        has_key ? member->key : member->extension, reason);
}

/* Append a comment that no field can have the name of this column or key. */
static void append_name_left_out(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    char reason[FBY_NAME_SIZE + 64];
    char name[FBY_NAME_SIZE];
    fby_init_propose_name(
        member->key[0] != '\0' ? member->key : member->extension, name);
    snprintf(reason, sizeof(reason),
        "no field can have this name: rename it, as in %s", name);
    append_left_out(out, member, reason);
}

/* Append a comment that some samples have no such value. */
static void append_gaps(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    char     reason[160] = "some samples lack it: add it to all of them";
    char     first[48]   = "";
    uint64_t row = member->gap_row > 0 ? member->gap_row : member->n_values + 1;
    if (member->n_values > 0) { /* else all rows lack it */
        snprintf(first, sizeof(first), " (the first is row %" PRIu64 ")", row);
    }
    if (member->has_null) {
        snprintf(reason, sizeof(reason),
            "it is null in some samples: write a value into all of them");
    } else if (member->key[0] == '\0' && data->samples > 0) {
        snprintf(reason, sizeof(reason),
            "it has no value in %s of %" PRIu64 "%s: write one into each",
            fby_plural(data->samples - member->count, "row").text,
            data->samples, first);
    }
    append_left_out(out, member, reason);
}

/* Append comments: the keys (without quotes), and a field of the first key. */
static void append_object(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    char field[sizeof(member->keys)];
    char key[sizeof(member->keys)];
    int  key_length  = (int)strcspn(member->keys, ",");
    int  name_length = (int)strcspn(member->keys, ",.");
    if (key_length == 0) {
        append_left_out(
            out, member, "its values are objects without plain keys");
        return;
    }
    append_left_out(out, member,
        "its values are objects: add a field for each member that is needed; "
        "the file lists them");
    fby_init_printf(out, "  #   members: %s\n", member->keys);
    if (member->first_key_kind == FBY_INIT_MIXED) {
        return;
    }
    snprintf(field, sizeof(field), "%.*s", name_length, member->keys);
    snprintf(key, sizeof(key), "%.*s", key_length, member->keys);
    fby_init_printf(out, "  #   %s: {from: %s, decode: %s, key: %s%s}\n",
        fby_init_write_name(field).text, fby_init_write_name(name).text,
        member->first_key_kind == FBY_INIT_NUMBER ? "number" : "text",
        fby_init_write_name(key).text,
        member->first_key_kind == FBY_INIT_NUMBER ? "" : ", max_length: 256");
}

/* True for numbers of which f32 cannot hold all. */
static bool is_wide(const struct fby_init_member *member)
{
    return member->has_wide && (member->value == FBY_INIT_NUMBER ||
                                   member->value == FBY_INIT_NUMBER_LISTS);
}

/* The key `wire` for numbers: an integer type for whole numbers, if all of them
 * were read, as in a list. */
static const char *wire_of(const struct fby_init_member *member)
{
    bool is_whole = member->has_whole && !member->has_real &&
                    member->key[0] == '\0' &&
                    (member->value == FBY_INIT_NUMBER ||
                        member->value == FBY_INIT_NUMBER_LISTS);
    return is_wide(member) || (is_whole && member->has_long) ? ", wire: i64"
           : is_whole ? ", wire: i32, out: {dtype: i64}"
                      : "";
}

/* True if no wire type can hold all numbers as they are. */
static bool needs_two_types(const struct fby_init_member *member)
{
    return is_wide(member) && member->has_real;
}

/* The reason why no field has the values, and what to do. */
static const char *reason_of(const struct fby_init_member *member)
{
    bool has_key = member->key[0] != '\0';
    if (member->value == FBY_INIT_OBJECT) {
        return "its values are objects: add a field for each member that is "
               "needed, as {from: json, decode: number, key: a.b.c}";
    }
    if (member->value == FBY_INIT_BOOLEANS) {
        return "its values are true and false: write 1 and 0, which a label "
               "can be";
    }
    if (member->value == FBY_INIT_NULLS) {
        return "its values are all null: write numbers or texts";
    }
    if (member->has_inner_lists) {
        return has_key ? "its lists hold lists: write one list of numbers into "
                         "each sample, as [1, 2, 3, 4, 5, 6, 7, 8] for two "
                         "boxes and [] for none"
                       : "its lists hold lists: write one list of numbers into "
                         "each row, as [1, 2, 3, 4, 5, 6, 7, 8] for two boxes "
                         "and [] for none";
    }
    if (member->value == FBY_INIT_OTHER_LISTS) {
        return "its lists hold other values than texts or numbers: add a field "
               "for each entry that is needed (key: \"0\" is the first)";
    }
    return has_key ? "its values are of several kinds: write numbers into all "
                     "samples, or texts, or lists of numbers (also []), or "
                     "lists of texts"
                   : "its values are of several kinds: write numbers into all "
                     "rows, or texts, or lists of numbers (also []), or lists "
                     "of texts";
}

/* Are the texts of a list captions, of which each is one of the sample? */
static bool are_captions(const char *name)
{
    static const char *const words[] = {"cap", "caps", NULL};
    return strstr(name, "caption") != NULL || strstr(name, "descr") != NULL ||
           fby_text_is_one_of(name, words);
}

/* Append a field that takes one text of each list, if these are captions: other
 * lists, as of words or tags, are a value as a whole. They get a comment with the
 * field. Returns true if a field was appended. */
static bool append_texts(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name, const char *from,
    const char *key)
{
    bool is_field = are_captions(name);
    if (is_field) {
        fby_init_append_limit_note(out, member);
    } else {
        append_left_out(out, member,
            "its values are lists of texts, and a field takes one of them: "
            "write one text or a list of numbers into each; for one at random, "
            "as of captions, the file has the field");
    }
    fby_init_printf(out,
        "  %s%s: {from: %s, decode: text, key: ", is_field ? "" : "#   ",
        fby_init_write_name(name).text, fby_init_write_name(from).text);
    fby_init_append_key(out, key);
    fby_init_printf(out,
        ", pick: random, max_length: %u, too_long: truncate}\n",
        fby_init_text_limit(member, member->max_length));
    return is_field;
}

/* Append a field for a column of lists, or a comment for a column that cannot
 * be a field. Returns true if a field was appended. */
static bool append_list_column(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    bool        has_key = member->key[0] != '\0';
    const char *from    = has_key ? member->extension : name;
    const char *key     = has_key ? member->key : FBY_INIT_ROOT_KEY;
    if (member->value == FBY_INIT_NUMBER_LISTS) {
        uint32_t length = has_key ? fby_init_round_up(member->max_length)
                                  : member->max_length;
        fby_init_printf(out, "  %s: {from: %s, decode: number, key: ",
            fby_init_write_name(name).text, fby_init_write_name(from).text);
        fby_init_append_key(out, key);
        fby_init_printf(out, ", max_length: %u%s}\n",
            length > 0 ? length : 1, /* 0 is invalid */
            wire_of(member));
        return true;
    }
    if (member->value == FBY_INIT_TEXT_LISTS) {
        return append_texts(out, member, name, from, key);
    }
    if (member->value == FBY_INIT_OBJECT && !has_key) {
        append_object(out, member, name);
    } else {
        append_left_out(out, member, reason_of(member));
    }
    return false;
}

bool fby_init_has_field(const struct fby_buffer *out, const char *name)
{
    char line[FBY_NAME_SIZE + 16];
    int  n =
        snprintf(line, sizeof(line), "\n  %s:", fby_init_write_name(name).text);
    size_t begin_size = (size_t)n - 1; /* of the first line, without "\n" */
    return out->size >= begin_size &&
           (memmem(out->data, out->size, line, (size_t)n) != NULL ||
               memcmp(out->data, line + 1, begin_size) == 0);
}

/* Write the text that the field of a key is named after: "a.b" gives "a_b", and
 * JSON that is no object has the name of its file. */
static void write_base(
    const struct fby_init_member *member, char out[FBY_NAME_SIZE])
{
    bool        is_root = strcmp(member->key, FBY_INIT_ROOT_KEY) == 0;
    const char *text    = is_root ? member->extension : member->key;
    size_t      n       = strcspn(text, is_root ? "." : "");
    snprintf(out, FBY_NAME_SIZE, "%.*s", (int)n, text);
    for (char *c = out; *c != '\0'; c++) {
        if (*c == '.') {
            *c = '_';
        }
    }
}

/* Write the name of the field of a column or of a key. If `out` has that of a
 * key, it begins with json_. Returns false if no name is valid. */
static bool name_value(const struct fby_buffer *out,
    const struct fby_init_member *member, char name[FBY_NAME_SIZE])
{
    char base[FBY_NAME_SIZE];
    char longer[FBY_NAME_SIZE + 8];
    if (member->key[0] == '\0') {
        return fby_init_to_field_name(member->extension, name);
    }
    write_base(member, base);
    fby_init_propose_name(base, name);
    if (fby_init_has_field(out, name)) {
        snprintf(longer, sizeof(longer), "json_%s", name);
        return fby_init_to_field_name(longer, name) &&
               !fby_init_has_field(out, name);
    }
    return true;
}

/* Append the field of a JSON key with a number or a text. */
static void append_key(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    if (fby_init_are_classes(member)) {
        fby_init_append_class_field(out, member, name);
        return;
    }
    fby_init_append_no_classes(out, member);
    if (member->value == FBY_INIT_TEXT) {
        fby_init_append_limit_note(out, member);
    }
    fby_init_printf(out,
        "  %s: {from: %s, decode: %s, key: ", fby_init_write_name(name).text,
        fby_init_write_name(member->extension).text,
        member->value == FBY_INIT_DIGITS   ? "label"
        : member->value == FBY_INIT_NUMBER ? "number"
                                           : "text");
    fby_init_append_key(out, member->key);
    fby_init_append(out, wire_of(member));
    if (member->value == FBY_INIT_TEXT) {
        fby_init_printf(out, ", max_length: %u, too_long: truncate",
            fby_init_text_limit(member, member->longest));
    }
    fby_init_append(out, "}\n");
}

/* Append the field of a column with a number or a text. */
static void append_column(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    if (fby_init_are_classes(member)) {
        fby_init_append_class_field(out, member, name);
        return;
    }
    fby_init_append_no_classes(out, member);
    fby_init_printf(out, "  %s: {from: %s, ", fby_init_write_name(name).text,
        fby_init_write_name(member->extension).text);
    if (member->value == FBY_INIT_DIGITS) {
        fby_init_append(
            out, "decode: label} # if these are class ids: classes: N\n");
    } else if (member->value == FBY_INIT_NUMBER) {
        fby_init_printf(
            out, "decode: number, key: \".\"%s}\n", wire_of(member));
    } else {
        fby_init_printf(out,
            "decode: text, max_length: %u, too_long: truncate}\n",
            fby_init_round_up(member->longest));
    }
}

/* Append the field of a column of values, or of a JSON key. Returns the number
 * of fields. */
static size_t append_value_column(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    char name[FBY_NAME_SIZE];
    if (member->has_dots) {
        append_left_out(
            out, member, "no field can read a name with dots: rename it");
        return 0;
    }
    if (!name_value(out, member, name)) {
        append_name_left_out(out, member);
        return 0;
    }
    if (!member->always && member->value != FBY_INIT_NULLS) {
        append_gaps(out, data, member);
        return 0;
    }
    if (needs_two_types(member)) {
        append_left_out(out, member,
            "f32 cannot hold its largest whole numbers exactly: write them "
            "with a point, as 5.0");
        return 0;
    }
    if (member->value > FBY_INIT_TEXT) { /* lists, objects, mixed */
        return append_list_column(out, member, name) ? 1 : 0;
    }
    if (member->key[0] != '\0') {
        append_key(out, member, name);
    } else {
        append_column(out, member, name);
    }
    return 1;
}

/* True for a key of JSON files of which one is invalid. */
static bool has_invalid_file(
    const struct fby_init_summary *data, const struct fby_init_member *key)
{
    bool found = false;
    for (size_t i = 0; key->key[0] != '\0' && i < data->n_members; i++) {
        found = found ||
                (data->members[i].invalid_reason[0] != '\0' &&
                    strcmp(data->members[i].extension, key->extension) == 0);
    }
    return found;
}

enum { FURTHER_SIZE = 160 };

/* Append a name, if there is room for it and for dots. */
static void append_further(
    char list[FURTHER_SIZE], const struct fby_init_member *member)
{
    const char *name = member->key[0] != '\0' ? member->key : member->extension;
    size_t      used = strlen(list);
    bool        fits = used + strlen(name) + strlen(", , ...") < FURTHER_SIZE;
    bool        ended = used > 3 && strcmp(list + used - 3, "...") == 0;
    if (!ended) {
        fby_text_append_name(list, FURTHER_SIZE, fits ? name : "...");
    }
}

size_t fby_init_append_values(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    size_t n                     = 0;
    char   further[FURTHER_SIZE] = "";
    for (size_t i = 0; i < data->n_members; i++) {
        if (data->members[i].value == FBY_INIT_NO_VALUE ||
            has_invalid_file(data, &data->members[i])) {
            continue;
        }
        if (n == FBY_INIT_MAX_VALUES) {
            append_further(further, &data->members[i]);
        } else {
            n += append_value_column(out, data, &data->members[i]);
        }
    }
    if (further[0] != '\0') {
        fby_init_printf(out,
            "  # left out: further values (%s%s): init writes %d fields of "
            "values "
            "at most: add those that are needed\n",
            further, data->n_members < FBY_MAX_FIELDS ? "" : ", ...",
            FBY_INIT_MAX_VALUES);
    }
    return n;
}
