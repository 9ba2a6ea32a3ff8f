/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_shards.c - refuse tar shards with samples whose files are in two shards,
 * and shards without pictures. */
#include "cli/init/refuse_shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "common/mem.h"
#include "common/shell.h"
#include "pipeline/text.h"

struct keyed_sample { /* a sample of one of the shards */
    const char *key;
    uint32_t    shard, sample;
};

static int compare_keys(const void *a, const void *b)
{
    const struct keyed_sample *x     = a;
    const struct keyed_sample *y     = b;
    int                        order = strcmp(x->key, y->key);
    return order != 0 ? order : x->shard < y->shard ? -1 : x->shard > y->shard;
}

static bool has_suffix(
    const struct fby_shard *shard, uint32_t sample, const char *suffix)
{
    for (uint32_t m = shard->first_member[sample];
         m < shard->first_member[sample + 1]; m++) {
        if (fby_equal_ignoring_case(fby_shard_suffix(shard, m), suffix)) {
            return true;
        }
    }
    return false;
}

/* True if two samples of one key have no extension in common. Then they are
 * probably one sample, and not two of shards that count from 0 each. */
static bool are_parts(const struct fby_shard *shards,
    const struct keyed_sample *a, const struct keyed_sample *b)
{
    const struct fby_shard *shard = &shards[a->shard];
    for (uint32_t m = shard->first_member[a->sample];
         m < shard->first_member[a->sample + 1]; m++) {
        if (has_suffix(
                &shards[b->shard], b->sample, fby_shard_suffix(shard, m))) {
            return false;
        }
    }
    return true;
}

static const char *first_suffix(
    const struct fby_shard *shards, const struct keyed_sample *sample)
{
    const struct fby_shard *shard = &shards[sample->shard];
    return fby_shard_suffix(shard, shard->first_member[sample->sample]);
}

static fby_err refuse_parts(const struct fby_shard *shards,
    const struct keyed_sample *a, const struct keyed_sample *b,
    struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG,
        "sample %s is in two shards: %s has its .%s, and %s its .%s; write all "
        "files of a sample into one shard, one after the other",
        fby_text_show(a->key).text, shards[a->shard].name,
        first_suffix(shards, a), shards[b->shard].name,
        first_suffix(shards, b));
}

static fby_err check_samples(const struct fby_shard *shards, uint32_t n_shards,
    struct fby_error_detail *why)
{
    size_t n = 0;
    for (uint32_t i = 0; i < n_shards; i++) {
        n += shards[i].n_samples;
    }
    struct keyed_sample *samples =
        fby_realloc(NULL, (n + 1) * sizeof(*samples));
    size_t k = 0;
    for (uint32_t i = 0; i < n_shards; i++) {
        for (uint32_t s = 0; s < shards[i].n_samples; s++) {
            samples[k++] =
                (struct keyed_sample){fby_shard_key(&shards[i], s), i, s};
        }
    }
    qsort(samples, n, sizeof(*samples), compare_keys);
    fby_err err = FBY_OK;
    for (size_t i = 1; err == FBY_OK && i < n; i++) {
        if (strcmp(samples[i - 1].key, samples[i].key) == 0 &&
            are_parts(shards, &samples[i - 1], &samples[i])) {
            err = refuse_parts(shards, &samples[i - 1], &samples[i], why);
        }
    }
    free(samples);
    return err;
}

static bool has_picture(const struct fby_shard *shard)
{
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        struct fby_init_member member = {.count = 1};
        (void)fby_init_to_field_name(shard->suffixes[i], member.extension);
        if (fby_init_is_picture(&member)) {
            return true;
        }
    }
    return false;
}

/* Refuse a shard without a picture if another has one. */
static fby_err check_pictures(const struct fby_shard *shards, uint32_t n_shards,
    struct fby_error_detail *why)
{
    const struct fby_shard *with    = NULL;
    const struct fby_shard *without = NULL;
    for (uint32_t i = 0; i < n_shards; i++) {
        if (has_picture(&shards[i])) {
            with = &shards[i];
        } else if (shards[i].n_members > 0) {
            without = &shards[i];
        }
    }
    if (with == NULL || without == NULL) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "shard %s has no picture (.jpg, .jpeg, .png, .webp), but its first "
        "sample has "
        "a .%s, while shard %s has pictures; move it elsewhere",
        without->name, fby_shard_suffix(without, 0), with->name);
}

static bool sample_has_picture(const struct fby_shard *shard, uint32_t sample)
{
    uint32_t m   = shard->first_member[sample];
    uint32_t end = shard->first_member[sample + 1];
    while (m < end && !fby_init_is_picture_suffix(fby_shard_suffix(shard, m))) {
        m++;
    }
    return m < end;
}

enum { MAX_STRAY = 3 /* samples: of more, they may be meant so */ };

/* Set the command to the one that writes tars without such samples into new/. Returns
 * ":", or "" if there is none. */
static const char *advise(const struct fby_search *search, const char *path)
{
    bool        is_file = search->only_file[0] != '\0';
    const char *tars    = is_file ? search->only_file : "*.tar";
    char        made[FBY_PATH_SIZE];
    if (!fby_shell_is_quotable(tars) ||
        fby_path_join("new", search->only_file, made, NULL) != FBY_OK) {
        return "";
    }
    const char *colon = fby_guess_set_command(search, path,
        FBY_PYTHON "G = '%s'; %s\"", tars, fby_program_tar_pictures);
    fby_guess_end_command_with(search, path, made);
    return colon;
}

/* Refuse the sample without a picture, as a README among them. */
static fby_err refuse_stray(const struct fby_search *search, const char *path,
    const struct keyed_sample *stray, const struct fby_shard *shard,
    struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG,
        "the sample %s of %s has no picture, as the others have: write tars "
        "without such samples into new/, and give that to init%s",
        fby_text_show_begin(stray->key, 24).text,
        fby_text_show_begin(shard->name, 24).text, advise(search, path));
}

fby_err fby_refuse_stray_samples(const struct fby_search *search,
    const char *path, const struct fby_shard *shards, uint32_t n_shards,
    struct fby_error_detail *why)
{
    struct keyed_sample stray      = {.key = NULL};
    uint64_t            n_stray    = 0;
    uint64_t            n_pictures = 0;
    for (uint32_t i = 0; i < n_shards; i++) {
        for (uint32_t s = 0; s < shards[i].n_samples; s++) {
            if (sample_has_picture(&shards[i], s)) {
                n_pictures++;
            } else if (n_stray++ == 0) {
                stray =
                    (struct keyed_sample){fby_shard_key(&shards[i], s), i, s};
            }
        }
    }
    return n_stray > 0 && n_stray <= MAX_STRAY && n_pictures > n_stray
               ? refuse_stray(search, path, &stray, &shards[stray.shard], why)
               : FBY_OK;
}

fby_err fby_refuse_shards(
    const struct fby_shard *shards, uint32_t n, struct fby_error_detail *why)
{
    fby_err err = check_samples(shards, n, why);
    return err == FBY_OK ? check_pictures(shards, n, why) : err;
}
