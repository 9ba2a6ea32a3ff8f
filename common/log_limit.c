/* SPDX-License-Identifier: Apache-2.0 */
/* A table of words, each with the count of its lines in the current span. */
#include "common/log_limit.h"

#include <string.h>

/* Find the entry of `word`, or give it a free one; NULL when none is free. */
static struct fby_log_word *find_or_add_word(
    struct fby_log_limit *self, const char *word)
{
    for (int i = 0; i < FBY_LOG_WORDS; i++) {
        struct fby_log_word *entry = &self->words[i];
        if (entry->word == NULL) {
            entry->word = word;
        }
        if (strcmp(entry->word, word) == 0) {
            return entry;
        }
    }
    return NULL;
}

bool fby_log_limit_admit(struct fby_log_limit *self, const char *word,
    int64_t now_ns, uint64_t *n_omitted)
{
    struct fby_log_word *entry = find_or_add_word(self, word);
    *n_omitted                 = 0;
    if (entry == NULL) {
        return true; /* too many different words: not limited */
    }
    if (entry->lines == 0 || now_ns - entry->span_start_ns >= FBY_LOG_SPAN_NS) {
        entry->span_start_ns = now_ns;
        entry->lines         = 0;
    }
    if (entry->lines == FBY_LOG_BURST) {
        entry->n_omitted++;
        return false;
    }
    entry->lines++;
    *n_omitted       = entry->n_omitted;
    entry->n_omitted = 0;
    return true;
}
