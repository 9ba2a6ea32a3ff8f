/* SPDX-License-Identifier: Apache-2.0 */
#include "common/locator.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/timer.h"

static const int64_t default_lease_ns = 10 * FBY_NS_PER_S;
static const int64_t min_lease_ns     = FBY_NS_PER_S;
static const int64_t max_lease_ns     = 30 * FBY_NS_PER_S;
static const int64_t try_ns           = 3 * FBY_NS_PER_S; /* an address */
static const int64_t min_delay_ns     = FBY_NS_PER_S;     /* of lookups */
static const int64_t max_delay_ns     = 30 * FBY_NS_PER_S;
static const int64_t log_again_ns     = 30 * FBY_NS_PER_S;

static const int64_t long_ago_ns = INT64_MIN / 2;

struct fby_locator {
    struct fby_resolver    *resolver; /* NULL: the address is numeric */
    struct fby_endpoints    known;    /* addresses; n is 0 before a lookup */
    size_t                  current;  /* index of the one in use */
    size_t                  n_tried;  /* addresses tried since the last answer
                                         or lookup, the one in use included */
    bool                    answered; /* by the one in use */
    int64_t                 lease_ns;
    int64_t                 connected_ns; /* when the caller had to connect */
    int64_t                 heard_ns;     /* last message, or connected_ns */
    int64_t                 lookup_due_ns;
    int64_t                 delay_ns;   /* to the lookup after the next */
    int64_t                 log_due_ns; /* when SERVER-UNKNOWN may come */
    struct fby_error_detail problem;    /* of the last lookup */
};

fby_err fby_locator_create(const struct fby_resolver_source *source,
    struct fby_locator **out, struct fby_error_detail *why)
{
    struct fby_resolver *resolver = NULL;
    struct fby_endpoints known    = {.n = 0};
    bool                 is_name  = true;
    if (source->text != NULL) {
        FBY_TRY(fby_endpoint_check(source->text, known.text[0], &is_name, why));
    }
    if (is_name) {
        FBY_TRY(fby_resolver_create(source, &resolver, why));
    }
    struct fby_locator *self = fby_zalloc(sizeof(*self));
    known.n                  = is_name ? 0 : 1;
    self->known              = known;
    self->resolver           = resolver;
    self->connected_ns       = long_ago_ns;
    self->heard_ns           = long_ago_ns;
    self->delay_ns           = fby_scaled_timeout_ns(min_delay_ns);
    self->lease_ns           = fby_scaled_timeout_ns(default_lease_ns);
    *out                     = self;
    return FBY_OK;
}

void fby_locator_destroy(struct fby_locator **self_p)
{
    if (*self_p != NULL) {
        fby_resolver_destroy(&(*self_p)->resolver);
        free(*self_p);
        *self_p = NULL;
    }
}

int fby_locator_fd(const struct fby_locator *self)
{
    return self->resolver != NULL ? fby_resolver_fd(self->resolver) : -1;
}

const char *fby_locator_endpoint(const struct fby_locator *self)
{
    return self->known.n > 0 ? self->known.text[self->current] : "";
}

const char *fby_locator_problem(const struct fby_locator *self)
{
    return self->problem.text;
}

void fby_locator_heard(struct fby_locator *self, int64_t now_ns)
{
    self->answered        = true;
    self->heard_ns        = now_ns;
    self->n_tried         = 1;
    self->lookup_due_ns   = 0;
    self->delay_ns        = fby_scaled_timeout_ns(min_delay_ns);
    self->log_due_ns      = 0;
    self->problem.text[0] = '\0';
}

void fby_locator_set_lease(struct fby_locator *self, int64_t lease_ns)
{
    int64_t least  = fby_scaled_timeout_ns(min_lease_ns);
    int64_t most   = fby_scaled_timeout_ns(max_lease_ns);
    self->lease_ns = lease_ns < least ? least : fby_earlier_ns(lease_ns, most);
}

/* ---- Connecting ---------------------------------------------------------- */

static bool use_address(struct fby_locator *self, size_t index, int64_t now_ns)
{
    self->current      = index;
    self->answered     = false;
    self->connected_ns = now_ns;
    self->heard_ns     = now_ns;
    return true;
}

/* When the address in use counts as silent. One that is the only one is given a
 * lease from the start, because there is nothing else to try. */
static int64_t silent_at_ns(const struct fby_locator *self)
{
    bool has_lease = self->answered || self->resolver == NULL;
    return self->heard_ns +
           (has_lease ? self->lease_ns : fby_scaled_timeout_ns(try_ns));
}

/* ---- Lookups ------------------------------------------------------------- */

static void start_lookup(struct fby_locator *self, int64_t now_ns)
{
    int64_t most        = fby_scaled_timeout_ns(max_delay_ns);
    self->lookup_due_ns = now_ns + self->delay_ns;
    self->delay_ns      = fby_earlier_ns(2 * self->delay_ns, most);
    if (fby_resolver_start(self->resolver, &self->problem) != FBY_OK) {
        fby_error("SERVER-UNKNOWN", "%s; trying again", self->problem.text);
    }
}

static void log_problem(struct fby_locator *self, int64_t now_ns)
{
    if (now_ns >= self->log_due_ns) {
        self->log_due_ns = now_ns + fby_scaled_timeout_ns(log_again_ns);
        fby_warn("SERVER-UNKNOWN", "%s; waiting for it", self->problem.text);
    }
}

static bool is_same_list(
    const struct fby_endpoints *a, const struct fby_endpoints *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        same = strcmp(a->text[i], b->text[i]) == 0;
    }
    return same;
}

/* Try the addresses again from the first one, except that the connection to an
 * only address is kept for a lease: ZeroMQ itself tries it again. */
static bool begin_round(struct fby_locator *self, bool changed, int64_t now_ns)
{
    self->n_tried = 1;
    bool keeps    = !changed && self->known.n == 1 &&
                 now_ns - self->connected_ns < self->lease_ns;
    return self->known.n > 0 && !keeps && use_address(self, 0, now_ns);
}

static bool is_silent(const struct fby_locator *self, int64_t now_ns)
{
    return self->known.n == 0 || now_ns >= silent_at_ns(self);
}

/* Take the result of a lookup, if one has ended. It is not needed if the server
 * has answered meanwhile. */
static bool take_lookup(struct fby_locator *self, int64_t now_ns)
{
    struct fby_endpoints found;
    fby_err err = fby_resolver_take(self->resolver, &found, &self->problem);
    if (err == FBY_AGAIN) {
        return false;
    }
    if (!is_silent(self, now_ns)) {
        self->problem.text[0] = '\0';
        return false;
    }
    if (err != FBY_OK) {
        log_problem(self, now_ns);
        return begin_round(self, false, now_ns);
    }
    self->problem.text[0] = '\0';
    bool changed          = !is_same_list(&self->known, &found);
    if (changed) {
        self->known = found;
    }
    return begin_round(self, changed, now_ns);
}

bool fby_locator_tick(struct fby_locator *self, int64_t now_ns)
{
    if (self->resolver != NULL && take_lookup(self, now_ns)) {
        return true;
    }
    if (!is_silent(self, now_ns)) {
        return false;
    }
    if (self->n_tried < self->known.n) {
        self->n_tried++;
        return use_address(self, (self->current + 1) % self->known.n, now_ns);
    }
    if (self->resolver == NULL) {
        return use_address(self, 0, now_ns);
    }
    if (!fby_resolver_is_running(self->resolver) &&
        now_ns >= self->lookup_due_ns) {
        start_lookup(self, now_ns);
    }
    return false;
}

int64_t fby_locator_deadline(const struct fby_locator *self)
{
    int64_t silent_ns = self->known.n > 0 ? silent_at_ns(self) : long_ago_ns;
    if (self->n_tried < self->known.n || self->resolver == NULL) {
        return silent_ns;
    }
    if (fby_resolver_is_running(self->resolver)) {
        return INT64_MAX;
    }
    return silent_ns > self->lookup_due_ns ? silent_ns : self->lookup_due_ns;
}
