/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer_client/receive/dataset_agreement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

static void free_candidate(struct fby_candidate *c)
{
    for (size_t k = 0; k < c->n_shards; k++) {
        fby_free_text(c->shards[k].name);
    }
    free(c->shards);
    free(c->classes);
}

void fby_dataset_agreement_fini(struct fby_dataset_agreement *self)
{
    for (uint32_t i = 0; i < self->n_candidates; i++) {
        free_candidate(&self->candidates[i]);
    }
    free_candidate(&self->mismatch);
    *self = (struct fby_dataset_agreement){0};
}

struct short_hex { /* the first 8 bytes of a digest, in hexadecimal */
    char text[17];
};

static struct short_hex short_hex_of(const struct fby_digest *digest)
{
    struct short_hex hex;
    fby_hex(digest->bytes, 8, hex.text);
    return hex;
}

static fby_err pin_digest(struct fby_maybe_digest *pinned,
    const struct fby_maybe_digest *given, const char *name,
    struct fby_error_detail *why)
{
    if (!given->known) {
        return FBY_OK;
    }
    if (pinned->known && !fby_digest_equal(&pinned->digest, &given->digest)) {
        return fby_error_set(why, FBY_CONFIG, "%s %s, but it must be %s", name,
            short_hex_of(&given->digest).text,
            short_hex_of(&pinned->digest).text);
    }
    *pinned = *given;
    return FBY_OK;
}

fby_err fby_dataset_agreement_pin(struct fby_dataset_agreement *self,
    const struct fby_maybe_digest                              *data,
    const struct fby_maybe_digest *fingerprint, const char *origin,
    struct fby_error_detail *why)
{
    fby_err err = pin_digest(&self->data, data, "data digest", why);
    if (err == FBY_OK) {
        err = pin_digest(&self->fingerprint, fingerprint, "fingerprint", why);
    }
    if (err != FBY_OK) {
        return fby_error_prefix(
            why, err, "%s and %s disagree", self->pinned_by, origin);
    }
    if (self->pinned_by == NULL && (data->known || fingerprint->known)) {
        self->pinned_by = origin;
    }
    return FBY_OK;
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

static void copy_answer(const char *worker, const struct fby_opened *opened,
    struct fby_candidate *out)
{
    *out = (struct fby_candidate){
        .data        = opened->data,
        .fingerprint = opened->fingerprint,
        .samples     = opened->samples,
        .shards      = copy_shards(opened),
        .n_shards    = opened->n_shards,
        .votes       = 1,
    };
    out->classes      = fby_memdup(opened->classes.data, opened->classes.size);
    out->classes_size = opened->classes.size;
    snprintf(out->worker, sizeof(out->worker), "%s", worker);
}

static bool matches_pin(
    const struct fby_maybe_digest *pin, const struct fby_digest *digest)
{
    return !pin->known || fby_digest_equal(&pin->digest, digest);
}

const struct fby_candidate *fby_dataset_agreement_find(
    const struct fby_dataset_agreement *self, const struct fby_digest *data,
    const struct fby_digest *fingerprint)
{
    for (uint32_t i = 0; i < self->n_candidates; i++) {
        const struct fby_candidate *c = &self->candidates[i];
        if (fby_digest_equal(&c->data, data) &&
            fby_digest_equal(&c->fingerprint, fingerprint)) {
            return c;
        }
    }
    return NULL;
}

void fby_dataset_agreement_vote(struct fby_dataset_agreement *self,
    const char *worker, const struct fby_opened *opened)
{
    if (!matches_pin(&self->data, &opened->data) ||
        !matches_pin(&self->fingerprint, &opened->fingerprint)) {
        if (!self->has_mismatch) {
            copy_answer(worker, opened, &self->mismatch);
            self->has_mismatch = true;
        }
        return;
    }
    for (uint32_t i = 0; i < self->n_candidates; i++) {
        struct fby_candidate *c = &self->candidates[i];
        if (fby_digest_equal(&c->data, &opened->data) &&
            fby_digest_equal(&c->fingerprint, &opened->fingerprint)) {
            c->votes++;
            return;
        }
    }
    if (self->n_candidates == FBY_MAX_CANDIDATES) {
        return; /* too many different answers: ignore further ones */
    }
    copy_answer(worker, opened, &self->candidates[self->n_candidates++]);
}

const struct fby_candidate *fby_dataset_agreement_mismatch(
    const struct fby_dataset_agreement *self)
{
    for (uint32_t i = 0; i < self->n_candidates; i++) {
        const struct fby_candidate *c = &self->candidates[i];
        if (!matches_pin(&self->data, &c->data) ||
            !matches_pin(&self->fingerprint, &c->fingerprint)) {
            return c; /* it came before the pin */
        }
    }
    return self->has_mismatch ? &self->mismatch : NULL;
}

static bool has_same_classes(
    const struct fby_candidate *a, const struct fby_candidate *b)
{
    return a->classes_size == b->classes_size &&
           (a->classes_size == 0 ||
               memcmp(a->classes, b->classes, a->classes_size) == 0);
}

/* Describe the first shard that differs, the classes, or else the numbers of
 * shards. */
static void describe_difference(const struct fby_candidate *a,
    const struct fby_candidate *b, struct fby_error_detail *out)
{
    for (size_t i = 0; i < a->n_shards && i < b->n_shards; i++) {
        const struct fby_shard_info *shard_a = &a->shards[i];
        const struct fby_shard_info *shard_b = &b->shards[i];
        if (strcmp(shard_a->name, shard_b->name) != 0) {
            snprintf(out->text, sizeof(out->text),
                "the first shard that differs: %.80s and %.80s", shard_a->name,
                shard_b->name);
            return;
        }
        if (!fby_digest_equal(&shard_a->digest, &shard_b->digest)) {
            snprintf(out->text, sizeof(out->text),
                "the first shard that differs: %.160s", shard_a->name);
            return;
        }
    }
    if (a->n_shards == b->n_shards && !has_same_classes(a, b)) {
        snprintf(out->text, sizeof(out->text),
            "the class folders that number the classes differ: give all "
            "workers the same ones (and run one version)");
        return;
    }
    snprintf(out->text, sizeof(out->text), "%zu and %zu shards", a->n_shards,
        b->n_shards);
}

static fby_err fail_with_tie(const struct fby_candidate *a,
    const struct fby_candidate *b, struct fby_error_detail *why)
{
    struct fby_error_detail difference;
    if (fby_digest_equal(&a->data, &b->data)) {
        return fby_error_set(why, FBY_CONFIG,
            "workers differ in arithmetic: fingerprint %s at %.90s, %s at "
            "%.90s; run one build on all",
            short_hex_of(&a->fingerprint).text, a->worker,
            short_hex_of(&b->fingerprint).text, b->worker);
    }
    describe_difference(a, b, &difference);
    return fby_error_set(why, FBY_CONFIG,
        "workers differ in data: %s at %.90s, %s at %.90s; %.200s",
        short_hex_of(&a->data).text, a->worker, short_hex_of(&b->data).text,
        b->worker, difference.text);
}

static fby_err fail_with_pin(const struct fby_dataset_agreement *self,
    const struct fby_candidate *c, struct fby_error_detail *why)
{
    bool                     data_differs = !matches_pin(&self->data, &c->data);
    const struct fby_digest *pinned =
        data_differs ? &self->data.digest : &self->fingerprint.digest;
    return fby_error_set(why, FBY_CONFIG,
        "%s %s is pinned by %s, but %.200s has %s%s",
        data_differs ? "data digest" : "fingerprint", short_hex_of(pinned).text,
        self->pinned_by, c->worker,
        short_hex_of(data_differs ? &c->data : &c->fingerprint).text,
        data_differs ? "" : FBY_OTHER_BUILD_REMEDY);
}

struct ranking { /* the two candidates with most votes that match the pins */
    const struct fby_candidate *best;
    const struct fby_candidate *second;
};

static struct ranking rank_candidates(const struct fby_dataset_agreement *self)
{
    struct ranking ranking = {NULL, NULL};
    for (uint32_t i = 0; i < self->n_candidates; i++) {
        const struct fby_candidate *c = &self->candidates[i];
        if (!matches_pin(&self->data, &c->data) ||
            !matches_pin(&self->fingerprint, &c->fingerprint)) {
            continue;
        }
        if (ranking.best == NULL || c->votes > ranking.best->votes) {
            ranking.second = ranking.best;
            ranking.best   = c;
        } else if (ranking.second == NULL || c->votes > ranking.second->votes) {
            ranking.second = c;
        }
    }
    return ranking;
}

fby_err fby_dataset_agreement_decide(const struct fby_dataset_agreement *self,
    bool final, const struct fby_candidate **out, struct fby_error_detail *why)
{
    struct ranking ranking     = rank_candidates(self);
    bool           both_pinned = self->data.known && self->fingerprint.known;
    bool           is_certain  = both_pinned && ranking.best != NULL;
    const struct fby_candidate *mismatch = fby_dataset_agreement_mismatch(self);
    bool has_answer = ranking.best != NULL || mismatch != NULL;
    if (!has_answer || (!final && !is_certain)) {
        return FBY_AGAIN;
    }
    if (ranking.best == NULL) {
        return fail_with_pin(self, mismatch, why);
    }
    if (ranking.second != NULL &&
        ranking.second->votes == ranking.best->votes) {
        return fail_with_tie(ranking.best, ranking.second, why);
    }
    *out = ranking.best;
    return FBY_OK;
}
