/* SPDX-License-Identifier: Apache-2.0 */
/* text_coordinates.c - the columns and keys of coordinates in the picture, by their
 * names and by those of other columns: `nose_x` is one beside `nose_y`, and `left`
 * beside `top`, `right` and `bottom`. A random crop or flip would move the picture
 * and not them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/init/names.h"
#include "cli/init/text_state.h"
#include "cli/init/words.h"
#include "pipeline/text.h"

static const char *name_of(const struct fby_init_member *member)
{
    return member->key[0] != '\0' ? member->key : member->extension;
}

/* ---- one column ---- */

static bool are_lists(const struct fby_init_member *member)
{
    return member->value == FBY_INIT_NUMBER_LISTS ||
           member->value == FBY_INIT_OTHER_LISTS;
}

/* Names that only lists of numbers have as coordinates: a `region` may also be a
 * word, and a `segmentation` a picture. */
static bool is_name_of_lists(const char *name)
{
    static const char *const words[] = {"coords", "coordinates", "corners",
        "joints", "poly", "polys", "quad", "rect", "rects", "region", "regions",
        "segmentation", "segmentations", NULL};
    return fby_text_is_one_of(name, words);
}

static bool is_coordinates(const struct fby_init_member *member)
{
    bool may_be = member->value != FBY_INIT_NO_VALUE ||
                  fby_init_has_type(member->extension, "npy");
    return may_be && !fby_init_are_classes(member) &&
           (fby_text_is_coordinates(name_of(member)) ||
               (are_lists(member) && is_name_of_lists(name_of(member))));
}

/* ---- columns that are coordinates together ---- */

static bool has_numbers(
    const struct fby_init_summary *data, const char *file, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        bool is_number = member->value == FBY_INIT_DIGITS ||
                         member->value == FBY_INIT_NUMBER;
        bool is_beside =
            member->key[0] == '\0' || strcmp(member->extension, file) == 0;
        found = found || (is_number && is_beside &&
                             strcasecmp(name_of(member), name) == 0);
    }
    return found;
}

/* The position of the x or y in `nose_x`, `x_0`, `x12` and `cx`; or that of the
 * NUL. */
static size_t find_axis(const char *name)
{
    size_t n = strlen(name);
    if (n >= 2 && strchr("xyXY", name[n - 1]) != NULL &&
        (n == 2 || strchr("_-. ", name[n - 2]) != NULL)) {
        return n - 1;
    }
    bool is_first = n >= 2 && strchr("xyXY", name[0]) != NULL &&
                    (name[1] == '_' || isdigit((unsigned char)name[1]));
    return is_first ? 0 : n;
}

static bool has_other_axis(
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    char   other[FBY_NAME_SIZE];
    size_t axis = find_axis(name_of(member));
    snprintf(other, sizeof(other), "%s", name_of(member));
    if (other[axis] == '\0') {
        return false;
    }
    other[axis] ^= 'x' ^ 'y';
    return has_numbers(data, member->extension, name_of(member)) &&
           has_numbers(data, member->extension, other);
}

/* Is the column one of the first two of four that are a box together? */
static bool is_of_box(
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    static const char *const boxes[][4] = {{"x", "y", "w", "h"},
        {"x", "y", "width", "height"}, {"left", "top", "right", "bottom"},
        {"left", "top", "width", "height"}};
    const char              *name       = name_of(member);
    bool                     found      = false;
    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
        bool has_all = strcasecmp(name, boxes[i][0]) == 0 ||
                       strcasecmp(name, boxes[i][1]) == 0;
        for (size_t k = 0; k < 4 && has_all; k++) {
            has_all = has_numbers(data, member->extension, boxes[i][k]);
        }
        found = found || has_all;
    }
    return found;
}

/* Append a name, or dots in place of the first one that does not fit. */
static void append_name(char *out, size_t size, const char *name)
{
    size_t used     = strlen(out);
    bool   has_dots = used >= 3 && strcmp(out + used - 3, "...") == 0;
    bool   fits     = used + strlen(name) + sizeof(", , ...") <= size;
    if (!has_dots) {
        fby_text_append_name(out, size, fits ? name : "...");
    }
}

bool fby_init_list_coordinates(
    const struct fby_init_summary *data, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (is_coordinates(member) || has_other_axis(data, member) ||
            is_of_box(data, member)) {
            append_name(out, size, name_of(member));
        }
    }
    return out[0] != '\0';
}

/* ---- arrays with a value for each pixel ---- */

/* Has the shape the height and the width in a row? */
static bool has_size(const struct fby_shape *shape, struct fby_size size)
{
    bool found = false;
    for (uint32_t i = 0; i + 1 < shape->n_dims && size.h > 1; i++) {
        found =
            found || (shape->dims[i] == size.h && shape->dims[i + 1] == size.w);
    }
    return found;
}

/* Has the array the size of a picture that was measured? */
static bool is_map(
    const struct fby_init_summary *data, const struct fby_init_member *member)
{
    bool found = false;
    for (size_t i = 0; i < data->n_members && member->array.wire != 0; i++) {
        const struct fby_init_member *picture = &data->members[i];
        for (size_t k = 0; k < FBY_INIT_SIZES && !found; k++) {
            found = fby_init_is_picture(picture) &&
                    has_size(&member->array.shape, picture->sizes[k]);
        }
    }
    return found;
}

bool fby_init_list_maps(
    const struct fby_init_summary *data, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < data->n_members; i++) {
        if (is_map(data, &data->members[i])) {
            append_name(out, size, data->members[i].extension);
        }
    }
    return out[0] != '\0';
}

/* ---- values that a flip changes ---- */

/* Is one of the words of a name, as steering_angle, that of an angle or a turn? */
static bool is_name_of_angle(const char *name)
{
    static const char *const words[] = {
        "steering", "steer", "angle", "yaw", "heading", "azimuth", NULL};
    bool found = false;
    for (const char *at = name; *at != '\0' && !found;) {
        char   word[FBY_NAME_SIZE];
        size_t n = strcspn(at, "_-. ");
        snprintf(word, sizeof(word), "%.*s", (int)n, at);
        found = fby_text_is_one_of(word, words);
        at += n + (at[n] != '\0' ? 1 : 0);
    }
    return found;
}

/* Is it a column of classes of which one is left, and another right? */
static bool has_left_and_right(const struct fby_init_member *member)
{
    struct fby_init_sides sides = {.has_left = false};
    for (uint32_t i = 0;
         fby_init_are_classes(member) && i < member->words->range.n; i++) {
        fby_init_add_side(&sides, fby_init_sorted_word(member->words, i));
    }
    return sides.has_left && sides.has_right;
}

bool fby_init_list_flipped(
    const struct fby_init_summary *data, char *out, size_t size)
{
    out[0] = '\0';
    if (data->has_sides) {
        append_name(out, size, "the class folders");
    }
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        bool is_number = member->value == FBY_INIT_DIGITS ||
                         member->value == FBY_INIT_NUMBER ||
                         member->value == FBY_INIT_NUMBER_LISTS;
        if ((is_number && is_name_of_angle(name_of(member))) ||
            has_left_and_right(member)) {
            append_name(out, size, name_of(member));
        }
    }
    return out[0] != '\0';
}
