#include "trainer_client/receive/dataset_agreement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

static void forget(struct fby_candidate *c)
{
    for (size_t i = 0; i < c->n_shards; i++) {
        union {
            const char *from;
            void       *to;
        } name = {.from = c->shards[i].name};
        free(name.to);
    }
    free(c->shards);
}

void fby_dataset_agreement_fini(struct fby_dataset_agreement *self)
{
    for (uint32_t i = 0; i < self->n; i++) {
        forget(&self->candidates[i]);
    }
    *self = (struct fby_dataset_agreement){0};
}

struct short_hex {
    char text[17];
};

static struct short_hex show(const struct fby_digest *digest)
{
    struct short_hex hex;
    fby_hex(digest->bytes, 8, hex.text);
    return hex;
}

static fby_err pin_one(struct fby_maybe_digest *mine,
    const struct fby_maybe_digest *other, const char *what, struct fby_why *why)
{
    if (!other->known) {
        return FBY_OK;
    }
    if (mine->known && !fby_digest_equal(&mine->digest, &other->digest)) {
        return fby_because(why, FBY_CONFIG, "%s %s, but it must be %s", what,
            show(&other->digest).text, show(&mine->digest).text);
    }
    *mine = *other;
    return FBY_OK;
}

fby_err fby_dataset_agreement_pin(struct fby_dataset_agreement *self,
    const struct fby_maybe_digest                              *data,
    const struct fby_maybe_digest *fingerprint, const char *by,
    struct fby_why *why)
{
    const char *before = self->pinned_by;
    fby_err     err    = pin_one(&self->data, data, "data digest", why);
    if (err == FBY_OK) {
        err = pin_one(&self->fingerprint, fingerprint, "fingerprint", why);
    }
    if (err != FBY_OK) {
        return fby_because_in(why, err, "%s and %s disagree", before, by);
    }
    if (before == NULL && (data->known || fingerprint->known)) {
        self->pinned_by = by;
    }
    return FBY_OK;
}

static bool says(const struct fby_candidate *c, const struct fby_opened *opened)
{
    return fby_digest_equal(&c->data, &opened->data) &&
           fby_digest_equal(&c->fingerprint, &opened->fingerprint);
}

static struct fby_shard_info *copy_shards(const struct fby_opened *opened)
{
    struct fby_shard_info *copy =
        fby_memdup(opened->shards, opened->n_shards * sizeof(*copy));
    for (size_t i = 0; i < opened->n_shards; i++) {
        copy[i].name = fby_strdup(copy[i].name);
    }
    return copy;
}

void fby_dataset_agreement_vote(struct fby_dataset_agreement *self,
    const char *who, const struct fby_opened *opened)
{
    for (uint32_t i = 0; i < self->n; i++) {
        if (says(&self->candidates[i], opened)) {
            self->candidates[i].votes++;
            return;
        }
    }
    if (self->n == FBY_MAX_CANDIDATES) {
        return; /* as many opinions: the verdict is a tie or a pin anyway */
    }
    struct fby_candidate *c = &self->candidates[self->n++];
    *c                      = (struct fby_candidate){
                             .data        = opened->data,
                             .fingerprint = opened->fingerprint,
                             .samples     = opened->samples,
                             .shards      = copy_shards(opened),
                             .n_shards    = opened->n_shards,
                             .votes       = 1,
    };
    snprintf(c->who, sizeof(c->who), "%s", who);
}

static bool matches(
    const struct fby_maybe_digest *pin, const struct fby_digest *digest)
{
    return !pin->known || fby_digest_equal(&pin->digest, digest);
}

/* The first place where two lists of shards part. */
static void describe_difference(const struct fby_candidate *a,
    const struct fby_candidate *b, struct fby_why *out)
{
    for (size_t i = 0; i < a->n_shards && i < b->n_shards; i++) {
        const struct fby_shard_info *x = &a->shards[i];
        const struct fby_shard_info *y = &b->shards[i];
        if (strcmp(x->name, y->name) != 0) {
            snprintf(out->text, sizeof(out->text),
                "the first shard that differs: %.80s here, %.80s there",
                x->name, y->name);
            return;
        }
        if (!fby_digest_equal(&x->digest, &y->digest)) {
            snprintf(out->text, sizeof(out->text),
                "the first shard that differs: %.160s", x->name);
            return;
        }
    }
    snprintf(out->text, sizeof(out->text), "%zu shards here, %zu there",
        a->n_shards, b->n_shards);
}

static fby_err tie(const struct fby_candidate *a, const struct fby_candidate *b,
    struct fby_why *why)
{
    struct fby_why where;
    if (fby_digest_equal(&a->data, &b->data)) {
        return fby_because(why, FBY_CONFIG,
            "workers differ in arithmetic: fingerprint %s at %.90s, %s at "
            "%.90s; give them one build",
            show(&a->fingerprint).text, a->who, show(&b->fingerprint).text,
            b->who);
    }
    describe_difference(a, b, &where);
    return fby_because(why, FBY_CONFIG,
        "workers differ in data: %s at %.90s, %s at %.90s; %.200s",
        show(&a->data).text, a->who, show(&b->data).text, b->who, where.text);
}

static fby_err not_pinned(
    const struct fby_dataset_agreement *self, struct fby_why *why)
{
    const struct fby_candidate *c    = &self->candidates[0];
    bool                        data = !matches(&self->data, &c->data);
    const struct fby_digest    *want =
        data ? &self->data.digest : &self->fingerprint.digest;
    return fby_because(why, FBY_CONFIG,
        "%s %s is pinned by %s, but %.200s has %s",
        data ? "data digest" : "fingerprint", show(want).text, self->pinned_by,
        c->who, show(data ? &c->data : &c->fingerprint).text);
}

struct poll { /* the two candidates with most votes that fit the pins */
    const struct fby_candidate *best;
    const struct fby_candidate *second;
};

static struct poll count(const struct fby_dataset_agreement *self)
{
    struct poll poll = {NULL, NULL};
    for (uint32_t i = 0; i < self->n; i++) {
        const struct fby_candidate *c = &self->candidates[i];
        if (!matches(&self->data, &c->data) ||
            !matches(&self->fingerprint, &c->fingerprint)) {
            continue;
        }
        if (poll.best == NULL || c->votes > poll.best->votes) {
            poll.second = poll.best;
            poll.best   = c;
        } else if (poll.second == NULL || c->votes > poll.second->votes) {
            poll.second = c;
        }
    }
    return poll;
}

fby_err fby_dataset_agreement_decide(const struct fby_dataset_agreement *self,
    bool all, const struct fby_candidate **out, struct fby_why *why)
{
    struct poll poll   = count(self);
    bool        pinned = self->data.known && self->fingerprint.known;
    if (self->n == 0 || (!all && !(pinned && poll.best != NULL))) {
        return FBY_AGAIN;
    }
    if (poll.best == NULL) {
        return not_pinned(self, why);
    }
    if (poll.second != NULL && poll.second->votes == poll.best->votes) {
        return tie(poll.best, poll.second, why);
    }
    *out = poll.best;
    return FBY_OK;
}
