/* SPDX-License-Identifier: Apache-2.0 */
/* text_members.c - write the fields of pictures, masks, labels and values.
 *
 * A member is a file or value of a sample, and is known by its extension:
 * "jpg", or "mask.png" with the name "mask" before the dot. One picture of
 * each sample is the image: enum image_rank says which. PNG files of ids (each
 * pixel is a class) beside it are masks, and get those ops of the image that
 * move pixels. */
#include <stdio.h>
#include <string.h>

#include "cli/init/text_state.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

/* True if the extension is `type` or ends with a dot and `type`. */
static bool has_type(const char *extension, const char *type)
{
    const char *dot = strrchr(extension, '.');
    return strcmp(dot != NULL ? dot + 1 : extension, type) == 0;
}

static bool is_picture(const struct fby_init_member *member)
{
    return member->value == FBY_INIT_NO_VALUE &&
           fby_text_is_extension(member->extension) &&
           (has_type(member->extension, "jpg") ||
               has_type(member->extension, "jpeg") ||
               has_type(member->extension, "png"));
}

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

static bool contains_any(const char *name, const char *const *words, size_t n)
{
    char lower[FBY_NAME_SIZE];
    (void)fby_init_to_field_name(name, lower);
    for (size_t i = 0; i < n; i++) {
        if (strstr(lower, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

bool fby_init_is_picture_name(const char *name)
{
    static const char *const words[] = {
        "image", "img", "photo", "picture", "rgb", "input"};
    return contains_any(name, words, sizeof(words) / sizeof(words[0]));
}

bool fby_init_is_partner_name(const char *name)
{
    static const char *const words[] = {
        "mask", "label", "annot", "seg", "truth", "target", "depth", "ids"};
    return contains_any(name, words, sizeof(words) / sizeof(words[0]));
}

/* How likely a member is the image, the most likely first. */
enum image_rank {
    RANK_NO_STEM,   /* a picture without a name before its extension */
    RANK_COLOURS,   /* a picture of colours */
    RANK_NAMED_IDS, /* a picture of ids, with a usual name of images */
    RANK_OTHER_IDS, /* another picture of ids */
    RANK_NO_PICTURE
};

static enum image_rank rank_of(
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    if (!is_picture(member)) {
        return RANK_NO_PICTURE;
    }
    /* If all samples also have a picture of colours, ids are its mask. */
    bool may_be_mask = member->may_be_ids && member->always;
    for (size_t i = 0; may_be_mask && i < data->n_members; i++) {
        const struct fby_init_member *other = &data->members[i];
        if (is_picture(other) && !other->may_be_ids && other->always) {
            return RANK_OTHER_IDS;
        }
    }
    if (stem_length(member->extension) == 0) {
        return RANK_NO_STEM;
    }
    if (!member->may_be_ids) {
        return RANK_COLOURS;
    }
    return fby_init_is_picture_name(member->extension) ? RANK_NAMED_IDS
                                                       : RANK_OTHER_IDS;
}

static const struct fby_init_member *find_image(
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

/* True for the image and its other formats, such as "png" beside "jpg": members
 * of the same rank. If extensions begin with a column or folder, or the image
 * has ids, the stems are also the same. */
static bool is_same_image(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member)
{
    if (!is_picture(member) || rank_of(data, member) != rank_of(data, image)) {
        return false;
    }
    bool needs_same_stem =
        fby_source_traits(data->kind)->has_names || image->may_be_ids;
    return !needs_same_stem || same_stem(image, member);
}

/* Write the name of a member's field: its stem, else `fallback`. */
static void name_field(const struct fby_init_member *member,
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
        name_field(image, "image", out);
    } else {
        snprintf(out, FBY_NAME_SIZE, "image");
    }
}

/* Append the key `from` with the extensions of the image in all its formats. */
static void append_from(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image)
{
    char   list[FBY_MAX_FROM * FBY_NAME_SIZE];
    size_t n    = 0;
    list[0]     = '\0';
    size_t used = 0;
    for (size_t i = 0; i < data->n_members && n < FBY_MAX_FROM; i++) {
        if (is_same_image(data, image, &data->members[i])) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                n > 0 ? ", " : "", data->members[i].extension);
            n++;
        }
    }
    fby_init_append(out, n > 1 ? "    from: [" : "    from: ");
    fby_init_append(out, list);
    fby_init_append(out, n > 1 ? "]\n" : "\n");
}

static void append_image(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image)
{
    char name[FBY_NAME_SIZE];
    name_image(data, image, name);
    fby_init_printf(out, "  %s:\n", name);
    append_from(out, data, image);
    fby_init_append(out,
        "    decode: rgb8\n"
        "    ops:                    # on the workers; for one split: "
        "only: SPLIT\n"
        "      - random_resized_crop: {size: 224, scale: [0.08, 1.0]}\n"
        "      - horizontal_flip: {p: 0.5}\n"
        "      # for val, with only: train added to the two above:\n"
        "      # - resize: {shorter: 256, only: val}\n"
        "      # - center_crop: {size: 224, only: val}\n"
        "    device:                 # at the trainer; of values 0..1\n"
        "      - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, "
        "0.225]}\n"
        "    out: {dtype: f32, layout: chw}\n");
}

static bool is_mask(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member)
{
    return is_picture(member) && member->may_be_ids && member->always &&
           !is_same_image(data, image, member);
}

/* The members with labels, as in WebDataset: extension "cls"; NULL: none. */
static const struct fby_init_member *find_cls(
    const struct fby_init_summary *data)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (has_type(member->extension, "cls") &&
            fby_text_is_extension(member->extension)) {
            return member;
        }
    }
    return NULL;
}

/* True if labels are possible: from class folders or .cls members. */
static bool has_label(const struct fby_init_summary *data)
{
    return fby_source_traits(data->kind)->has_classes || find_cls(data) != NULL;
}

enum { MAX_MASKS = FBY_MAX_FIELDS - 2 }; /* beside the image and a label */

/* Names of fields in use: of the image, the label and masks. */
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

/* Add a unique name for a mask to `used`: its stem, else "mask", "mask_2". */
static const char *add_mask_name(
    struct used_names *used, const struct fby_init_member *member)
{
    char *name = used->names[used->n];
    name_field(member, "mask", name);
    if (is_name_used(used, name)) {
        snprintf(name, FBY_NAME_SIZE, "mask");
    }
    for (unsigned i = 2; is_name_used(used, name); i++) {
        snprintf(name, FBY_NAME_SIZE, "mask_%u", i);
    }
    used->n++;
    return name;
}

static size_t append_masks(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image)
{
    struct used_names used = {.names = {"", "label"}};
    size_t            n    = 0;
    name_image(data, image, used.names[0]);
    const char *group = used.names[0]; /* masks move with the image */
    used.n = has_label(data) ? 2 : 1;  /* without a label, its name is free */
    for (size_t i = 0; i < data->n_members && n < MAX_MASKS; i++) {
        if (!is_mask(data, image, &data->members[i])) {
            continue;
        }
        fby_init_printf(out, "  %s:\n    from: %s\n",
            add_mask_name(&used, &data->members[i]),
            data->members[i].extension);
        fby_init_printf(out,
            "    decode: mask8           # class ids, unchanged; for several "
            "masks of 0 and 1: decode: maps\n    group: %s\n",
            group);
        fby_init_append(out,
            "    ops:                    # those of its picture that move "
            "pixels, in order\n"
            "      - random_resized_crop: {size: 224, scale: [0.08, 1.0]}\n"
            "      - horizontal_flip: {p: 0.5}\n");
        n++;
    }
    return n;
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

static size_t append_label(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    if (fby_source_traits(data->kind)->has_classes) {
        return append_folder_label(out, data);
    }
    const struct fby_init_member *cls = find_cls(data);
    if (cls == NULL) {
        if (!fby_source_traits(data->kind)->has_files) {
            fby_init_append(
                out, "  # no label: the shards hold no .cls members\n");
        }
        return 0;
    }
    fby_init_printf(out,
        "  label:\n    from: %s               # decimal text of this member\n"
        "    # one_hot: {classes: 1000, smoothing: 0.1}    # instead of "
        "numbers\n",
        cls->extension);
    return 1;
}

static uint32_t round_up_to_power_of_two(uint32_t number)
{
    uint32_t power = 1;
    while (power < number) {
        power *= 2;
    }
    return power;
}

static void append_left_out(struct fby_buffer *out,
    const struct fby_init_member *member, const char *reason)
{
    fby_init_append(out, "  # left out, ");
    fby_init_append(out, reason);
    fby_init_append(out, ": column ");
    fby_init_append_quoted(out, member->extension);
    fby_init_append(out, "\n");
}

/* Append comments: the keys (without quotes), and a field of the first key. */
static void append_object(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    int key_length  = (int)strcspn(member->keys, ",");
    int name_length = (int)strcspn(member->keys, ",.");
    append_left_out(out, member, "since its values are objects");
    if (key_length == 0) {
        return;
    }
    fby_init_printf(out, "  #   members: %s\n", member->keys);
    if (member->first_key_kind == FBY_INIT_MIXED) {
        return;
    }
    fby_init_printf(out, "  #   %.*s: {from: %s, decode: %s, key: %.*s%s}\n",
        name_length, member->keys, name,
        member->first_key_kind == FBY_INIT_NUMBER ? "number" : "text",
        key_length, member->keys,
        member->first_key_kind == FBY_INIT_NUMBER ? "" : ", max_length: 256");
}

/* Append a field for a column of lists, or a comment for a column that cannot
 * be a field. Returns true if a field was appended. */
static bool append_list_column(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    if (member->value == FBY_INIT_NUMBER_LISTS) {
        uint32_t length =
            member->max_length > 0 ? member->max_length : 1; /* 0 is invalid */
        fby_init_printf(out,
            "  %s: {from: %s, decode: number, key: \".\", max_length: %u}\n",
            name, name, length);
        return true;
    }
    if (member->value == FBY_INIT_TEXT_LISTS) {
        fby_init_printf(out,
            "  %s: {from: %s, decode: text, key: \".\", pick: random, "
            "max_length: %u, too_long: truncate}\n",
            name, name, round_up_to_power_of_two(member->max_length));
        return true;
    }
    if (member->value == FBY_INIT_OBJECT) {
        append_object(out, member, name);
    } else if (member->value == FBY_INIT_OTHER_LISTS) {
        append_left_out(out, member,
            "since its lists hold other values than texts or numbers (key: "
            "\"0\" is the first entry)");
    } else {
        append_left_out(out, member,
            "since it has values of several kinds, such as texts beside lists "
            "or empty lists of texts");
    }
    return false;
}

/* Append the field of a column of values. Returns the number of fields. */
static size_t append_value_column(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    char name[FBY_NAME_SIZE];
    if (!fby_init_to_field_name(member->extension, name) || !member->always) {
        append_left_out(out, member, "for its name or its gaps");
        return 0;
    }
    if (member->value > FBY_INIT_TEXT) { /* lists, objects, mixed */
        return append_list_column(out, member, name) ? 1 : 0;
    }
    fby_init_printf(out, "  %s: {from: %s, ", name, member->extension);
    if (member->value == FBY_INIT_DIGITS) {
        fby_init_append(
            out, "decode: label} # if these are class ids: classes: N\n");
    } else if (member->value == FBY_INIT_NUMBER) {
        fby_init_append(out, "decode: number, key: \".\"}\n");
    } else {
        fby_init_printf(out,
            "decode: text, max_length: %u, too_long: truncate}\n",
            round_up_to_power_of_two(member->longest));
    }
    return 1;
}

/* Half of the fields of a pipeline; the others are left for pictures. */
enum { MAX_VALUES = FBY_MAX_FIELDS / 2 };

static size_t append_values(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    size_t n = 0;
    for (size_t i = 0; i < data->n_members && n < MAX_VALUES; i++) {
        if (data->members[i].value != FBY_INIT_NO_VALUE) {
            n += append_value_column(out, &data->members[i]);
        }
    }
    return n;
}

size_t fby_init_list_extensions(
    const struct fby_init_summary *data, char *out, size_t capacity)
{
    size_t n    = 0;
    size_t used = 0;
    out[0]      = '\0';
    for (size_t i = 0; i < data->n_members && n < FBY_MAX_FROM; i++) {
        const char *extension = data->members[i].extension;
        if (fby_text_is_extension(extension) &&
            used + strlen(", ") + strlen(extension) + 1 < capacity) {
            used += (size_t)snprintf(out + used, capacity - used, "%s%s",
                n > 0 ? ", " : "", extension);
            n++;
        }
    }
    return n;
}

/* Text files are probably captions, but were not read: append a comment. */
static void append_texts(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (has_type(member->extension, "txt") &&
            fby_text_is_extension(member->extension)) {
            fby_init_printf(out,
                "  # text: {from: %s, decode: text, max_length: 256, "
                "too_long: truncate}\n",
                member->extension);
        }
    }
}

size_t fby_init_append_members(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    const struct fby_init_member *image  = find_image(data);
    struct fby_buffer             fields = {0};
    size_t                        n      = 0;
    if (image != NULL) {
        append_image(&fields, data, image);
        n += 1 + append_masks(&fields, data, image);
        n += append_label(&fields, data);
        append_texts(&fields, data);
    }
    n += append_values(&fields, data);
    fby_init_append(out, "fields:\n");
    fby_put_bytes(out, fields.data, fields.size);
    fby_buffer_fini(&fields);
    return n;
}
