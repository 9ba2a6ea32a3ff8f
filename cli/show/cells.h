/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h - make the cells of a contact sheet from a batch. Each row becomes a
 * cell with the pictures of the row and some lines of text. */
#ifndef FBY_CLI_SHOW_CELLS_H
#define FBY_CLI_SHOW_CELLS_H

#include "cli/sampled_params.h"
#include "cli/show/sheet.h"

/* List the outputs that fby_show_cells needs: pictures in HWC as u8, or as f32
 * if they are normalised; ragged rows padded; sparse rows as COO. Returns the
 * number of outputs. */
size_t fby_show_outputs(const struct fby_content *content,
    struct forebay_output                         out[FBY_MAX_FIELDS]);

/* Make the cells of the first `rows` rows of a batch with these outputs. Sets
 * `rows` and `valid_rows` of `sampled` from the batch.
 * Ownership: the caller ends *out with fby_sheet_fini, also after an error.
 * Errors:    FBY_GONE after a signal; those of fby_sampled_params_plan. */
FBY_CHECKED fby_err fby_show_cells(struct fby_sampled_params *sampled,
    const struct forebay_batch *batch, uint32_t rows, struct fby_sheet *out,
    struct fby_error_detail *why);

#endif
