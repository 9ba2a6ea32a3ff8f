/* SPDX-License-Identifier: Apache-2.0 */
/* device_ops.h - ops that the trainer's device applies to pictures: their
 * rules, the draws for each row, and the pairs of rows that mixup and cutmix
 * mix.
 *
 * All functions are pure: the worker, the trainer's client and `forebay plan`
 * get the same results. proto/PROTOCOL.md, "Ops of the device", defines
 * them. */
#ifndef FBY_PIPELINE_DEVICE_OPS_H
#define FBY_PIPELINE_DEVICE_OPS_H

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/op.h"

/* Rows of a global batch are mixed within groups of this many rows. */
enum { FBY_PAIR_GROUP = 8 };

/* A row of a batch. */
struct fby_device_row {
    uint64_t seed, epoch, step;
    uint32_t row;    /* index in the global batch */
    uint64_t sample; /* the row's sample, or the substitute of a bad one */
};

/* Draw the plan of device op `i` of the field for `row`. */
struct fby_op_plan fby_device_draw_plan(const struct fby_field_content *field,
    uint32_t i, const struct fby_device_row *row);

/* The row that `row` of a global batch is mixed with: the previous row of its
 * group or, for the first row of the group, the last row. The batch has `rows`
 * rows, of which the first `unpadded` have samples and the others are padding.
 * Rows with samples are never mixed with padding. */
uint32_t fby_pair_partner(uint32_t row, uint32_t unpadded, uint32_t rows);

/* The mixup or cutmix op of the field; NULL if the field has neither. */
const struct fby_op_use *fby_device_mixing_op(
    const struct fby_field_content *field);

/* The field whose mixup or cutmix also mixes label field `i`; NULL for none. */
const struct fby_field_content *fby_mixing_field_of_label(
    const struct fby_content *content, uint32_t i);

/* If a field mixes rows, check that each of `world` ranks has whole groups.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_content_check_world(const struct fby_content *content,
    uint32_t world, struct fby_error_detail *why);

/* Check the device ops of field `i`, and the label that one of them names.
 * Errors: FBY_CONFIG; *wrong_op is the index of the wrong op. */
FBY_CHECKED fby_err fby_device_ops_check(const struct fby_content *content,
    uint32_t i, uint32_t *wrong_op, struct fby_error_detail *why);

/* The hash of the plans that an op draws for fixed inputs. It differs if the op
 * draws differently; see PROTOCOL.md, "Fingerprint". */
struct fby_digest fby_device_op_hash(const struct fby_op *op);

/* Append the canonical bytes of the field's device ops (in HEADER messages). */
void fby_device_list_encode(
    const struct fby_field_content *field, struct fby_buffer *out);
/* The BLAKE2b-256 of the hashes of these ops (in HEADER messages). */
struct fby_digest fby_device_list_hash(const struct fby_field_content *field);

#endif
