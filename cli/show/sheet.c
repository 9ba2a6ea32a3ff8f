/* SPDX-License-Identifier: Apache-2.0 */
/* Lay out the cells of a contact sheet, draw them, and write a PNG. */
#include "cli/show/sheet.h"

#include <errno.h>
#include <spng.h>
#include <stdlib.h>
#include <string.h>

#include "cli/signals.h"

enum {
    RGB     = 3,         /* bytes of a pixel */
    INDENT  = 2,         /* letters before a continued line */
    NO_WRAP = UINT16_MAX /* more letters than any title has */
};

struct sheet_layout {
    uint32_t columns, rows; /* number of cells across and down */
    uint32_t letters;       /* number of letters in a line of text */
    /* The rest is in pixels. */
    uint32_t cell_w, cell_h; /* size of a cell */
    uint32_t picture_h;      /* height of the tallest picture */
    uint32_t width, height;  /* size of the sheet */
    uint32_t top;            /* y of the first row of cells */
};

/* ---- Lines --------------------------------------------------------------- */

/* Returns the number of letters of `text` for the next line. A line has at most
 * `letters`, with the indentation that all lines but the first one have. A long
 * text is broken at a space, if there is one in the second half of the line. */
static size_t break_line(const char *text, bool is_first, uint32_t letters)
{
    size_t limit  = is_first ? letters : letters - INDENT;
    size_t length = strlen(text);
    if (length <= limit) {
        return length;
    }
    for (size_t i = limit; i > limit / 2; i--) {
        if (text[i] == ' ') {
            return i;
        }
    }
    return limit;
}

/* Wrap `line`, and draw it on `canvas`; if `canvas` is NULL, only wrap it.
 * Returns the number of lines. */
static uint32_t draw_wrapped(const struct fby_canvas *canvas, uint32_t x,
    uint32_t y, const char *line, uint32_t letters)
{
    uint32_t    lines = 0;
    char       *copy  = fby_font_letters(line);
    const char *text  = copy;
    do {
        size_t n = break_line(text, lines == 0, letters);
        if (canvas != NULL) {
            uint32_t indent = lines == 0 ? 0 : INDENT * FBY_FONT_ADVANCE;
            fby_font_draw(
                canvas, x + indent, y + lines * FBY_FONT_LINE, text, n);
        }
        text += n;
        text += *text == ' ' ? 1 : 0; /* the space at the break */
        lines++;
    } while (*text != '\0');
    free(copy);
    return lines;
}

static uint32_t count_lines(const struct fby_sheet_cell *cell, uint32_t letters)
{
    uint32_t lines = 0;
    for (unsigned i = 0; i < cell->lines.n; i++) {
        lines += draw_wrapped(NULL, 0, 0, cell->lines.items[i], letters);
    }
    return lines;
}

/* ---- Layout -------------------------------------------------------------- */

static uint32_t max_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void measure_pictures(
    struct sheet_layout *layout, const struct fby_sheet_cell *cell)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < cell->n_pictures; i++) {
        const struct fby_canvas *picture = &cell->pictures[i];
        width += picture->width + (i > 0 ? FBY_SHEET_PICTURE_GAP : 0);
        layout->picture_h = max_of(layout->picture_h, picture->height);
    }
    layout->cell_w = max_of(layout->cell_w, width);
}

static struct sheet_layout make_layout(const struct fby_sheet *self)
{
    struct sheet_layout layout = {.cell_w = FBY_SHEET_MIN_CELL_WIDTH};
    uint32_t            lines  = 0;
    for (uint32_t i = 0; i < self->n_cells; i++) {
        measure_pictures(&layout, &self->cells[i]);
    }
    layout.letters = layout.cell_w / FBY_FONT_ADVANCE;
    for (uint32_t i = 0; i < self->n_cells; i++) {
        lines = max_of(lines, count_lines(&self->cells[i], layout.letters));
    }
    uint32_t fitting = FBY_SHEET_WIDTH / (layout.cell_w + FBY_SHEET_GAP);
    layout.columns =
        max_of(fitting < self->n_cells ? fitting : self->n_cells, 1);
    layout.rows = (self->n_cells + layout.columns - 1) / layout.columns;
    layout.cell_h =
        layout.picture_h + FBY_SHEET_PICTURE_GAP + lines * FBY_FONT_LINE;
    layout.top = 2 * FBY_SHEET_MARGIN + FBY_FONT_LINE;
    /* The last column and the last row have no gap after them. */
    layout.width = 2 * FBY_SHEET_MARGIN - FBY_SHEET_GAP +
                   layout.columns * (layout.cell_w + FBY_SHEET_GAP);
    layout.height = layout.top + FBY_SHEET_MARGIN - FBY_SHEET_GAP +
                    layout.rows * (layout.cell_h + FBY_SHEET_GAP);
    return layout;
}

/* ---- Drawing ------------------------------------------------------------- */

static void draw_picture(const struct fby_canvas *canvas, uint32_t x,
    uint32_t y, const struct fby_canvas *picture)
{
    size_t row_bytes = (size_t)picture->width * RGB;
    for (uint32_t i = 0; i < picture->height; i++) {
        size_t pixel = (size_t)(y + i) * canvas->width + x;
        memcpy(canvas->pixels + RGB * pixel, picture->pixels + i * row_bytes,
            row_bytes);
    }
}

static void draw_cell(const struct fby_canvas *canvas,
    const struct sheet_layout *layout, const struct fby_sheet *self, uint32_t i)
{
    const struct fby_sheet_cell *cell = &self->cells[i];
    uint32_t                     x    = FBY_SHEET_MARGIN +
                 i % layout->columns * (layout->cell_w + FBY_SHEET_GAP);
    uint32_t y =
        layout->top + i / layout->columns * (layout->cell_h + FBY_SHEET_GAP);
    uint32_t text_y = y + layout->picture_h + FBY_SHEET_PICTURE_GAP;
    for (unsigned k = 0; k < cell->lines.n; k++) {
        text_y += FBY_FONT_LINE * draw_wrapped(canvas, x, text_y,
                                      cell->lines.items[k], layout->letters);
    }
    for (uint32_t k = 0; k < cell->n_pictures; k++) {
        draw_picture(canvas, x, y, &cell->pictures[k]);
        x += cell->pictures[k].width + FBY_SHEET_PICTURE_GAP;
    }
}

static fby_err write_png(
    const struct fby_canvas *canvas, FILE *file, struct fby_error_detail *why)
{
    struct spng_ihdr head = {.width = canvas->width,
        .height                     = canvas->height,
        .bit_depth                  = 8,
        .color_type                 = SPNG_COLOR_TYPE_TRUECOLOR};
    spng_ctx        *png  = spng_ctx_new(SPNG_CTX_ENCODER);
    int result = png != NULL ? spng_set_png_file(png, file) : SPNG_EMEM;
    errno      = 0;
    if (result == 0) {
        result = spng_set_ihdr(png, &head);
    }
    if (result == 0) {
        result = spng_encode_image(png, NULL, 0, SPNG_FMT_PNG,
            SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    }
    for (uint32_t y = 0; result == 0 && fby_signals_caught() == 0; y++) {
        result = spng_encode_row(png,
            canvas->pixels + (size_t)y * canvas->width * RGB,
            (size_t)canvas->width * RGB); /* SPNG_EOI: this was the last row */
    }
    spng_ctx_free(png);
    if (result == 0) {
        return fby_signals_check(why);
    }
    return result == SPNG_EOI
               ? FBY_OK
               : fby_error_set(why, FBY_IO, "cannot write the PNG: %s",
                     errno != 0 ? strerror(errno) : spng_strerror(result));
}

fby_err fby_sheet_write(
    const struct fby_sheet *self, FILE *file, struct fby_error_detail *why)
{
    struct sheet_layout layout   = make_layout(self);
    uint64_t            n_pixels = (uint64_t)layout.width * layout.height;
    struct fby_canvas   canvas   = {NULL, layout.width, layout.height};
    if (n_pixels > FBY_SHEET_MAX_PIXELS) {
        return fby_error_set(why, FBY_USAGE,
            "a sheet of %u x %u pixels is too large; write fewer rows with "
            "--rows",
            layout.width, layout.height);
    }
    canvas.pixels = malloc(n_pixels * RGB);
    if (canvas.pixels == NULL) {
        return fby_error_set(why, FBY_FULL, "no memory for %u x %u pixels",
            layout.width, layout.height);
    }
    memset(canvas.pixels, 0xff, n_pixels * RGB); /* white */
    draw_wrapped(
        &canvas, FBY_SHEET_MARGIN, FBY_SHEET_MARGIN, self->title, NO_WRAP);
    for (uint32_t i = 0; i < self->n_cells; i++) {
        draw_cell(&canvas, &layout, self, i);
    }
    fby_err err = write_png(&canvas, file, why);
    free(canvas.pixels);
    return err;
}

void fby_sheet_fini(struct fby_sheet *self)
{
    for (uint32_t i = 0; i < self->n_cells; i++) {
        struct fby_sheet_cell *cell = &self->cells[i];
        for (uint32_t k = 0; k < cell->n_pictures; k++) {
            free(cell->pictures[k].pixels);
        }
        free(cell->pictures);
        fby_words_fini(&cell->lines);
    }
    free(self->cells);
    *self = (struct fby_sheet){0};
}
