/* SPDX-License-Identifier: Apache-2.0 */
/* sheet.h - a contact sheet: a grid of pictures with lines of text below.
 *
 * All cells have the same size. A row has as many cells as fit into
 * FBY_SHEET_WIDTH. The pictures of a cell are side by side at its top,
 * unscaled. In all cells the text begins below the tallest picture of the
 * sheet. A letter has a fixed width (font.h). */
#ifndef FBY_CLI_SHOW_SHEET_H
#define FBY_CLI_SHOW_SHEET_H

#include <stdio.h>

#include "cli/option.h"
#include "cli/show/font.h"
#include "common/err.h"

enum {                              /* pixels */
    FBY_SHEET_WIDTH       = 1600,   /* of the sheet, unless one cell is wider */
    FBY_SHEET_MARGIN      = 8,      /* around the sheet, and below its title */
    FBY_SHEET_GAP         = 12,     /* between cells */
    FBY_SHEET_PICTURE_GAP = 4,      /* in a cell, between pictures and text */
    FBY_SHEET_MIN_CELL_WIDTH = 198, /* least width of a cell: 33 letters */
    FBY_SHEET_MAX_PIXELS     = 1 << 28 /* width times height of a sheet */
};

struct fby_sheet_cell {
    struct fby_canvas *pictures; /* owned, with their pixels */
    uint32_t           n_pictures;
    struct fby_words   lines; /* wrapped at the width of the cell */
};

struct fby_sheet {
    const char            *title;   /* borrowed; one line */
    struct fby_sheet_cell *cells;   /* owned */
    uint32_t               n_cells; /* number of cells */
};

/* Write the sheet as a PNG.
 * Errors: FBY_USAGE for more than FBY_SHEET_MAX_PIXELS; FBY_IO; FBY_FULL when
 *         memory is short; FBY_GONE after a signal. */
FBY_CHECKED fby_err fby_sheet_write(
    const struct fby_sheet *self, FILE *file, struct fby_error_detail *why);

/* Free the cells. */
void fby_sheet_fini(struct fby_sheet *self);

#endif
