/* cast.h - convert values of any type to any other, and ids to one-hot rows, on
 * the host. The arithmetic is that of value.h. */
#ifndef FBY_CLIENT_EXPAND_CAST_H
#define FBY_CLIENT_EXPAND_CAST_H

#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/value.h"

/* Load one little-endian value of any type. */
struct fby_number fby_number_load(enum fby_type type, const uint8_t *at);
/* Store the low `width` bytes of `bits`, little-endian. */
void fby_number_store(uint8_t *at, uint64_t bits, uint32_t width);

/* Convert `n` values of plan->from to plan->to, scaled if the plan says so;
 * then the first value is of the first channel. `raw` and `out` need not be
 * aligned.
 * */
void fby_expand_values(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out);

/* Convert one sample of a plan of kind FBY_EXPAND_PLANAR. */
void fby_expand_planar(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out);

/* Expand one id to a row. Errors: FBY_PROTO  the id is not one of the
 * classes. */
FBY_CHECKED fby_err fby_expand_one_hot(const struct fby_expansion *plan,
    const uint8_t *raw, uint8_t *out, struct fby_why *why);

#endif
