/* SPDX-License-Identifier: Apache-2.0 */
/* guess_members.c - count the members (files or values) of samples, and find
 * PNG files whose pixels may be ids, such as masks. */
#include "cli/init/guess_members.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/names.h"

struct fby_init_member *fby_guess_find_member(
    struct fby_guess_split *split, const char *suffix)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        if (fby_equal_ignoring_case(suffix, split->members[i].extension)) {
            return &split->members[i];
        }
    }
    return NULL;
}

uint32_t fby_guess_find_key(
    const struct fby_guess_split *split, const char *extension, const char *key)
{
    uint32_t i = 0;
    while (i < split->n_members &&
           (strcmp(split->members[i].key, key) != 0 ||
               strcmp(split->members[i].extension, extension) != 0)) {
        i++;
    }
    return i;
}

/* The entry for that suffix, added if missing; NULL: no entry is free. */
static struct fby_init_member *find_or_add_member(
    struct fby_guess_split *split, const char *suffix)
{
    struct fby_init_member *member = fby_guess_find_member(split, suffix);
    if (member == NULL && split->n_members < FBY_GUESS_MEMBERS) {
        member  = &split->members[split->n_members++];
        *member = (struct fby_init_member){.count = 0};
        (void)fby_init_to_field_name(
            suffix, member->extension); /* lower case */
    }
    return member;
}

/* Note the size of a file of text. */
static void note_text(struct fby_init_member *member, uint64_t size)
{
    if (fby_init_is_text(member) && size > member->longest) {
        member->longest = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    }
}

void fby_guess_count_members(
    struct fby_guess_split *split, const struct fby_shard *shard)
{
    split->samples += shard->n_samples;
    for (uint32_t m = 0; m < shard->n_members; m++) {
        struct fby_init_member *member =
            find_or_add_member(split, fby_shard_suffix(shard, m));
        if (member != NULL) {
            member->count++;
            note_text(member, shard->member_bytes[m]);
        }
    }
}

void fby_guess_sort_members(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member member = split->members[i];
        member.always                 = member.count >= split->samples;
        uint32_t k                    = i; /* insertion sort */
        while (k > 0 && split->members[k - 1].count < member.count) {
            split->members[k] = split->members[k - 1];
            k--;
        }
        split->members[k] = member;
    }
}

enum { PNG_HEAD = 26 }; /* bytes of a PNG file up to its colour type */

/* Set what the header of a PNG file tells: ids have at most 8 bits a pixel, and
 * are grey or of a palette. */
static void read_colours(
    const uint8_t head[PNG_HEAD], struct fby_init_member *member)
{
    /* The signature, and the length and name of the first chunk. */
    static const uint8_t begin[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
        0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    enum { DEPTH = 24, COLOUR = 25, GREY = 0, PALETTE = 3 };
    bool is_grey       = head[COLOUR] == GREY;
    member->is_png     = memcmp(head, begin, sizeof(begin)) == 0;
    member->may_be_ids = member->is_png && head[DEPTH] <= 8 &&
                         (is_grey || head[COLOUR] == PALETTE);
    member->is_grey16 = member->is_png && head[DEPTH] == 16 && is_grey;
}

static fby_err read_head(const struct fby_member_file *file,
    struct fby_init_member *member, struct fby_error_detail *why)
{
    uint8_t head[PNG_HEAD] = {0};
    size_t  n              = sizeof(head);
    fby_err err =
        fby_object_read_some(&file->object, file->offset, head, &n, why);
    if (err == FBY_OK) {
        read_colours(head, member);
    }
    return err;
}

/* Read shape and type from the header of the file at `path`. All are 0 if it cannot
 * be read. */
static struct fby_init_member read_header(
    const struct fby_root *root, const char *path)
{
    const struct fby_init_member none   = {.count = 0};
    struct fby_init_member       member = none;
    struct fby_member_file       file   = {.offset = 0};
    if (fby_object_open(root, path, &file.object, NULL) != FBY_OK) {
        return none;
    }
    fby_err err = read_head(&file, &member, NULL);
    fby_object_close(&file.object);
    return err == FBY_OK ? member : none;
}

bool fby_guess_is_grey16(const struct fby_root *root, const char *path)
{
    return read_header(root, path).is_grey16;
}

bool fby_guess_may_be_ids(const struct fby_root *root, const char *path)
{
    return read_header(root, path).may_be_ids;
}

/* The index of the first file with that extension; n_members: none. */
static uint32_t find_first_file(
    const struct fby_shard *shard, const char *extension)
{
    uint32_t m = 0;
    while (
        m < shard->n_members &&
        (fby_shard_is_value(shard, m) ||
            !fby_equal_ignoring_case(fby_shard_suffix(shard, m), extension))) {
        m++;
    }
    return m;
}

fby_err fby_guess_read_png(struct fby_init_member *member,
    const struct fby_shard *shard, uint32_t m,
    const struct fby_member_opener *opener, struct fby_error_detail *why)
{
    struct fby_member_file file = {.offset = 0};
    fby_err err = opener->open(opener->arg, shard, m, &file, why);
    if (err == FBY_OK) {
        member->header_read = true;
        err                 = read_head(&file, member, why);
        fby_object_close(&file.object);
    }
    return err;
}

fby_err fby_guess_read_pngs(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener,
    struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < split->n_members; i++) {
        struct fby_init_member *member = &split->members[i];
        if (member->header_read ||
            !fby_init_has_type(member->extension, "png")) {
            continue;
        }
        uint32_t m = find_first_file(shard, member->extension);
        if (m < shard->n_members) {
            err = fby_guess_read_png(member, shard, m, opener, why);
        }
    }
    fby_guess_read_sizes(split, shard, opener);
    return err;
}

static fby_err open_member(const void *arg, const struct fby_shard *shard,
    uint32_t member, struct fby_member_file *out, struct fby_error_detail *why)
{
    const struct fby_index *index = arg;
    char                    path[FBY_PATH_SIZE];
    fby_err err = fby_index_path(index, shard, member, path, why);
    return err == FBY_OK ? fby_object_open(index->root, path, &out->object, why)
                         : err;
}

fby_err fby_guess_count_index(struct fby_guess_split *split,
    const struct fby_index *index, struct fby_error_detail *why)
{
    const struct fby_member_opener opener = {open_member, index};
    fby_err                        err    = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < index->n_shards; i++) {
        fby_guess_count_members(split, &index->shards[i]);
        err = fby_guess_read_pngs(split, &index->shards[i], &opener, why);
    }
    split->counted_all = true;
    fby_guess_sort_members(split);
    return err;
}
