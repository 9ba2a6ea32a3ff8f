/* SPDX-License-Identifier: Apache-2.0 */
/* Contact sheets, read back through the same library. */
#include "cli/show/sheet.h"

#include <spng.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/test.h"

enum { RGB = 3 };

static struct fby_sheet sheet_of(
    uint32_t cells, uint32_t width, uint32_t height)
{
    struct fby_sheet sheet = {.title = "t", .n_cells = cells};
    sheet.cells            = fby_zalloc(cells * sizeof(*sheet.cells));
    for (uint32_t i = 0; i < cells; i++) {
        struct fby_sheet_cell *cell = &sheet.cells[i];
        size_t                 size = (size_t)width * height * RGB;
        cell->n_pictures            = 1;
        cell->pictures              = fby_zalloc(sizeof(*cell->pictures));
        cell->pictures[0] =
            (struct fby_canvas){fby_zalloc(size), width, height};
        memset(cell->pictures[0].pixels, (int)(100 + i), size);
    }
    return sheet;
}

/* The sheet as written; the caller frees its pixels. */
static struct fby_canvas written(const struct fby_sheet *sheet)
{
    struct fby_canvas canvas = {0};
    struct spng_ihdr  head;
    size_t            size = 0;
    FILE             *file = tmpfile();
    assert_non_null(file);
    assert_ok(fby_sheet_write(sheet, file, NULL));
    rewind(file);
    spng_ctx *png = spng_ctx_new(0);
    assert_int_equal(spng_set_png_file(png, file), 0);
    assert_int_equal(spng_get_ihdr(png, &head), 0);
    assert_int_equal(spng_decoded_image_size(png, SPNG_FMT_RGB8, &size), 0);
    canvas = (struct fby_canvas){fby_zalloc(size), head.width, head.height};
    assert_int_equal(
        spng_decode_image(png, canvas.pixels, size, SPNG_FMT_RGB8, 0), 0);
    spng_ctx_free(png);
    fclose(file);
    return canvas;
}

static uint8_t level(const struct fby_canvas *canvas, uint32_t x, uint32_t y)
{
    return canvas->pixels[((size_t)y * canvas->width + x) * RGB];
}

/* True if the sheet has that letter of the font at (x, y). */
static bool stands_at(
    const struct fby_canvas *canvas, uint32_t x, uint32_t y, char letter)
{
    uint8_t           pixels[5 * 7 * RGB];
    struct fby_canvas alone = {pixels, 5, 7};
    memset(pixels, 0xff, sizeof(pixels));
    fby_font_draw(&alone, 0, 0, &letter, 1);
    for (uint32_t i = 0; i < 5 * 7; i++) {
        if (level(&alone, i % 5, i / 5) !=
            level(canvas, x + i % 5, y + i / 5)) {
            return false;
        }
    }
    return true;
}

enum {
    TOP    = 2 * FBY_SHEET_MARGIN + FBY_FONT_LINE,
    ACROSS = FBY_SHEET_MIN_CELL_WIDTH + FBY_SHEET_GAP
};

/* The number of black pixels in rows `first` to `last` of a letter. */
static unsigned blacks(char letter, uint32_t first, uint32_t last)
{
    uint8_t           pixels[5 * FBY_FONT_LINE * RGB];
    struct fby_canvas canvas = {pixels, 5, FBY_FONT_LINE};
    unsigned          n      = 0;
    memset(pixels, 0xff, sizeof(pixels));
    fby_font_draw(&canvas, 0, 0, &letter, 1);
    for (uint32_t i = first * 5; i < (last + 1) * 5; i++) {
        n += level(&canvas, i % 5, i / 5) == 0 ? 1 : 0;
    }
    return n;
}

/* "image" was read as "ima9e". */
static void descenders_reach_below_the_digits(void **state)
{
    (void)state;
    for (const char *c = "gpqy"; *c != '\0'; c++) {
        assert_int_equal(blacks(*c, 0, 1), 0);
        assert_true(blacks(*c, 7, 8) > 0);
        assert_int_equal(blacks(*c, 9, FBY_FONT_LINE - 1), 0);
    }
    for (int c = '0'; c <= '9'; c++) {
        assert_true(blacks((char)c, 0, 1) > 0);
        assert_int_equal(blacks((char)c, 7, FBY_FONT_LINE - 1), 0);
    }
}

static void a_character_is_one_letter(void **state)
{
    (void)state;
    static const char *const texts[][2] = {{"plain ~", "plain ~"},
        {"Klaesse \xc3\xa4\xc3\x96\xc3\x9f", "Klaesse aOs"},
        {"\xc3\x80\xc3\xbf", "Ay"}, {"a\xcc\x88o", "ao"},
        {"\xe7\x8c\xab\xe2\x82\xac.", "??."}, {"\xff\xc3", "??"},
        {"\n\x7f\xc2\xb5", "???"}, {"", ""}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char *letters = fby_font_letters(texts[i][0]);
        assert_string_equal(letters, texts[i][1]);
        free(letters);
    }
}

static void pictures_stand_in_a_grid_pixel_for_pixel(void **state)
{
    (void)state;
    struct fby_sheet  sheet  = sheet_of(9, 20, 10);
    struct fby_canvas canvas = written(&sheet);
    uint32_t          down   = 10 + FBY_SHEET_PICTURE_GAP + FBY_SHEET_GAP;
    assert_int_equal(
        canvas.width, 2 * FBY_SHEET_MARGIN + 7 * ACROSS - FBY_SHEET_GAP);
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t x = FBY_SHEET_MARGIN + i % 7 * ACROSS;
        uint32_t y = TOP + i / 7 * down;
        assert_int_equal(level(&canvas, x, y), 100 + i);
        assert_int_equal(level(&canvas, x + 19, y + 9), 100 + i);
        assert_int_equal(level(&canvas, x + 20, y + 9), 255);
        assert_int_equal(level(&canvas, x, y + 10), 255);
    }
    free(canvas.pixels);
    fby_sheet_fini(&sheet);
}

static void lines_begin_below_the_highest_picture(void **state)
{
    (void)state;
    struct fby_sheet sheet = sheet_of(2, 20, 10);
    fby_words_add(&sheet.cells[0].lines, "Aq");
    fby_words_add(&sheet.cells[1].lines, "0");
    fby_words_add(&sheet.cells[1].lines, "x~\xc3");
    struct fby_canvas canvas = written(&sheet);
    uint32_t          y      = TOP + 10 + FBY_SHEET_PICTURE_GAP;
    uint32_t          x      = FBY_SHEET_MARGIN;
    assert_true(stands_at(&canvas, x, FBY_SHEET_MARGIN, 't'));
    assert_true(stands_at(&canvas, x, y, 'A'));
    assert_true(stands_at(&canvas, x + FBY_FONT_ADVANCE, y, 'q'));
    assert_true(stands_at(&canvas, x + ACROSS, y, '0'));
    y += FBY_FONT_LINE;
    assert_true(stands_at(&canvas, x + ACROSS, y, 'x'));
    assert_true(stands_at(&canvas, x + ACROSS + 6, y, '~'));
    assert_true(stands_at(&canvas, x + ACROSS + 12, y, '?'));
    free(canvas.pixels);
    fby_sheet_fini(&sheet);
}

static void a_long_line_is_broken_at_a_space_and_indented(void **state)
{
    (void)state;
    struct fby_sheet sheet = sheet_of(1, 20, 10);
    /* The first line has 33 letters, further ones have 31. */
    fby_words_add(
        &sheet.cells[0].lines, "abcdefghijklmnopqrstuvwxyz 12345 789");
    fby_words_add(&sheet.cells[0].lines, "Z");
    struct fby_canvas canvas = written(&sheet);
    uint32_t          y      = TOP + 10 + FBY_SHEET_PICTURE_GAP;
    uint32_t          x      = FBY_SHEET_MARGIN;
    assert_true(stands_at(&canvas, x + 31 * FBY_FONT_ADVANCE, y, '5'));
    y += FBY_FONT_LINE;
    assert_true(stands_at(&canvas, x + 2 * FBY_FONT_ADVANCE, y, '7'));
    assert_true(stands_at(&canvas, x, y + FBY_FONT_LINE, 'Z'));
    free(canvas.pixels);
    fby_sheet_fini(&sheet);
}

static void a_sheet_that_is_too_large_is_refused(void **state)
{
    (void)state;
    struct fby_error_detail why       = {{0}};
    struct fby_sheet        sheet     = sheet_of(1, 1, 1);
    sheet.cells[0].pictures[0].width  = 1 << 15;
    sheet.cells[0].pictures[0].height = 1 << 14;
    assert_int_equal(fby_sheet_write(&sheet, stderr, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "--rows"));
    fby_sheet_fini(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descenders_reach_below_the_digits),
        cmocka_unit_test(a_character_is_one_letter),
        cmocka_unit_test(pictures_stand_in_a_grid_pixel_for_pixel),
        cmocka_unit_test(lines_begin_below_the_highest_picture),
        cmocka_unit_test(a_long_line_is_broken_at_a_space_and_indented),
        cmocka_unit_test(a_sheet_that_is_too_large_is_refused),
    };
    return cmocka_run_group_tests_name("cli.sheet", tests, NULL, NULL);
}
