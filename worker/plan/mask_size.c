/* SPDX-License-Identifier: Apache-2.0 */
/* mask_size.c - compare the sizes of masks with those of their pictures. */
#include "worker/plan/mask_size.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/derived.h"

enum { NAME = 100 }; /* bytes of the name of a member in an error, with NUL */

static bool is_same_size(struct fby_size a, struct fby_size b)
{
    return a.w == b.w && a.h == b.h;
}

int fby_mask_size_find_mismatch(const struct fby_field_content *fields,
    uint32_t n, const struct fby_size *sizes)
{
    for (uint32_t i = 0; i < n; i++) {
        if (sizes[i].w == 0 || fields[i].fit == FBY_FIT_STRETCH) {
            continue;
        }
        int picture = fby_mask_picture_index(fields, n, i);
        if (picture >= 0 && sizes[picture].w != 0 &&
            !is_same_size(sizes[i], sizes[picture])) {
            return (int)i;
        }
    }
    return -1;
}

/* True if one is the other, turned by 90 degrees. */
static bool is_turned(struct fby_size a, struct fby_size b)
{
    return a.w == b.h && a.h == b.w;
}

/* Find the member that a field was decoded from; of a stack, the first one.
 * Write its name to `out`: the end of its path, or ".EXTENSION" if it is not a
 * file of its own. */
static void describe_member(const struct fby_dataset *dataset, uint64_t sample,
    const struct fby_field_content *field, struct fby_member *member,
    char out[NAME])
{
    char     path[FBY_PATH_SIZE];
    uint32_t n = fby_field_kind(field)->is_stack ? 1 : field->n_from;
    if (fby_dataset_find_member(dataset, sample, field->from, n, member) !=
        FBY_OK) {
        snprintf(out, NAME, ".%s", field->from[0]);
    } else if (!fby_dataset_write_member_name(dataset, member, path)) {
        snprintf(out, NAME, ".%s", fby_dataset_extension(dataset, member));
    } else {
        size_t size = strlen(path);
        if (size < NAME) {
            memcpy(out, path, size + 1);
        } else {
            size_t kept = NAME - sizeof("...");
            snprintf(out, NAME, "...%.*s", (int)kept, path + size - kept);
        }
    }
}

fby_err fby_mask_size_check(const struct fby_mask_sample *sample, fby_err made,
    struct fby_mask_mismatch *out, struct fby_error_detail *why)
{
    const struct fby_field_content *fields = sample->content->fields;
    const struct fby_size          *sizes  = sample->sizes;
    uint32_t                        n      = sample->content->n_fields;
    bool is_compared = made == FBY_OK || made == FBY_BAD_SAMPLE;
    int  i = is_compared ? fby_mask_size_find_mismatch(fields, n, sizes) : -1;
    out->field = i;
    if (i < 0) {
        return made;
    }
    int               p = fby_mask_picture_index(fields, n, (uint32_t)i);
    struct fby_member picture;
    char              mask_name[NAME];
    char              picture_name[NAME];
    describe_member(
        sample->dataset, sample->number, &fields[i], &out->member, mask_name);
    describe_member(
        sample->dataset, sample->number, &fields[p], &picture, picture_name);
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "field %s: the mask %s has %u x %u pixels, but its picture %s (field "
        "%s) "
        "%u x %u: %s",
        fields[i].name, mask_name, sizes[i].w, sizes[i].h, picture_name,
        fields[p].name, sizes[p].w, sizes[p].h,
        is_turned(sizes[i], sizes[p])
            ? "turn the mask, as the orientation (EXIF) turns the picture"
            : "if the mask shows the whole picture, write 'fit: stretch' in "
              "its field; else resize the file");
}
