/* sheet.h - a contact sheet: pictures in a grid, with lines of text under each.
 *
 * Cells are of one size and stand in rows, as many beside each other as fit
 * FBY_SHEET_WIDTH. In a cell the pictures stand beside each other at its top,
 * pixel for pixel; the lines begin below the highest picture of all cells. */
#ifndef FBY_CLI_SHOW_SHEET_H
#define FBY_CLI_SHOW_SHEET_H

#include <stdio.h>

#include "cli/option.h"
#include "cli/show/font.h"
#include "common/err.h"

enum { /* pixels */
    FBY_SHEET_WIDTH  = 1600,
    FBY_SHEET_MARGIN = 8,   /* around the sheet, and below its title */
    FBY_SHEET_GAP    = 12,  /* between cells */
    FBY_SHEET_INNER  = 4,   /* between pictures of a cell, and to its text */
    FBY_SHEET_CELL   = 198, /* a cell's least width: 33 letters */
    FBY_SHEET_MOST   = 1 << 28
};

struct fby_sheet_cell {
    struct fby_canvas *pictures; /* owned, and their pixels */
    uint32_t           n_pictures;
    struct fby_words   lines; /* broken where they are wider than the cell */
};

struct fby_sheet {
    const char            *title; /* borrowed; one line */
    struct fby_sheet_cell *cells; /* owned */
    uint32_t               n;
};

/* Write it as a PNG. Errors: FBY_USAGE when the sheet would have more than
 * FBY_SHEET_MOST pixels; FBY_IO, FBY_FULL. */
FBY_CHECKED fby_err fby_sheet_write(
    const struct fby_sheet *self, FILE *file, struct fby_why *why);

/* Free the cells. */
void fby_sheet_fini(struct fby_sheet *self);

#endif
