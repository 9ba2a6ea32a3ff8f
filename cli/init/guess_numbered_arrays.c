/* SPDX-License-Identifier: Apache-2.0 */
/* guess_numbered_arrays.c - shards of arrays in one folder: x_0.npy, y_0.npy, x_1.npy,
 * y_1.npy, or batch0_x.npy and so on.
 *
 * As columns of one table, the rows of all shards would be one row. They are told by
 * their names: each number has the same ones, the numbers are 0 to n - 1 or 1 to n,
 * and one of the names is what a column of samples is called. Other columns with
 * numbers, as left_0 and right_0, may be those of one table. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_columns.h"
#include "pipeline/text.h"

enum { MAX_ARRAYS = 1024 };

static const char separators[] = "_-. ";

struct numbered { /* batch12_x: 12 and x */
    uint32_t number;
    char     stem[FBY_NAME_SIZE];
};

static bool is_word(
    const char *name, size_t size, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && (strlen(words[i]) != size ||
                        strncasecmp(name, words[i], size) != 0)) {
        i++;
    }
    return i < n;
}

/* Split the name, without its ending, at its first or last number. */
static bool split_name(const char *name, bool is_last, struct numbered *out)
{
    static const char *const shards[] = {"batch", "shard", "part", "chunk"};
    size_t                   n        = strlen(name) - strlen(".npy");
    size_t                   begin    = strcspn(name, "0123456789");
    size_t                   end      = 0;
    if (is_last) {
        for (begin = n;
             begin > 0 && !isdigit((unsigned char)name[begin - 1]);) {
            begin--;
        }
        while (begin > 0 && isdigit((unsigned char)name[begin - 1])) {
            begin--;
        }
    }
    size_t size = strspn(name + begin, "0123456789");
    if (begin >= n || size == 0 || size > 6) {
        return false;
    }
    end         = begin + size;
    out->number = 0;
    for (size_t i = begin; i < end; i++) {
        out->number = 10 * out->number + (uint32_t)(name[i] - '0');
    }
    while (begin > 0 && strchr(separators, name[begin - 1]) != NULL) {
        begin--;
    }
    bool is_shard = begin == 0 || is_word(name, begin, shards, 4);
    end += is_shard ? strspn(name + end, separators) : 0;
    snprintf(out->stem, sizeof(out->stem), "%.*s%.*s",
        is_shard ? 0 : (int)begin, name, (int)(n > end ? n - end : 0),
        name + end);
    return out->stem[0] != '\0';
}

/* Is a column of samples called so: x, labels, img_emb? */
static bool is_column(const char *stem)
{
    static const char *const words[] = {"x", "y", "feature", "features", "feat",
        "feats", "label", "labels", "target", "targets", "data", "emb", "embs",
        "embedding", "embeddings"};
    enum { N_WORDS = sizeof(words) / sizeof(words[0]), FIRST_OF_ENDS = 11 };
    const char *end = strrchr(stem, '_');
    return is_word(stem, strlen(stem), words, N_WORDS) ||
           (end != NULL && is_word(end + 1, strlen(end + 1),
                               words + FIRST_OF_ENDS, N_WORDS - FIRST_OF_ENDS));
}

/* Has each number from the least to the largest the stems of the first name? */
static bool are_same_stems(const struct numbered *names, uint32_t n)
{
    uint32_t least   = names[0].number;
    uint32_t largest = names[0].number;
    uint32_t n_stems = 0;
    bool     found   = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = names[i].number;
        uint32_t alike  = 0;
        least           = number < least ? number : least;
        largest         = number > largest ? number : largest;
        found           = found || is_column(names[i].stem);
        n_stems += number == names[0].number ? 1 : 0;
        for (uint32_t k = 0; k < n; k++) {
            alike += names[k].number == names[0].number &&
                             strcmp(names[k].stem, names[i].stem) == 0
                         ? 1
                         : 0;
        }
        if (alike != 1) {
            return false;
        }
    }
    return found && least < 2 && largest > least && n_stems > 1 &&
           n == n_stems * (largest - least + 1);
}

static fby_err add_array(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    bool is_array = !entry->is_dir && fby_text_ends_with(entry->name, ".npy");
    return is_array ? fby_listing_add(arg, entry, why) : FBY_OK;
}

bool fby_guess_are_numbered_arrays(struct fby_search *search, const char *path)
{
    struct fby_listing arrays = {0};
    struct numbered   *names  = calloc(MAX_ARRAYS, sizeof(*names));
    bool               found  = false;
    bool               is_read =
        names != NULL && fby_guess_visit_dir(search, path, NULL, add_array,
                             &arrays, NULL, NULL) == FBY_OK;
    for (int is_last = 0; is_read && !found && is_last < 2; is_last++) {
        uint32_t n = 0;
        while (n < arrays.count && n < MAX_ARRAYS &&
               split_name(arrays.entries[n].name, is_last, &names[n])) {
            n++;
        }
        found = n > 0 && n == arrays.count && are_same_stems(names, n);
    }
    fby_listing_fini(&arrays);
    free(names);
    return found;
}
