/* SPDX-License-Identifier: Apache-2.0 */
/* shard_list_diff.c - compare two lists of shards, which are sorted by name. */
#include "trainer_client/receive/shard_list_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/plural.h"

enum {
    MAX_NAME     = 120, /* bytes of a shard's name in the message */
    PART_DIGITS  = 7,
    PART_SAMPLES = 1024 /* of "part-NNNNNNN" (proto/PROTOCOL.md) */
};

static const char prefix[] = "part-"; /* then PART_DIGITS digits */

struct shown_shard {
    char text[MAX_NAME + 32];
};

/* "shard NAME". A source of single files has no shard files: its parts are named
 * by the number of their first sample. */
static struct shown_shard show_shard(const char *name)
{
    struct shown_shard shown;
    const char        *digits  = name + strlen(prefix);
    bool               is_part = strncmp(name, prefix, strlen(prefix)) == 0 &&
                   strlen(digits) == PART_DIGITS &&
                   strspn(digits, "0123456789") == PART_DIGITS;
    if (is_part) {
        uint64_t number = strtoull(digits, NULL, 10);
        snprintf(shown.text, sizeof(shown.text),
            "the part from sample %" PRIu64 " on", number * PART_SAMPLES);
    } else {
        snprintf(shown.text, sizeof(shown.text), "shard %.*s", MAX_NAME, name);
    }
    return shown;
}

static void describe_added(
    const struct fby_shard_info *shard, struct fby_error_detail *out)
{
    (void)fby_error_set(out, FBY_CONFIG, "%s was added (%s)",
        show_shard(shard->name).text,
        fby_plural(shard->samples, "sample").text);
}

static void describe_removed(const struct fby_shard_info *shard,
    const struct fby_shard_list_words *words, struct fby_error_detail *out)
{
    (void)fby_error_set(out, FBY_CONFIG, "%s is missing (%s %s)",
        show_shard(shard->name).text, fby_plural(shard->samples, "sample").text,
        words->first);
}

static void describe_changed(const struct fby_shard_info *then,
    const struct fby_shard_info *now, const struct fby_shard_list_words *words,
    struct fby_error_detail *out)
{
    if (then->samples != now->samples) {
        (void)fby_error_set(out, FBY_CONFIG, "%s (%s %s, %" PRIu32 " %s)",
            show_shard(now->name).text,
            fby_plural(then->samples, "sample").text, words->first,
            now->samples, words->second);
    } else {
        (void)fby_error_set(out, FBY_CONFIG,
            "%s (same number of samples, but names, sizes or hashes differ)",
            show_shard(now->name).text);
    }
}

void fby_shard_list_first_difference(const struct fby_shard_list *first,
    const struct fby_shard_list                                  *second,
    const struct fby_shard_list_words *words, struct fby_error_detail *out)
{
    size_t i = 0; /* both lists are equal up to here */
    while (
        i < first->n_shards && i < second->n_shards &&
        strcmp(first->shards[i].name, second->shards[i].name) == 0 &&
        fby_digest_equal(&first->shards[i].digest, &second->shards[i].digest)) {
        i++;
    }
    bool first_ended  = i == first->n_shards;
    bool second_ended = i == second->n_shards;
    int  order        = first_ended || second_ended
                            ? second_ended - first_ended
                            : strcmp(second->shards[i].name, first->shards[i].name);
    if (first_ended && second_ended) { /* the digest has only one part more */
        (void)fby_error_set(out, FBY_CONFIG,
            "the class folders of the split that numbers the classes");
    } else if (order < 0) {
        describe_added(&second->shards[i], out);
    } else if (order > 0) {
        describe_removed(&first->shards[i], words, out);
    } else {
        describe_changed(&first->shards[i], &second->shards[i], words, out);
    }
}

void fby_shard_list_diff(const struct fby_shard_list *then,
    const struct fby_shard_list *now, struct fby_error_detail *out)
{
    static const struct fby_shard_list_words words = {"then", "now"};

    struct fby_error_detail first   = {""};
    struct fby_plural       samples = fby_plural(now->samples, "sample");
    struct fby_plural       shards  = fby_plural(now->n_shards, "shard");
    if (then == NULL) {
        (void)fby_error_set(out, FBY_CONFIG,
            "the data changed since this state was saved: %s in %s now",
            samples.text, shards.text);
        return;
    }
    fby_shard_list_first_difference(then, now, &words, &first);
    (void)fby_error_set(out, FBY_CONFIG,
        "the data changed since this state was saved: %s in %s then, %s in %s "
        "now; first difference: %.250s",
        fby_plural(then->samples, "sample").text,
        fby_plural(then->n_shards, "shard").text, samples.text, shards.text,
        first.text);
}
