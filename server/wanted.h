/* SPDX-License-Identifier: Apache-2.0 */
/* wanted.h - the wanted number of workers, decided from the directory every 2 s
 * (scaler.h has the rule).
 *
 * A server that has just started does not know yet which workers and jobs there
 * are: they register and join again within a lease. Until then there is no
 * number, because one that is too low would end workers that are needed. */
#ifndef FBY_SERVER_WANTED_H
#define FBY_SERVER_WANTED_H

#include "common/bytes.h"
#include "server/directory.h"
#include "server/scaler.h"

struct fby_wanted { /* fby_wanted_start begins, fby_wanted_fini frees */
    struct fby_scaler scaler;
    bool              is_known;
    uint32_t          wanted;  /* the members below are valid if is_known */
    uint32_t          workers; /* registered now, that can serve a job */
    uint32_t          jobs;
    struct fby_buffer reasons; /* sentences, with a NUL after each */
    uint32_t          n_reasons;
    int64_t           known_ns; /* when all have had time to come back */
    int64_t           due_ns;   /* of the next decision */
};

/* `lease_ns` is that of the directory. */
void fby_wanted_start(
    struct fby_wanted *self, int64_t lease_ns, int64_t now_ns);
void fby_wanted_fini(struct fby_wanted *self);

/* Decide, if that is due. Call it in each turn of the loop. The directory only
 * changes members that it keeps for this. */
void fby_wanted_tick(
    struct fby_wanted *self, struct fby_directory *directory, int64_t now_ns);

/* The answer to SCALE, without `session` and `server`. Its reasons are listed in
 * `reasons`, and are valid until the next tick. */
struct fby_scaled fby_wanted_answer(const struct fby_wanted *self,
    int64_t now_ns, const char *reasons[FBY_REASONS_MAX]);

#endif
