/* guess_members.c - what members samples have, and which PNG files hold ids. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/init/guess_look.h"

static struct fby_init_member *member_of(
    struct fby_guess_split *split, const char *suffix)
{
    uint32_t i = 0;
    while (i < split->n_members &&
           !fby_suffix_is(suffix, split->members[i].extension)) {
        i++;
    }
    if (i == FBY_GUESS_MEMBERS) {
        return NULL;
    }
    if (i == split->n_members) {
        struct fby_init_member *made = &split->members[split->n_members++];
        *made                        = (struct fby_init_member){.count = 0};
        for (size_t c = 0; suffix[c] != '\0'; c++) {
            bool upper         = suffix[c] >= 'A' && suffix[c] <= 'Z';
            made->extension[c] = (char)(suffix[c] + (upper ? 32 : 0));
        }
    }
    return &split->members[i];
}

void fby_look_tally(
    struct fby_guess_split *split, const struct fby_shard *shard)
{
    split->samples += shard->samples;
    for (uint32_t m = 0; m < shard->members; m++) {
        struct fby_init_member *member =
            member_of(split, fby_shard_suffix(shard, m));
        if (member != NULL) {
            member->count++;
        }
    }
}

void fby_look_finish(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member member = split->members[i];
        uint32_t               k      = i;
        member.always                 = member.count >= split->samples;
        for (; k > 0 && split->members[k - 1].count < member.count; k--) {
            split->members[k] = split->members[k - 1];
        }
        split->members[k] = member;
    }
}

/* ---- PNG ---- */

enum { PNG_HEAD = 26 }; /* up to depth and colour type */

/* Grey or a palette, of at most 8 bits: what masks are. */
static bool holds_ids(const uint8_t head[PNG_HEAD])
{
    static const uint8_t mark[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
        0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    enum { DEPTH = 24, COLOUR = 25, GREY = 0, PALETTE = 3 };
    return memcmp(head, mark, sizeof(mark)) == 0 && head[DEPTH] <= 8 &&
           (head[COLOUR] == GREY || head[COLOUR] == PALETTE);
}

static fby_err read_head(
    struct fby_look_place place, bool *ids, struct fby_why *why)
{
    uint8_t head[PNG_HEAD] = {0};
    if (pread(place.fd, head, sizeof(head), (off_t)place.offset) < 0) {
        return fby_because(why, FBY_IO, "%s", strerror(errno));
    }
    *ids = holds_ids(head);
    return FBY_OK;
}

static bool is_png(const char *extension)
{
    size_t n = strlen(extension);
    return (n == 3 || (n > 3 && extension[n - 4] == '.')) &&
           strcmp(extension + n - 3, "png") == 0;
}

/* The first file of that extension; `members` when there is none. */
static uint32_t first_of(const struct fby_shard *shard, const char *extension)
{
    uint32_t m = 0;
    while (m < shard->members &&
           (fby_shard_is_value(shard, m) ||
               !fby_suffix_is(fby_shard_suffix(shard, m), extension))) {
        m++;
    }
    return m;
}

static fby_err look_into(struct fby_init_member *member,
    const struct fby_shard *shard, uint32_t m,
    const struct fby_look_files *files, struct fby_why *why)
{
    struct fby_look_place place = {.fd = -1};
    fby_err               err = files->open(files->arg, shard, m, &place, why);
    if (err == FBY_OK) {
        member->looked = true;
        err            = read_head(place, &member->ids, why);
        close(place.fd);
    }
    return err;
}

fby_err fby_look_into_pngs(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_look_files *files,
    struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < split->n_members; i++) {
        struct fby_init_member *member = &split->members[i];
        if (member->looked || !is_png(member->extension)) {
            continue;
        }
        uint32_t m = first_of(shard, member->extension);
        if (m < shard->members) {
            err = look_into(member, shard, m, files, why);
        }
    }
    return err;
}

static fby_err open_member(const void *arg, const struct fby_shard *shard,
    uint32_t member, struct fby_look_place *out, struct fby_why *why)
{
    const struct fby_index *index = arg;
    char                    path[FBY_PATH_SIZE];
    fby_err err = fby_index_path(index, shard, member, path, why);
    return err == FBY_OK
               ? fby_root_open(index->root, path, FBY_WANT_FILE, &out->fd, why)
               : err;
}

fby_err fby_look_take(struct fby_guess_split *split,
    const struct fby_index *index, struct fby_why *why)
{
    const struct fby_look_files files = {open_member, index};
    fby_err                     err   = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < index->n_shards; i++) {
        fby_look_tally(split, &index->shards[i]);
        err = fby_look_into_pngs(split, &index->shards[i], &files, why);
    }
    split->counted_all = true;
    fby_look_finish(split);
    return err;
}
