/* SPDX-License-Identifier: Apache-2.0 */
/* text_other_members.c - write the fields of texts and arrays in tar shards, and
 * say of each other member that is no picture and no label why no field reads
 * it. The keys of JSON are in text_values.c. */
#include <stdio.h>
#include <string.h>

#include "cli/init/names.h"
#include "cli/init/text_state.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

static bool is_array(const struct fby_init_member *member)
{
    return member->array.wire != 0 && member->invalid_reason[0] == '\0';
}

bool fby_init_has_other_fields(const struct fby_init_summary *data)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (member->always && (member->key[0] != '\0' || is_array(member) ||
                                  fby_init_is_text(member))) {
            return true;
        }
    }
    return false;
}

/* Write an unused name for the field of a member: its stem, else `fallback`. */
static void name_member(const struct fby_buffer *out,
    const struct fby_init_member *member, const char *fallback,
    char name[FBY_NAME_SIZE])
{
    fby_init_name_field(member, fallback, name);
    for (unsigned i = 2; fby_init_has_field(out, name); i++) {
        snprintf(name, FBY_NAME_SIZE, "%s_%u", fallback, i);
    }
}

static size_t append_text(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    char     name[FBY_NAME_SIZE];
    uint32_t limit      = fby_init_text_limit(member, member->longest);
    bool     is_caption = fby_init_has_type(member->extension, "caption");
    name_member(out, member, is_caption ? "caption" : "text", name);
    fby_init_append_limit_note(out, member);
    fby_init_printf(out,
        "  %s: {from: %s, decode: text, max_length: %u, too_long: truncate}\n",
        fby_init_write_name(name).text,
        fby_init_write_name(member->extension).text,
        limit < FBY_INIT_MAX_TEXT ? limit : FBY_INIT_MAX_TEXT);
    return 1;
}

/* Append a field of one shape, or of rows with any number of entries. */
static size_t append_array(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    const struct fby_init_array *array = &member->array;
    char                         name[FBY_NAME_SIZE];
    uint32_t                     first = array->is_ragged ? 1 : 0;
    name_member(out, member, "array", name);
    fby_init_printf(out, "  %s: {from: %s, decode: array, shape: [",
        fby_init_write_name(name).text,
        fby_init_write_name(member->extension).text);
    for (uint32_t i = first; i < array->shape.n_dims; i++) {
        fby_init_printf(
            out, "%s%u", i > first ? ", " : "", array->shape.dims[i]);
    }
    fby_init_append(out, "]");
    if (array->is_ragged) {
        fby_init_printf(out, ", max_length: %u",
            fby_init_text_limit(member, array->longest));
    }
    fby_init_printf(out, ", wire: %s}\n", fby_type_word(array->wire));
    return 1;
}

static uint32_t count_keys(
    const struct fby_init_summary *data, const struct fby_init_member *file)
{
    uint32_t n = 0;
    for (size_t i = 0; i < data->n_members; i++) {
        n += data->members[i].key[0] != '\0' &&
                     strcmp(data->members[i].extension, file->extension) == 0
                 ? 1
                 : 0;
    }
    return n;
}

/* The reason why keys of a JSON file have no fields; NULL: all have some, or a
 * comment. */
static const char *reason_of_json(
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    if (member->has_more_keys) {
        return "it has further keys: add a field for each that is needed";
    }
    if (count_keys(data, member) > 0) {
        return NULL;
    }
    return member->values_read == 0
               ? "init reads no file of more than 1 MiB: add a field for each "
                 "key that is needed"
               : "its objects have no keys";
}

/* True for the types in which webdataset saves objects of Python. */
static bool is_object_type(const struct fby_init_member *member)
{
    static const char *const types[] = {
        "npz", "pyd", "ten", "tenbin", "cbor", "mp", "msg"};
    bool found = false;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        found = found || fby_init_has_type(member->extension, types[i]);
    }
    return found;
}

enum { REASON_SIZE = 440 };

static const char *reason_of_file(
    const struct fby_init_member *member, char buffer[REASON_SIZE])
{
    struct fby_unread unread;
    char              name[FBY_NAME_SIZE + 2];
    snprintf(name, sizeof(name), "*.%s", member->extension);
    if (!fby_text_is_extension(member->extension)) {
        return "no field can have this name: rename its files";
    }
    if (!member->always) {
        return "some samples lack it: add it to all of them";
    }
    if (fby_unread_file(name, &unread)) {
        snprintf(buffer, REASON_SIZE, "%s", unread.text);
    } else if (is_object_type(member)) {
        return "it is not read: save each of its arrays as a member such as "
               "x.npy, and texts and numbers as json";
    } else if (fby_init_is_label(member)) {
        snprintf(buffer, REASON_SIZE,
            "it is a second label: if it is needed, add {from: %s, decode: "
            "label}",
            fby_init_write_name(member->extension).text);
    } else {
        snprintf(buffer, REASON_SIZE,
            "if it is text, add a field: {from: %s, decode: text, max_length: "
            "256, too_long: truncate}",
            fby_init_write_name(member->extension).text);
    }
    return buffer;
}

/* Append the field of a member, or a comment. Returns the number of fields. */
static size_t append_member(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    char        buffer[REASON_SIZE];
    const char *reason = NULL;
    if (member->invalid_reason[0] != '\0') {
        reason = member->invalid_reason;
    } else if (member->always && fby_init_is_text(member)) {
        return append_text(out, member);
    } else if (member->always && is_array(member)) {
        return append_array(out, member);
    } else if (fby_init_has_type(member->extension, "json")) {
        reason = reason_of_json(data, member);
    } else {
        reason = reason_of_file(member, buffer);
    }
    if (reason != NULL) {
        fby_init_append_left_out(out, "member", member->extension, reason);
    }
    return 0;
}

fby_err fby_init_refuse_other_members(
    const struct fby_init_summary *data, struct fby_error_detail *why)
{
    char buffer[REASON_SIZE];
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (member->invalid_reason[0] != '\0') {
            return fby_error_set(why, FBY_CONFIG, "%s", member->invalid_reason);
        }
        if (is_object_type(member)) {
            return fby_error_set(why, FBY_CONFIG, "%s: member %s: %s",
                fby_text_show(data->path).text, member->extension,
                reason_of_file(member, buffer));
        }
    }
    return FBY_OK;
}

size_t fby_init_append_other_members(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image)
{
    size_t n = 0;
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (member->key[0] == '\0' && member != fby_init_find_label(data) &&
            (image == NULL || !fby_init_is_picture_of(data, image, member))) {
            n += append_member(out, data, member);
        }
    }
    return n;
}
