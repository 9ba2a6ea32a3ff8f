#include "common/log_limit.h"

#include <string.h>

/* Find the entry of `word`, or use a free one; NULL when all are in use. */
static struct fby_log_word *find_or_add_word(
    struct fby_log_limit *self, const char *word)
{
    for (int i = 0; i < FBY_LOG_WORDS; i++) {
        struct fby_log_word *w = &self->words[i];
        if (w->word == NULL) {
            w->word = word;
        }
        if (strcmp(w->word, word) == 0) {
            return w;
        }
    }
    return NULL;
}

bool fby_log_limit_admit(struct fby_log_limit *self, const char *word,
    int64_t now_ns, uint64_t *left_out)
{
    struct fby_log_word *w = find_or_add_word(self, word);
    *left_out              = 0;
    if (w == NULL) {
        return true;
    }
    if (w->lines == 0 || now_ns - w->since_ns >= FBY_LOG_SPAN_NS) {
        w->since_ns = now_ns;
        w->lines    = 0;
    }
    if (w->lines == FBY_LOG_BURST) {
        w->left_out++;
        return false;
    }
    w->lines++;
    *left_out   = w->left_out;
    w->left_out = 0;
    return true;
}
