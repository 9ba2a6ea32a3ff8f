/* cells.h - a batch as cells of a contact sheet: each row's pictures as
 * they were made, and what is known of it as lines of text. */
#ifndef FBY_CLI_SHOW_CELLS_H
#define FBY_CLI_SHOW_CELLS_H

#include "cli/sampled_params.h"
#include "cli/show/sheet.h"

/* The outputs to ask for so that fby_show_cells can undo the rest: pictures row
 * by row as u8, or as f32 where they are normalised. Returns how many. */
size_t fby_show_outputs(const struct fby_content *content,
    struct forebay_output                         out[FBY_MAX_FIELDS]);

/* Cells of the first `rows` rows of a batch that was asked for so.
 * Errors: those of fby_sampled_params_plan. */
FBY_CHECKED fby_err fby_show_cells(struct fby_sampled_params *drawn,
    const struct forebay_batch *batch, uint32_t rows, struct fby_sheet *out,
    struct fby_why *why);

#endif
