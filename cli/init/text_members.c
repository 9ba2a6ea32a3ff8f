/* SPDX-License-Identifier: Apache-2.0 */
/* text_members.c - write the fields of pictures, masks and labels.
 *
 * A member is a file or value of a sample, and is known by its extension:
 * "jpg", or "mask.png" with the name "mask" before the dot. One picture of
 * each sample is the image: enum image_rank says which. PNG files of ids (each
 * pixel is a class) beside it are masks, and get those ops of the image that
 * move pixels. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/names.h"
#include "cli/init/text_state.h"
#include "cli/init/words.h"
#include "common/plural.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

/* The bytes before the last dot (the stem): 4 for "mask.png", 0 for "jpg". */
static size_t stem_length(const char *extension)
{
    const char *dot = strrchr(extension, '.');
    return dot != NULL ? (size_t)(dot - extension) : 0;
}

static bool same_stem(
    const struct fby_init_member *a, const struct fby_init_member *b)
{
    size_t n = stem_length(a->extension);
    return stem_length(b->extension) == n &&
           memcmp(a->extension, b->extension, n) == 0;
}

/* How likely a member is the image, the most likely first. */
enum image_rank {
    RANK_NO_STEM,   /* a picture without a name before its extension */
    RANK_COLOURS,   /* a picture of colours */
    RANK_BOTH,      /* the same, with usual names of images and of masks */
    RANK_NAMED_IDS, /* a picture of ids, with a usual name of images */
    RANK_GREY16,    /* grey of 16 bits, as depths, beside colours of 8 bits */
    RANK_OTHER_IDS, /* another picture of ids */
    RANK_PARTNER,   /* no ids, with a usual name of masks */
    RANK_NO_PICTURE
};

/* True for a usual name of masks and their like, which have no ids here. */
static bool is_partner(const struct fby_init_member *member)
{
    return stem_length(member->extension) > 0 &&
           fby_init_is_partner_name(member->extension) &&
           !fby_init_is_picture_name(member->extension);
}

/* True if all samples also have a picture of 8-bit colours that is no partner. */
static bool has_colours_beside(
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *other = &data->members[i];
        if (other != member && fby_init_is_picture(other) && other->always &&
            !other->may_be_ids && !other->is_grey16 && !is_partner(other)) {
            return true;
        }
    }
    return false;
}

static enum image_rank rank_of(
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    if (!fby_init_is_picture(member)) {
        return RANK_NO_PICTURE;
    }
    if ((member->may_be_ids || member->is_grey16) && member->always &&
        has_colours_beside(data, member)) { /* its mask, or its depths */
        return member->is_grey16 ? RANK_GREY16 : RANK_OTHER_IDS;
    }
    if (stem_length(member->extension) == 0) {
        return RANK_NO_STEM;
    }
    if (!member->may_be_ids) {
        return is_partner(member)                            ? RANK_PARTNER
               : fby_init_is_partner_name(member->extension) ? RANK_BOTH
                                                             : RANK_COLOURS;
    }
    return fby_init_is_picture_name(member->extension) ? RANK_NAMED_IDS
                                                       : RANK_OTHER_IDS;
}

const struct fby_init_member *fby_init_find_image(
    const struct fby_init_summary *data)
{
    const struct fby_init_member *best = NULL;
    for (size_t i = 0; i < data->n_members; i++) {
        enum image_rank rank = rank_of(data, &data->members[i]);
        if (rank < RANK_NO_PICTURE &&
            (best == NULL || rank < rank_of(data, best))) {
            best = &data->members[i];
        }
    }
    return best;
}

/* They have the same rank. If extensions begin with a column or folder, or the
 * image has ids, the stems are also the same. */
bool fby_init_is_same_image(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member)
{
    if (!fby_init_is_picture(member) ||
        rank_of(data, member) != rank_of(data, image)) {
        return false;
    }
    bool are_two =
        member != image && member->always && image->always &&
        !member->may_be_ids; /* a sample with both has two pictures */
    if (data->kind == FBY_SOURCE_SHARDS && are_two) {
        return false;
    }
    bool needs_same_stem =
        fby_source_traits(data->kind)->has_names || image->may_be_ids;
    return !needs_same_stem || same_stem(image, member);
}

void fby_init_name_field(const struct fby_init_member *member,
    const char *fallback, char out[FBY_NAME_SIZE])
{
    char   stem[FBY_NAME_SIZE];
    size_t n = stem_length(member->extension);
    memcpy(stem, member->extension, n);
    stem[n] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (stem[i] == '.') {
            stem[i] = '_';
        }
    }
    if (n == 0 || !fby_init_to_field_name(stem, out)) {
        snprintf(out, FBY_NAME_SIZE, "%s", fallback);
    }
}

static void name_image(const struct fby_init_summary *data,
    const struct fby_init_member *image, char out[FBY_NAME_SIZE])
{
    if (fby_source_traits(data->kind)->has_names) {
        fby_init_name_field(image, "image", out);
    } else {
        snprintf(out, FBY_NAME_SIZE, "image");
    }
}

/* Append the key `from` with the extensions of the image in all its formats. */
static void append_from(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image)
{
    char   list[FBY_MAX_FROM * (FBY_NAME_SIZE + 2)];
    size_t n    = 0;
    list[0]     = '\0';
    size_t used = 0;
    for (size_t i = 0; i < data->n_members && n < FBY_MAX_FROM; i++) {
        if (fby_init_is_same_image(data, image, &data->members[i])) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                n > 0 ? ", " : "",
                fby_init_write_name(data->members[i].extension).text);
            n++;
        }
    }
    fby_init_append(out, n > 1 ? "    from: [" : "    from: ");
    fby_init_append(out, list);
    fby_init_append(out, n > 1 ? "]\n" : "\n");
}

/* Append the value of `only`: the splits other than train. */
static void append_others(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    for (size_t i = 0; i < data->n_others; i++) {
        fby_init_printf(out, "%s%s",
            i > 0                ? ", "
            : data->n_others > 1 ? "["
                                 : "",
            fby_init_write_name(data->others[i].name).text);
    }
    fby_init_append(out, data->n_others > 1 ? "]" : "");
}

/* Append the ops of an image or a mask: random ones for train, and none of them
 * for splits of evaluation. Coordinates, and arrays with a value for each pixel, stay
 * with the picture only if all of it is kept as it lies. */
static void append_ops(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    char names[FBY_INIT_COORDINATES];
    if (fby_init_list_coordinates(data, names, sizeof(names)) ||
        fby_init_list_maps(data, names, sizeof(names))) {
        fby_init_append(
            out, "      - resize: {size: 224}        # or [HEIGHT, WIDTH]\n");
        return;
    }
    if (data->evaluation_split != NULL) {
        fby_init_append(out, "      - resize: {shorter: 256}\n"
                             "      - center_crop: {size: 224}\n");
        return;
    }
    fby_init_append(out,
        "      - random_resized_crop: {size: 224, scale: [0.08, 1.0], only: "
        "train}\n");
    if (!fby_init_list_flipped(data, names, sizeof(names))) {
        fby_init_append(
            out, "      - horizontal_flip: {p: 0.5, only: train}\n");
    }
    if (data->n_others == 0) {
        fby_init_append(out, "      # with a split val:\n"
                             "      # - resize: {shorter: 256, only: val}\n"
                             "      # - center_crop: {size: 224, only: val}\n");
        return;
    }
    fby_init_append(out, "      - resize: {shorter: 256, only: ");
    append_others(out, data);
    fby_init_append(out, "}\n      - center_crop: {size: 224, only: ");
    append_others(out, data);
    fby_init_append(out, "}\n");
}

/* Say why the ops of the image move nothing at random. */
static void append_coordinates(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    char names[FBY_INIT_COORDINATES];
    if (fby_init_list_coordinates(data, names, sizeof(names))) {
        fby_init_printf(out,
            "    # No crop and no flip, because no op moves coordinates (%s)\n"
            "    # with the picture. They must be relative to it (0 to 1); "
            "others are those of\n    # the original picture.\n",
            names);
    } else if (data->evaluation_split == NULL &&
               fby_init_list_flipped(data, names, sizeof(names))) {
        fby_init_printf(out,
            "    # No flip, because it would change left and right (%s).\n",
            names);
    }
    if (fby_init_list_maps(data, names, sizeof(names))) {
        fby_init_printf(out,
            "    # No crop and no flip, because no op moves the values of the "
            "pixels in\n    # %s with the picture.\n",
            names);
    }
}

/* Append what all fields of pictures have after `from` and `group`. */
static void append_picture(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    fby_init_append(out, "    ops:                    # on the workers\n");
    append_ops(out, data);
    fby_init_append(out,
        "    device:                 # at the trainer; of values 0..1: the "
        "mean "
        "and std of\n"
        "                            # ImageNet, which most pretrained models "
        "expect\n"
        "      - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, "
        "0.225]}\n"
        "    out: {dtype: f32, layout: chw}\n");
}

static void append_image(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image)
{
    char name[FBY_NAME_SIZE];
    name_image(data, image, name);
    fby_init_printf(out, "  %s:\n", fby_init_write_name(name).text);
    append_from(out, data, image);
    append_coordinates(out, data);
    fby_init_append(out, "    decode: rgb8\n");
    append_picture(out, data);
}

bool fby_init_is_mask(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member)
{
    return fby_init_is_picture(member) && member->may_be_ids &&
           member->always && !fby_init_is_same_image(data, image, member);
}

const struct fby_init_member *fby_init_find_label(
    const struct fby_init_summary *data)
{
    for (size_t i = 0; i < data->n_members; i++) {
        if (fby_init_is_label(&data->members[i]) &&
            data->members[i].invalid_reason[0] == '\0') {
            return &data->members[i];
        }
    }
    return NULL;
}

static bool has_classes(const struct fby_init_summary *data)
{
    return fby_source_traits(data->kind)->has_classes && !data->flat;
}

/* True if labels are possible: from class folders or .cls members. */
static bool has_label(const struct fby_init_summary *data)
{
    return has_classes(data) || fby_init_find_label(data) != NULL;
}

enum { MAX_MASKS = FBY_MAX_FIELDS - 2 }; /* beside the image and a label */

/* Names of fields in use: of the image, the label, masks and further pictures. */
struct used_names {
    char   names[MAX_MASKS + 2][FBY_NAME_SIZE];
    size_t n;
};

static bool is_name_used(const struct used_names *used, const char *name)
{
    size_t i = 0;
    while (i < used->n && strcmp(used->names[i], name) != 0) {
        i++;
    }
    return i < used->n;
}

/* Use the names of the image, and of the label if there is one. */
static void use_names(const struct fby_init_summary *data,
    const struct fby_init_member *image, struct used_names *out)
{
    *out = (struct used_names){.names = {"", "label"}};
    name_image(data, image, out->names[0]);
    out->n = has_label(data) ? 2 : 1; /* without a label, its name is free */
}

/* Add a unique name for a mask or picture to `used`: its stem, else `kind`, as
 * "mask", then "mask_2". */
static const char *add_name(struct used_names *used,
    const struct fby_init_member *member, const char *kind)
{
    char *name = used->names[used->n];
    fby_init_name_field(member, kind, name);
    if (is_name_used(used, name)) {
        snprintf(name, FBY_NAME_SIZE, "%s", kind);
    }
    for (unsigned i = 2; is_name_used(used, name); i++) {
        snprintf(name, FBY_NAME_SIZE, "%s_%u", kind, i);
    }
    used->n++;
    return name;
}

static size_t append_masks(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image,
    struct used_names *used)
{
    size_t      n     = 0;
    const char *group = used->names[0]; /* masks move with the image */
    for (size_t i = 0; i < data->n_members && n < MAX_MASKS; i++) {
        if (!fby_init_is_mask(data, image, &data->members[i])) {
            continue;
        }
        fby_init_printf(out, "  %s:\n    from: %s\n",
            fby_init_write_name(add_name(used, &data->members[i], "mask")).text,
            fby_init_write_name(data->members[i].extension).text);
        fby_init_printf(out,
            "    decode: mask8           # class ids, unchanged; for several "
            "masks of 0 and 1: decode: maps\n    group: %s\n",
            fby_init_write_name(group).text);
        fby_init_append_fit(out, data, image, &data->members[i]);
        fby_init_append(out,
            "    ops:                    # those of its picture that move "
            "pixels, in order\n");
        append_ops(out, data);
        n++;
    }
    return n;
}

bool fby_init_is_left_out(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member)
{
    return fby_init_is_picture(member) && member->always &&
           !fby_init_is_same_image(data, image, member) && !member->may_be_ids;
}

/* Append the lines of `field` as comments. */
static void append_commented(
    struct fby_buffer *out, const struct fby_buffer *field)
{
    const char *line = (const char *)field->data;
    const char *end  = line + field->size;
    while (line < end) {
        const char *next =
            (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        fby_init_append(out, "  # "); /* in place of two blanks */
        fby_put_bytes(out, line + 2, (size_t)(next - line) - 2);
        line = next;
    }
}

/* Append the field of a second picture as a comment. */
static void append_second_picture(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *member,
    struct used_names *used)
{
    struct fby_buffer field = {0};
    if (used->n == sizeof(used->names) / sizeof(used->names[0])) {
        return;
    }
    fby_init_printf(&field, "  %s:\n    from: %s\n    decode: rgb8\n",
        fby_init_write_name(add_name(used, member, "picture")).text,
        fby_init_write_name(member->extension).text);
    fby_init_printf(
        &field, "    group: %s\n", fby_init_write_name(used->names[0]).text);
    append_picture(&field, data);
    append_commented(out, &field);
    fby_buffer_fini(&field);
}

/* Say of each other picture why it is no mask. */
static void append_left_out_pictures(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image,
    struct used_names *used)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (!fby_init_is_left_out(data, image, member)) {
            continue;
        }
        fby_init_printf(out,
            "  # %s is left out: as a mask, %s.\n"
            "  # A mask is a PNG in grey or with a palette.%s",
            member->extension,
            member->no_ids[0] != '\0' ? member->no_ids
            : fby_init_has_type(member->extension, "png")
                ? "its colours, alpha or 16 bits are no ids"
                : "its lossy compression changes ids",
            member->is_grey16 ? "\n"
                              : " If it is a second picture,\n"
                                "  # remove the # of its lines:\n");
        if (!member->is_grey16) {
            append_second_picture(out, data, member, used);
        }
    }
}

static size_t append_folder_label(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    fby_init_append(out,
        "  label:\n    from: folder            # the number of "
        "the class folder, by name\n");
    if (data->classes > 0) {
        fby_init_printf(out, "    classes: %u\n", data->classes);
    }
    fby_init_printf(out,
        "    # one_hot: {classes: %u, smoothing: 0.1}    # instead of "
        "numbers\n",
        data->classes > 0 ? data->classes : 1000);
    return 1;
}

/* True if there are .cls members, also invalid ones. */
static bool has_cls(const struct fby_init_summary *data)
{
    size_t i = 0;
    while (i < data->n_members && !fby_init_is_label(&data->members[i])) {
        i++;
    }
    return i < data->n_members;
}

static size_t append_label(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    if (has_classes(data)) {
        return append_folder_label(out, data);
    }
    const struct fby_init_member *cls = fby_init_find_label(data);
    if (cls == NULL) {
        if (!fby_source_traits(data->kind)->has_files && !has_cls(data)) {
            fby_init_append(
                out, "  # no label: the shards hold no .cls members\n");
        }
        return 0;
    }
    if (cls->has_words && fby_init_are_classes(cls)) {
        fby_init_append_class_field(out, cls, "label");
        fby_init_append(out,
            "    # one_hot: {smoothing: 0.1}    # a key beside names, instead "
            "of numbers\n");
        return 1;
    }
    if (cls->has_words) {
        fby_init_append_no_classes(out, cls);
        fby_init_printf(out,
            "  label:                    # words, so no class ids: their "
            "bytes\n"
            "    from: %s\n    decode: text\n    max_length: %u\n",
            fby_init_write_name(cls->extension).text,
            fby_init_text_limit(cls, cls->longest));
        return 1;
    }
    fby_init_printf(out,
        "  label:\n    from: %s               # decimal text of this member\n"
        "    # one_hot: {classes: 1000, smoothing: 0.1}    # instead of "
        "numbers\n",
        fby_init_write_name(cls->extension).text);
    return 1;
}

size_t fby_init_list_extensions(
    const struct fby_init_summary *data, char *out, size_t capacity)
{
    size_t n    = 0;
    size_t used = 0;
    out[0]      = '\0';
    for (size_t i = 0; i < data->n_members && n < FBY_MAX_FROM; i++) {
        const char *extension = data->members[i].extension;
        if (data->members[i].key[0] == '\0' &&
            fby_text_is_extension(extension) &&
            used + strlen(", ") + strlen(extension) + 1 < capacity) {
            used += (size_t)snprintf(out + used, capacity - used, "%s%s",
                n > 0 ? ", " : "", extension);
            n++;
        }
    }
    return n;
}

/* A text file of each sample is probably a caption, but was not read: append a
 * comment. */
static void append_text(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    fby_init_append_left_out(out, "text", member->extension,
        member->always
            ? "choose its max_length in the file, and remove the # there"
            : "some samples lack it: add it to all of them");
    if (member->always) {
        fby_init_printf(out,
            "  # text: {from: %s, decode: text, max_length: 256, too_long: "
            "truncate}\n",
            fby_init_write_name(member->extension).text);
    }
}

static void append_texts(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (fby_init_is_text(member)) {
            append_text(out, member);
        }
    }
}

bool fby_init_is_picture_of(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member)
{
    return fby_init_is_same_image(data, image, member) ||
           fby_init_is_mask(data, image, member) ||
           fby_init_is_left_out(data, image, member);
}

/* True if a field or another comment has the files of this column of a list. */
static bool has_field_or_comment(const struct fby_init_summary *data,
    const struct fby_init_member *image, const char *column)
{
    size_t n     = strlen(column);
    bool   found = false;
    for (size_t i = 0; image != NULL && i < data->n_members && !found; i++) {
        const struct fby_init_member *member = &data->members[i];
        found = stem_length(member->extension) == n &&
                memcmp(member->extension, column, n) == 0 &&
                (fby_init_is_picture_of(data, image, member) ||
                    fby_init_is_label(member) || fby_init_is_text(member));
    }
    return found;
}

/* The number of files of a column of a list. *member is one kind of them. */
static uint64_t count_files(const struct fby_init_summary *data,
    const char *column, const struct fby_init_member **member)
{
    size_t   n     = strlen(column);
    uint64_t files = 0;
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *other = &data->members[i];
        if (other->value == FBY_INIT_NO_VALUE &&
            strncmp(other->extension, column, n) == 0 &&
            other->extension[n] == '.') {
            files += other->count;
            *member = other;
        }
    }
    return files;
}

enum { REASON_SIZE = 440 };

/* Write why no field reads the files of a kind. */
static void explain_kind(
    const struct fby_init_member *member, char reason[REASON_SIZE])
{
    struct fby_unread unread;
    const char       *type = strrchr(member->extension, '.');
    char              name[FBY_NAME_SIZE + 1];
    snprintf(name, sizeof(name), "*%s", type);
    if (member->invalid_reason[0] != '\0') {
        snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1,
            member->invalid_reason);
    } else if (fby_init_has_type(member->extension, "npy")) {
        snprintf(reason, REASON_SIZE,
            "add a field: {from: %s, decode: array, shape: [N], wire: "
            "f32}; " FBY_KEEP_PIXELS,
            fby_init_write_name(member->extension).text);
    } else if (fby_unread_file(name, &unread)) {
        snprintf(reason, REASON_SIZE, "%s", unread.text);
    } else if (fby_init_is_picture(member)) {
        snprintf(reason, REASON_SIZE,
            "its pictures are of several types: save all as PNG");
    } else {
        snprintf(reason, REASON_SIZE,
            "its files are no pictures (%s): add a field if they are needed",
            type);
    }
}

/* Say why no field has the files of the column. */
static void append_file_column(struct fby_buffer *out,
    const struct fby_init_summary *data, const char *column)
{
    char                          reason[REASON_SIZE];
    const struct fby_init_member *member = NULL;
    uint64_t                      files  = count_files(data, column, &member);
    if (files < data->samples) {
        snprintf(reason, sizeof(reason),
            "it has no file in %s of %" PRIu64 ": write one into each",
            fby_plural(data->samples - files, "row").text, data->samples);
    } else if (member != NULL) {
        explain_kind(member, reason);
    } else {
        snprintf(reason, sizeof(reason), "its files have no extension");
    }
    fby_init_append_left_out(out, "column", column, reason);
}

static void append_file_columns(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image)
{
    for (size_t i = 0; i < data->n_files; i++) {
        if (!has_field_or_comment(data, image, data->files[i])) {
            append_file_column(out, data, data->files[i]);
        }
    }
}

size_t fby_init_append_members(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    const struct fby_init_member *image  = fby_init_find_image(data);
    struct fby_buffer             fields = {0};
    struct used_names             used;
    bool                          is_tar = data->kind == FBY_SOURCE_SHARDS;
    size_t                        n      = 0;
    if (image != NULL) {
        use_names(data, image, &used);
        append_image(&fields, data, image);
        n += 1 + append_masks(&fields, data, image, &used);
        append_left_out_pictures(&fields, data, image, &used);
    }
    if (image != NULL || (is_tar && fby_init_has_other_fields(data))) {
        n += append_label(&fields, data);
    }
    if (is_tar) {
        n += fby_init_append_other_members(&fields, data, image);
    } else if (image != NULL) {
        append_texts(&fields, data);
    }
    append_file_columns(&fields, data, image);
    n += fby_init_append_values(&fields, data);
    fby_init_append(out, "fields:\n");
    fby_put_bytes(out, fields.data, fields.size);
    fby_buffer_fini(&fields);
    return n;
}
