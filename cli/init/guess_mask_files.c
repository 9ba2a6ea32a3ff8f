/* SPDX-License-Identifier: Apache-2.0 */
/* guess_mask_files.c - look at more masks than the first of each extension. A
 * file with colours or 16 bits, or that is no PNG, is refused as a mask, so init
 * leaves the masks out and names it. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_members.h"
#include "pipeline/text.h"

/* Write the path of the file of member `m`: "masks/1.png", or in other sources
 * than lists and parallel folders the name of its sample and its extension. */
static void name_file(
    const struct fby_shard *shard, uint32_t m, char out[FBY_PATH_SIZE])
{
    const char *key    = fby_shard_key(shard, fby_shard_sample_of(shard, m));
    const char *suffix = fby_shard_suffix(shard, m);
    size_t      folder = strcspn(suffix, ".");
    if (shard->kind == FBY_SOURCE_LIST) {
        snprintf(out, FBY_PATH_SIZE, "%.*s", (int)shard->text_size[m],
            (const char *)shard->texts.data + shard->text_offset[m]);
    } else if (shard->kind == FBY_SOURCE_PARALLEL) {
        snprintf(out, FBY_PATH_SIZE, "%.*s/%s%s", (int)folder, suffix, key,
            suffix + folder);
    } else {
        snprintf(out, FBY_PATH_SIZE, "%s.%s", key, suffix);
    }
}

const char *fby_guess_why_no_ids(const struct fby_init_member *header)
{
    return !header->is_png     ? "is no PNG"
           : header->is_grey16 ? "has 16 bits"
                               : "has colours";
}

static void check_file(struct fby_init_member *member,
    const struct fby_shard *shard, uint32_t m,
    const struct fby_member_opener *opener)
{
    struct fby_init_member header = {.count = 0};
    char                   name[FBY_PATH_SIZE];
    if (fby_guess_read_png(&header, shard, m, opener, NULL) != FBY_OK ||
        header.may_be_ids) {
        return;
    }
    name_file(shard, m, name);
    member->may_be_ids = false;
    snprintf(member->no_ids, sizeof(member->no_ids), "%s %s",
        fby_text_show(name).text, fby_guess_why_no_ids(&header));
}

void fby_guess_check_masks(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener)
{
    uint32_t left = FBY_GUESS_MASKS - split->masks_checked;
    uint32_t n    = shard->n_samples < left ? shard->n_samples : left;
    split->masks_checked += n;
    for (uint32_t m = 0; m < shard->first_member[n]; m++) {
        struct fby_init_member *member =
            fby_guess_find_member(split, fby_shard_suffix(shard, m));
        if (member != NULL && member->may_be_ids &&
            !fby_shard_is_value(shard, m)) {
            check_file(member, shard, m, opener);
        }
    }
}
