/* text_members.c - write the fields of pictures, masks, labels and values.
 *
 * One picture of each sample is the image: a picture without a name before its
 * extension, else a picture with a usual name. Other PNG files of ids are
 * masks, and get those ops of the image that move pixels. */
#include <stdio.h>
#include <string.h>

#include "cli/init/text_state.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

static bool has_type(const char *extension, const char *kind)
{
    const char *dot = strrchr(extension, '.');
    return strcmp(dot != NULL ? dot + 1 : extension, kind) == 0;
}

static bool is_picture(const struct fby_init_member *member)
{
    return member->value == FBY_INIT_NO_VALUE &&
           fby_text_is_extension(member->extension) &&
           (has_type(member->extension, "jpg") ||
               has_type(member->extension, "jpeg") ||
               has_type(member->extension, "png"));
}

/* The length before the last dot: 4 for "mask.png", 0 for "jpg". */
static size_t stem_of(const char *extension)
{
    const char *dot = strrchr(extension, '.');
    return dot != NULL ? (size_t)(dot - extension) : 0;
}

static bool same_stem(
    const struct fby_init_member *a, const struct fby_init_member *b)
{
    size_t n = stem_of(a->extension);
    return stem_of(b->extension) == n &&
           memcmp(a->extension, b->extension, n) == 0;
}

/* ---- Names --------------------------------------------------------------- */

static bool holds_any(const char *name, const char *const *words, size_t n)
{
    char lower[FBY_NAME_SIZE];
    (void)fby_init_name(name, lower);
    for (size_t i = 0; i < n; i++) {
        if (strstr(lower, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

bool fby_init_names_pictures(const char *name)
{
    static const char *const words[] = {
        "image", "img", "photo", "picture", "rgb", "input"};
    return holds_any(name, words, sizeof(words) / sizeof(words[0]));
}

bool fby_init_names_partners(const char *name)
{
    static const char *const words[] = {
        "mask", "label", "annot", "seg", "truth", "target", "depth", "ids"};
    return holds_any(name, words, sizeof(words) / sizeof(words[0]));
}

/* ---- The image ----------------------------------------------------------- */

/* How likely a member is the image; the lowest rank wins. */
enum image_rank {
    PLAIN,   /* no name before its extension */
    COLOURS, /* a picture of colours */
    NAMED,   /* ids, but with a usual name of pictures */
    ANY,     /* another picture of ids */
    NONE     /* no picture */
};

static enum image_rank rank_of(
    const struct fby_init_summary *s, const struct fby_init_member *member)
{
    if (!is_picture(member)) {
        return NONE;
    }
    /* If all samples also have a picture of colours, ids are its mask. */
    bool mask = member->ids && member->always;
    for (size_t i = 0; mask && i < s->n_members; i++) {
        const struct fby_init_member *other = &s->members[i];
        if (is_picture(other) && !other->ids && other->always) {
            return ANY;
        }
    }
    if (stem_of(member->extension) == 0) {
        return PLAIN;
    }
    if (!member->ids) {
        return COLOURS;
    }
    return fby_init_names_pictures(member->extension) ? NAMED : ANY;
}

static const struct fby_init_member *find_image(
    const struct fby_init_summary *s)
{
    const struct fby_init_member *out = NULL;
    for (size_t i = 0; i < s->n_members; i++) {
        enum image_rank rank = rank_of(s, &s->members[i]);
        if (rank < NONE && (out == NULL || rank < rank_of(s, out))) {
            out = &s->members[i];
        }
    }
    return out;
}

/* True for the image and for members that are the image in another format. In
 * tars and class folders, these are all members of its rank, whatever their
 * names, except ids. */
static bool is_same_image(const struct fby_init_summary *s,
    const struct fby_init_member *image, const struct fby_init_member *member)
{
    if (!is_picture(member) || rank_of(s, member) != rank_of(s, image)) {
        return false;
    }
    bool one = fby_source_traits(s->kind)->has_names || image->ids;
    return !one || same_stem(image, member);
}

/* The name of a member's field: its column or folder, else `other`. */
static void name_field(const struct fby_init_member *member, const char *other,
    char out[FBY_NAME_SIZE])
{
    char   stem[FBY_NAME_SIZE];
    size_t n = stem_of(member->extension);
    memcpy(stem, member->extension, n);
    stem[n] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (stem[i] == '.') {
            stem[i] = '_';
        }
    }
    if (n == 0 || !fby_init_name(stem, out)) {
        snprintf(out, FBY_NAME_SIZE, "%s", other);
    }
}

static void name_image(const struct fby_init_summary *s,
    const struct fby_init_member *image, char out[FBY_NAME_SIZE])
{
    if (fby_source_traits(s->kind)->has_names) {
        name_field(image, "image", out);
    } else {
        snprintf(out, FBY_NAME_SIZE, "image");
    }
}

static void put_from(struct fby_buffer *out, const struct fby_init_summary *s,
    const struct fby_init_member *image)
{
    char   list[FBY_MAX_FROM * FBY_NAME_SIZE];
    size_t n    = 0;
    list[0]     = '\0';
    size_t used = 0;
    for (size_t i = 0; i < s->n_members && n < FBY_MAX_FROM; i++) {
        if (is_same_image(s, image, &s->members[i])) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                n > 0 ? ", " : "", s->members[i].extension);
            n++;
        }
    }
    fby_init_put(out, n > 1 ? "    from: [" : "    from: ");
    fby_init_put(out, list);
    fby_init_put(out, n > 1 ? "]\n" : "\n");
}

static void put_image(struct fby_buffer *out, const struct fby_init_summary *s,
    const struct fby_init_member *image)
{
    char name[FBY_NAME_SIZE];
    name_image(s, image, name);
    fby_init_put_line(out, "  %s:\n", name);
    put_from(out, s, image);
    fby_init_put(out,
        "    decode: rgb8\n"
        "    ops:                    # on the workers; only: SPLIT limits "
        "one\n"
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

/* ---- Masks --------------------------------------------------------------- */

static bool is_mask(const struct fby_init_summary *s,
    const struct fby_init_member *image, const struct fby_init_member *member)
{
    return is_picture(member) && member->ids && member->always &&
           !is_same_image(s, image, member);
}

static const struct fby_init_member *cls_of(const struct fby_init_summary *s)
{
    for (size_t i = 0; i < s->n_members; i++) {
        const struct fby_init_member *member = &s->members[i];
        if (has_type(member->extension, "cls") &&
            fby_text_is_extension(member->extension)) {
            return member;
        }
    }
    return NULL;
}

/* True if there is a label: with class folders, and in shards with .cls
 * members. */
static bool has_label(const struct fby_init_summary *s)
{
    return fby_source_traits(s->kind)->has_classes || cls_of(s) != NULL;
}

enum { MOST_MASKS = FBY_MAX_FIELDS - 2 }; /* beside the image and a label */

/* Names in use: of the image, the label and masks. */
struct used_names {
    char   names[MOST_MASKS + 2][FBY_NAME_SIZE];
    size_t n;
};

static bool is_used(const struct used_names *used, const char *name)
{
    size_t i = 0;
    while (i < used->n && strcmp(used->names[i], name) != 0) {
        i++;
    }
    return i < used->n;
}

/* A unique name for a mask: that of its column or folder, else "mask", "mask_2"
 * and so on. */
static const char *name_mask(
    struct used_names *used, const struct fby_init_member *member)
{
    char *name = used->names[used->n];
    name_field(member, "mask", name);
    if (is_used(used, name)) {
        snprintf(name, FBY_NAME_SIZE, "mask");
    }
    for (unsigned i = 2; is_used(used, name); i++) {
        snprintf(name, FBY_NAME_SIZE, "mask_%u", i);
    }
    used->n++;
    return name;
}

static size_t put_masks(struct fby_buffer *out,
    const struct fby_init_summary *s, const struct fby_init_member *image)
{
    struct used_names used  = {.names = {"", "label"}};
    const char       *group = used.names[0];
    size_t            n     = 0;
    name_image(s, image, used.names[0]);
    used.n = has_label(s) ? 2 : 1;
    for (size_t i = 0; i < s->n_members && n < MOST_MASKS; i++) {
        if (!is_mask(s, image, &s->members[i])) {
            continue;
        }
        fby_init_put_line(out, "  %s:\n    from: %s\n",
            name_mask(&used, &s->members[i]), s->members[i].extension);
        fby_init_put_line(out,
            "    decode: mask8           # ids as they are; several masks of "
            "0 and 1: maps\n    group: %s\n",
            group);
        fby_init_put(out,
            "    ops:                    # those of its picture that move "
            "pixels, in order\n"
            "      - random_resized_crop: {size: 224, scale: [0.08, 1.0]}\n"
            "      - horizontal_flip: {p: 0.5}\n");
        n++;
    }
    return n;
}

/* ---- Labels -------------------------------------------------------------- */

static size_t put_folder_label(
    struct fby_buffer *out, const struct fby_init_summary *s)
{
    fby_init_put(out, "  label:\n    from: folder            # the number of "
                      "the class folder, by name\n");
    if (s->classes > 0) {
        fby_init_put_line(out, "    classes: %u\n", s->classes);
    }
    fby_init_put_line(out,
        "    # one_hot: {classes: %u, smoothing: 0.1}    # instead of "
        "numbers\n",
        s->classes > 0 ? s->classes : 1000);
    return 1;
}

static size_t put_label(
    struct fby_buffer *out, const struct fby_init_summary *s)
{
    if (fby_source_traits(s->kind)->has_classes) {
        return put_folder_label(out, s);
    }
    const struct fby_init_member *cls = cls_of(s);
    if (cls == NULL) {
        fby_init_put(out, !fby_source_traits(s->kind)->has_files
                              ? "  # no label: the shards hold no .cls "
                                "members\n"
                              : "");
        return 0;
    }
    fby_init_put_line(out,
        "  label:\n    from: %s               # decimal text of this member\n"
        "    # one_hot: {classes: 1000, smoothing: 0.1}    # instead of "
        "numbers\n",
        cls->extension);
    return 1;
}

/* ---- Values of a list ---------------------------------------------------- */

static uint32_t power_of_two_from(uint32_t least)
{
    uint32_t n = 1;
    while (n < least) {
        n *= 2;
    }
    return n;
}

static void put_left_out(struct fby_buffer *out,
    const struct fby_init_member *member, const char *reason)
{
    fby_init_put(out, "  # left out, ");
    fby_init_put(out, reason);
    fby_init_put(out, ": column ");
    fby_init_put_quoted(out, member->extension);
    fby_init_put(out, "\n");
}

/* The keys in `inside` need no quotes (guess_values.c). */
static void put_object(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    int n = (int)strcspn(member->inside, ",");
    put_left_out(out, member, "being objects, whose members have keys");
    if (n == 0) {
        return;
    }
    fby_init_put_line(out, "  #   members: %s\n", member->inside);
    if (member->first == FBY_INIT_MIXED) {
        return;
    }
    fby_init_put_line(out, "  #   %.*s: {from: %s, decode: %s, key: %.*s%s}\n",
        (int)strcspn(member->inside, ",."), member->inside, name,
        member->first == FBY_INIT_NUMBER ? "number" : "text", n, member->inside,
        member->first == FBY_INIT_NUMBER ? "" : ", max_length: 256");
}

/* Append a field for a column of lists; false: the column is left out. */
static bool put_lists(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    if (member->value == FBY_INIT_NUMBERS) {
        fby_init_put_line(out,
            "  %s: {from: %s, decode: number, key: \".\", max_length: %u}\n",
            name, name, member->most > 0 ? member->most : 1);
        return true;
    }
    if (member->value == FBY_INIT_TEXTS) {
        fby_init_put_line(out,
            "  %s: {from: %s, decode: text, key: \".\", pick: random, "
            "max_length: %u, too_long: truncate}\n",
            name, name, power_of_two_from(member->most));
        return true;
    }
    if (member->value == FBY_INIT_OBJECT) {
        put_object(out, member, name);
    } else if (member->value == FBY_INIT_LISTS) {
        put_left_out(out, member,
            "being lists of other than texts or numbers (key: \"0\" is the "
            "first entry)");
    } else {
        put_left_out(out, member,
            "for values of several kinds, such as texts beside lists or empty "
            "lists of texts");
    }
    return false;
}

static size_t put_value(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    char name[FBY_NAME_SIZE];
    if (!fby_init_name(member->extension, name) || !member->always) {
        put_left_out(out, member, "for its name or its gaps");
        return 0;
    }
    if (member->value > FBY_INIT_TEXT) {
        return put_lists(out, member, name) ? 1 : 0;
    }
    fby_init_put_line(out, "  %s: {from: %s, ", name, name);
    if (member->value == FBY_INIT_WHOLE) {
        fby_init_put(out, "decode: label} # of ids also classes: N\n");
    } else if (member->value == FBY_INIT_NUMBER) {
        fby_init_put(out, "decode: number, key: \".\"}\n");
    } else {
        fby_init_put_line(out,
            "decode: text, max_length: %u, too_long: truncate}\n",
            power_of_two_from(member->longest));
    }
    return 1;
}

static size_t put_values(
    struct fby_buffer *out, const struct fby_init_summary *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_members && n < FBY_MAX_FIELDS / 2; i++) {
        if (s->members[i].value != FBY_INIT_NO_VALUE) {
            n += put_value(out, &s->members[i]);
        }
    }
    return n;
}

/* ---- All ----------------------------------------------------------------- */

size_t fby_init_list(
    const struct fby_init_summary *s, char *out, size_t capacity)
{
    size_t n    = 0;
    size_t used = 0;
    out[0]      = '\0';
    for (size_t i = 0; i < s->n_members && n < FBY_MAX_FROM; i++) {
        const char *extension = s->members[i].extension;
        if (fby_text_is_extension(extension) &&
            used + strlen(extension) + 3 < capacity) {
            used += (size_t)snprintf(out + used, capacity - used, "%s%s",
                n > 0 ? ", " : "", extension);
            n++;
        }
    }
    return n;
}

/* Texts are probably captions, but were not read. So write only a comment. */
static void put_texts(struct fby_buffer *out, const struct fby_init_summary *s)
{
    for (size_t i = 0; i < s->n_members; i++) {
        const struct fby_init_member *member = &s->members[i];
        if (has_type(member->extension, "txt") &&
            fby_text_is_extension(member->extension)) {
            fby_init_put_line(out,
                "  # text: {from: %s, decode: text, max_length: 256, "
                "too_long: truncate}\n",
                member->extension);
        }
    }
}

size_t fby_init_put_members(
    struct fby_buffer *out, const struct fby_init_summary *s)
{
    const struct fby_init_member *image  = find_image(s);
    struct fby_buffer             fields = {0};
    size_t                        n      = 0;
    if (image != NULL) {
        put_image(&fields, s, image);
        n += 1 + put_masks(&fields, s, image);
        n += put_label(&fields, s);
        put_texts(&fields, s);
    }
    n += put_values(&fields, s);
    fby_init_put(out, "fields:\n");
    fby_put_bytes(out, fields.data, fields.size);
    fby_buffer_fini(&fields);
    return n;
}
