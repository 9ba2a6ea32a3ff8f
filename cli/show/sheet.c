#include "cli/show/sheet.h"

#include <errno.h>
#include <spng.h>
#include <stdlib.h>
#include <string.h>

enum { RGB = 3, INDENT = 2 };

struct plan {               /* pixels, unless said otherwise */
    uint32_t columns, rows; /* cells */
    uint32_t cell_w, cell_h;
    uint32_t picture_h; /* of the highest */
    uint32_t letters;   /* in a line */
    uint32_t width, height;
    uint32_t top; /* of the first cells */
};

/* ---- lines --------------------------------------------------------------- */

/* Letters of `text` that go on one line, what follows being indented. */
static size_t line_letters(const char *text, bool first, uint32_t room)
{
    size_t most = first ? room : room - INDENT;
    size_t n    = strlen(text);
    if (n <= most) {
        return n;
    }
    for (size_t i = most; i > most / 2; i--) {
        if (text[i] == ' ') {
            return i;
        }
    }
    return most;
}

/* Lines that `text` takes; they are drawn on `canvas` unless it is NULL. */
static uint32_t break_text(const struct fby_canvas *canvas, uint32_t x,
    uint32_t y, const char *text, uint32_t room)
{
    uint32_t lines = 0;
    do {
        size_t n = line_letters(text, lines == 0, room);
        if (canvas != NULL) {
            uint32_t indent = lines == 0 ? 0 : INDENT * FBY_FONT_ADVANCE;
            fby_font_draw(
                canvas, x + indent, y + lines * FBY_FONT_LINE, text, n);
        }
        text += n;
        text += *text == ' ' ? 1 : 0;
        lines++;
    } while (*text != '\0');
    return lines;
}

static uint32_t cell_lines(const struct fby_sheet_cell *cell, uint32_t room)
{
    uint32_t lines = 0;
    for (unsigned i = 0; i < cell->lines.n; i++) {
        lines += break_text(NULL, 0, 0, cell->lines.words[i], room);
    }
    return lines;
}

/* ---- the plan ------------------------------------------------------------ */

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void measure_pictures(
    struct plan *plan, const struct fby_sheet_cell *cell)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < cell->n_pictures; i++) {
        const struct fby_canvas *picture = &cell->pictures[i];
        width += picture->width + (i > 0 ? FBY_SHEET_INNER : 0);
        plan->picture_h = larger(plan->picture_h, picture->height);
    }
    plan->cell_w = larger(plan->cell_w, width);
}

static struct plan make_plan(const struct fby_sheet *self)
{
    struct plan plan  = {.cell_w = FBY_SHEET_CELL};
    uint32_t    lines = 0;
    for (uint32_t i = 0; i < self->n; i++) {
        measure_pictures(&plan, &self->cells[i]);
    }
    plan.letters = plan.cell_w / FBY_FONT_ADVANCE;
    for (uint32_t i = 0; i < self->n; i++) {
        lines = larger(lines, cell_lines(&self->cells[i], plan.letters));
    }
    uint32_t fit = FBY_SHEET_WIDTH / (plan.cell_w + FBY_SHEET_GAP);
    plan.columns = larger(fit < self->n ? fit : self->n, 1);
    plan.rows    = (self->n + plan.columns - 1) / plan.columns;
    plan.cell_h  = plan.picture_h + FBY_SHEET_INNER + lines * FBY_FONT_LINE;
    plan.top     = 2 * FBY_SHEET_MARGIN + FBY_FONT_LINE;
    plan.width   = 2 * FBY_SHEET_MARGIN - FBY_SHEET_GAP +
                 plan.columns * (plan.cell_w + FBY_SHEET_GAP);
    plan.height = plan.top + FBY_SHEET_MARGIN - FBY_SHEET_GAP +
                  plan.rows * (plan.cell_h + FBY_SHEET_GAP);
    return plan;
}

/* ---- drawing ------------------------------------------------------------- */

static void draw_picture(const struct fby_canvas *canvas, uint32_t x,
    uint32_t y, const struct fby_canvas *picture)
{
    size_t row = (size_t)picture->width * RGB;
    for (uint32_t i = 0; i < picture->height; i++) {
        size_t at = (size_t)(y + i) * canvas->width + x;
        memcpy(canvas->pixels + RGB * at, picture->pixels + i * row, row);
    }
}

static void draw_cell(const struct fby_canvas *canvas, const struct plan *plan,
    const struct fby_sheet *self, uint32_t i)
{
    const struct fby_sheet_cell *cell = &self->cells[i];
    uint32_t                     x =
        FBY_SHEET_MARGIN + i % plan->columns * (plan->cell_w + FBY_SHEET_GAP);
    uint32_t y = plan->top + i / plan->columns * (plan->cell_h + FBY_SHEET_GAP);
    uint32_t text_y = y + plan->picture_h + FBY_SHEET_INNER;
    for (unsigned k = 0; k < cell->lines.n; k++) {
        text_y += FBY_FONT_LINE * break_text(canvas, x, text_y,
                                      cell->lines.words[k], plan->letters);
    }
    for (uint32_t k = 0; k < cell->n_pictures; k++) {
        draw_picture(canvas, x, y, &cell->pictures[k]);
        x += cell->pictures[k].width + FBY_SHEET_INNER;
    }
}

static fby_err write_png(
    const struct fby_canvas *canvas, FILE *file, struct fby_why *why)
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
        result = spng_encode_image(png, canvas->pixels,
            (size_t)canvas->width * canvas->height * RGB, SPNG_FMT_PNG,
            SPNG_ENCODE_FINALIZE);
    }
    spng_ctx_free(png);
    return result == 0
               ? FBY_OK
               : fby_because(why, FBY_IO, "cannot write the PNG: %s",
                     errno != 0 ? strerror(errno) : spng_strerror(result));
}

fby_err fby_sheet_write(
    const struct fby_sheet *self, FILE *file, struct fby_why *why)
{
    struct plan       plan   = make_plan(self);
    uint64_t          size   = (uint64_t)plan.width * plan.height;
    struct fby_canvas canvas = {NULL, plan.width, plan.height};
    if (size > FBY_SHEET_MOST) {
        return fby_because(why, FBY_USAGE,
            "a sheet of %u x %u pixels is too large; ask for fewer with --rows",
            plan.width, plan.height);
    }
    canvas.pixels = malloc(size * RGB);
    if (canvas.pixels == NULL) {
        return fby_because(why, FBY_FULL, "no memory for %u x %u pixels",
            plan.width, plan.height);
    }
    memset(canvas.pixels, 0xff, size * RGB);
    break_text(
        &canvas, FBY_SHEET_MARGIN, FBY_SHEET_MARGIN, self->title, UINT16_MAX);
    for (uint32_t i = 0; i < self->n; i++) {
        draw_cell(&canvas, &plan, self, i);
    }
    fby_err err = write_png(&canvas, file, why);
    free(canvas.pixels);
    return err;
}

void fby_sheet_fini(struct fby_sheet *self)
{
    for (uint32_t i = 0; i < self->n; i++) {
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
