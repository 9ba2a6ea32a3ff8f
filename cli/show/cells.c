/* SPDX-License-Identifier: Apache-2.0 */
/* Make a cell of a contact sheet from each row of a batch. */
#include "cli/show/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/show/tensor.h"
#include "cli/signals.h"
#include "common/mem.h"
#include "pipeline/class_names.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/text.h"

enum {
    RGB         = 3,   /* bytes of a pixel */
    LINE_SIZE   = 512, /* bytes of a line of text, with its NUL */
    BYTES_SHOWN = 8,   /* shown at most of a value of bytes */
    TEXT_SHOWN  = 40   /* letters shown at most of a text */
};

size_t fby_show_outputs(const struct fby_content *content,
    struct forebay_output                         out[FBY_MAX_FIELDS])
{
    size_t n = 0;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field  = &content->fields[i];
        struct forebay_output           output = forebay_output(field->name);
        if (fby_field_values(field) == FBY_VALUES_COLOURS) {
            output.dtype  = fby_field_is_normalized(field) ? FOREBAY_DTYPE_F32
                                                           : FOREBAY_DTYPE_U8;
            output.layout = FOREBAY_LAYOUT_HWC;
            out[n++]      = output;
        } else if (fby_field_form(field) == FBY_FORM_SPARSE) {
            output.dtype = (enum forebay_dtype)field->wire_type;
            output.as    = FOREBAY_AS_COO;
            out[n++]     = output;
        } else if (fby_field_form(field) != FBY_FORM_DENSE) {
            output.dtype   = (enum forebay_dtype)field->wire_type;
            output.as      = FOREBAY_AS_PADDED;
            output.pad_to  = FOREBAY_PAD_TO_MAX;
            output.has_pad = true;
            out[n++]       = output;
        }
    }
    return n;
}

/* ---- Pictures ------------------------------------------------------------ */

/* Returns a value of a channel from 0 to 255, rounded. */
static uint8_t denormalize(
    const struct fby_field_content *field, uint32_t channel, double value)
{
    if (fby_field_is_normalized(field)) {
        value = (value * field->as.rgb8.std[channel] +
                    field->as.rgb8.mean[channel]) *
                255;
    }
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : lround(value));
}

/* Each id of a mask gets its own colour, as the factors are odd; 0 is black. */
static void paint_id(uint8_t id, uint8_t pixel[RGB])
{
    pixel[0] = (uint8_t)(id * 97U);
    pixel[1] = (uint8_t)(id * 61U);
    pixel[2] = (uint8_t)(id * 167U);
}

static void paint_picture(const struct fby_field_content *field,
    const DLTensor *tensor, const uint8_t *row, struct fby_canvas *out)
{
    size_t   bytes    = fby_tensor_element_bytes(tensor);
    uint32_t channels = field->shape.dims[2];
    size_t   n_pixels = (size_t)out->width * out->height;
    for (size_t i = 0; i < n_pixels; i++) {
        const uint8_t *value = row + i * channels * bytes;
        uint8_t       *pixel = out->pixels + i * RGB;
        if (channels != RGB) { /* a mask: one channel of u8 ids */
            paint_id(*value, pixel);
            continue;
        }
        for (uint32_t c = 0; c < RGB; c++) {
            pixel[c] = denormalize(
                field, c, fby_tensor_real(tensor, value + c * bytes));
        }
    }
}

static const DLTensor *tensor_of(
    const struct forebay_batch *batch, const char *name)
{
    return forebay_batch_tensor(
        batch, (uint32_t)forebay_batch_field(batch, name));
}

/* A copy of the values of a row; release it with free(). */
static void *copy_row(const DLTensor *tensor, uint32_t row)
{
    void *values = fby_zalloc(
        fby_tensor_row_elements(tensor) * fby_tensor_element_bytes(tensor));
    fby_tensor_copy_row(tensor, row, values);
    return values;
}

static void add_picture(struct fby_sheet_cell *cell,
    const struct fby_field_content *field, const DLTensor *tensor, uint32_t row)
{
    void              *values  = copy_row(tensor, row);
    struct fby_canvas *picture = &cell->pictures[cell->n_pictures++];
    picture->width             = field->shape.dims[1];
    picture->height            = field->shape.dims[0];
    picture->pixels =
        fby_zalloc((size_t)picture->width * picture->height * RGB);
    paint_picture(field, tensor, values, picture);
    free(values);
}

/* ---- Lines --------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void add_line(
    struct fby_sheet_cell *cell, const char *format, ...)
{
    char    line[LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fby_words_add(&cell->lines, line);
}

static void add_row_lines(struct fby_sampled_params *sampled,
    const struct forebay_batch *batch, uint32_t row,
    struct fby_sheet_cell *cell)
{
    uint64_t sample = forebay_batch_samples(batch)[row];
    bool     valid  = forebay_batch_valid(batch)[row] != 0;
    add_line(cell, "row %" PRIu32 " sample %" PRIu64 "%s", row, sample,
        valid ? "" : " (padding)");
    struct fby_row_key key;
    add_line(
        cell, "%s", fby_dataset_key(sampled->local->dataset, sample, &key));
    for (uint32_t i = 0; i < forebay_batch_n_substitutions(batch); i++) {
        const struct forebay_substitution *s =
            forebay_batch_substitution(batch, i);
        if (s->row == row) {
            add_line(cell, "in place of sample %" PRIu64, s->sample);
        }
    }
}

struct class_text {
    char text[FBY_SHOWN_SIZE + 1];
};

/* A blank and the name of a class; "" if it has none. */
static struct class_text class_name(const struct fby_content *content,
    const struct fby_field_content *field, double id)
{
    struct class_text     out   = {{0}};
    struct fby_name_range range = fby_field_names(field);
    if (id >= 0 && id < range.n) {
        snprintf(out.text, sizeof(out.text), " %s",
            fby_text_show(
                fby_class_name(&content->class_names, range, (uint32_t)id))
                .text);
    }
    return out;
}

/* Add the class with the largest value of a one-hot row, and this value. It may
 * be less than 1 after mixing. */
static void add_largest(struct fby_sheet_cell *cell,
    const struct fby_content *content, const struct fby_field_content *field,
    const DLTensor *tensor, const uint8_t *values)
{
    size_t bytes    = fby_tensor_element_bytes(tensor);
    size_t class_id = 0;
    double largest  = fby_tensor_real(tensor, values);
    for (size_t i = 1; i < fby_tensor_row_elements(tensor); i++) {
        double value = fby_tensor_real(tensor, values + i * bytes);
        class_id     = value > largest ? i : class_id;
        largest      = value > largest ? value : largest;
    }
    add_line(cell, "%s %zu%s (%.3g)", field->name, class_id,
        class_name(content, field, (double)class_id).text, largest);
}

/* Add the shape of an array, and its smallest and largest value, if any. */
static void add_range(struct fby_sheet_cell *cell, const char *name,
    const DLTensor *tensor, const uint8_t *values)
{
    char   shape[FBY_MAX_DIMS * 21] = ""; /* "x" and 20 digits each */
    size_t used                     = 0;
    size_t bytes                    = fby_tensor_element_bytes(tensor);
    double min                      = (double)INFINITY;
    double max                      = -(double)INFINITY;
    for (size_t i = 0; i < fby_tensor_row_elements(tensor); i++) {
        double value = fby_tensor_real(tensor, values + i * bytes);
        min          = value < min ? value : min;
        max          = value > max ? value : max;
    }
    for (int32_t i = 1; i < tensor->ndim; i++) {
        used += (size_t)snprintf(shape + used, sizeof(shape) - used,
            "%s%" PRId64, i > 1 ? "x" : "", tensor->shape[i]);
    }
    if (min > max) { /* no elements, or only NaN */
        add_line(cell, "%s %s", name, shape);
    } else {
        add_line(cell, "%s %s, %.4g to %.4g", name, shape, min, max);
    }
}

/* Add the number of masks in a stack, and the percentage of bits that are 1. */
static void add_maps(struct fby_sheet_cell *cell,
    const struct fby_field_content *field, const DLTensor *tensor,
    const uint8_t *values)
{
    size_t bytes = fby_tensor_element_bytes(tensor);
    size_t n     = fby_tensor_row_elements(tensor);
    size_t ones  = 0;
    for (size_t i = 0; i < n; i++) {
        ones += fby_tensor_real(tensor, values + i * bytes) != 0;
    }
    add_line(cell, "%s %u maps, %.4g %% ones", field->name,
        fby_field_packed_bits(field),
        n > 0 ? 100.0 * (double)ones / (double)n : 0.0);
}

static void add_bytes(struct fby_sheet_cell *cell, const char *name,
    const uint8_t *values, size_t n)
{
    char   hex[2 * BYTES_SHOWN + 1] = "";
    size_t shown                    = n < BYTES_SHOWN ? n : BYTES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        snprintf(hex + 2 * i, 3, "%02x", values[i]);
    }
    add_line(cell, "%s %s%s", name, hex, n > shown ? "..." : "");
}

/* Add the start of a text; '?' stands for bytes that are no printable ASCII. */
static void add_text(struct fby_sheet_cell *cell, const char *name,
    const uint8_t *values, size_t n)
{
    char   text[TEXT_SHOWN + 1];
    size_t shown = n < TEXT_SHOWN ? n : TEXT_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        text[i] =
            (char)(values[i] >= 0x20 && values[i] < 0x7f ? values[i] : '?');
    }
    text[shown] = '\0';
    add_line(cell, "%s \"%s\"%s", name, text, n > shown ? "..." : "");
}

/* Add a line on the values of a ragged row, without its padding. */
static void add_ragged(struct fby_sheet_cell *cell,
    const struct fby_field_content *field, const struct forebay_batch *batch,
    uint32_t row)
{
    char lengths_name[FBY_NAME_SIZE + 16];
    snprintf(lengths_name, sizeof(lengths_name), "%s.lengths", field->name);
    const DLTensor *tensor  = tensor_of(batch, field->name);
    const int32_t  *lengths = tensor_of(batch, lengths_name)->data;
    size_t          n       = (size_t)lengths[row];
    void           *values  = copy_row(tensor, row);
    if (fby_field_values(field) == FBY_VALUES_TEXT) {
        add_text(cell, field->name, values, n);
    } else if (fby_field_values(field) == FBY_VALUES_BYTES) {
        add_bytes(cell, field->name, values, n);
    } else {
        /* A tensor of this row only: 1 x n entries. */
        int64_t  shape[FBY_MAX_DIMS + 1] = {1, (int64_t)n};
        DLTensor unpadded                = *tensor;
        memcpy(shape + 2, tensor->shape + 2,
            (size_t)(tensor->ndim - 2) * sizeof(*shape));
        unpadded.shape = shape;
        add_range(cell, field->name, &unpadded, values);
    }
    free(values);
}

/* Add the number of stored values of a sparse row, and their range. */
static void add_sparse(struct fby_sheet_cell *cell,
    const struct fby_field_content *field, const struct forebay_batch *batch,
    uint32_t row)
{
    char name[FBY_NAME_SIZE + 64];
    snprintf(name, sizeof(name), "%s.indices", field->name);
    const DLTensor *values = tensor_of(batch, field->name);
    const int64_t  *row_of = tensor_of(batch, name)->data;
    int64_t         first  = 0;
    /* row_of[i] is the row of stored value i; it ascends. */
    while (first < values->shape[0] && row_of[first] < row) {
        first++;
    }
    int64_t end = first;
    while (end < values->shape[0] && row_of[end] == row) {
        end++;
    }
    int64_t  shape[] = {1, end - first};
    DLTensor stored  = *values; /* the values of this row */
    stored.shape     = shape;
    stored.ndim      = 2;
    snprintf(name, sizeof(name), "%s of %" PRIu64 " values", field->name,
        fby_dense_values(&field->shape));
    add_range(cell, name, &stored,
        (const uint8_t *)values->data +
            (size_t)first * fby_tensor_element_bytes(values));
}

/* Add a line on the value of any field that is not shown as a picture. */
static void add_value(struct fby_sheet_cell *cell,
    const struct fby_content *content, const struct fby_field_content *field,
    const struct forebay_batch *batch, uint32_t row)
{
    if (fby_field_form(field) == FBY_FORM_SPARSE) {
        add_sparse(cell, field, batch, row);
        return;
    }
    if (fby_field_form(field) != FBY_FORM_DENSE) {
        add_ragged(cell, field, batch, row);
        return;
    }
    const DLTensor *tensor = tensor_of(batch, field->name);
    char            text[FBY_TENSOR_TEXT];
    size_t          n        = fby_tensor_row_elements(tensor);
    void           *values   = copy_row(tensor, row);
    bool            is_array = field->shape.n_dims > 0 &&
                    (fby_field_values(field) == FBY_VALUES_NUMBERS ||
                        fby_field_values(field) == FBY_VALUES_TOKENS);
    if (fby_field_is_one_hot(field)) {
        add_largest(cell, content, field, tensor, values);
    } else if (fby_field_values(field) == FBY_VALUES_BYTES) {
        add_bytes(cell, field->name, values, n);
    } else if (fby_field_packed_bits(field) > 0) {
        add_maps(cell, field, tensor, values);
    } else if (is_array) {
        add_range(cell, field->name, tensor, values);
    } else {
        add_line(cell, "%s %s%s", field->name,
            fby_tensor_text(tensor, values, text),
            class_name(content, field, fby_tensor_real(tensor, values)).text);
    }
    free(values);
}

static fby_err add_ops(struct fby_sampled_params *sampled,
    struct fby_sampled_params_row row, const struct fby_field_content *field,
    struct fby_sheet_cell *cell, struct fby_error_detail *why)
{
    struct fby_field_plan plan;
    fby_err               err =
        fby_sampled_params_plan(sampled, row.sample, field, &plan, why);
    if (err == FBY_OK) {
        fby_sampled_params_append_lines(
            sampled, field, &plan, row, &cell->lines);
    }
    return err;
}

/* ---- Cells --------------------------------------------------------------- */

static fby_err make_cell(struct fby_sampled_params *sampled,
    const struct forebay_batch *batch, uint32_t row,
    struct fby_sheet_cell *cell, struct fby_error_detail *why)
{
    const struct fby_content *content = &sampled->local->split->content;
    uint64_t                  sample  = forebay_batch_samples(batch)[row];
    fby_err                   err     = FBY_OK;
    cell->pictures = fby_zalloc(FBY_MAX_FIELDS * sizeof(*cell->pictures));
    add_row_lines(sampled, batch, row, cell);
    /* A stack of masks (packed bits) is in both loops: it is not shown as a
     * picture, but has ops. */
    for (uint32_t i = 0; i < content->n_fields; i++) {
        if (!fby_field_kind(&content->fields[i])->is_picture ||
            fby_field_packed_bits(&content->fields[i]) > 0) {
            add_value(cell, content, &content->fields[i], batch, row);
        }
    }
    for (uint32_t i = 0; i < content->n_fields && err == FBY_OK; i++) {
        const struct fby_field_content *field = &content->fields[i];
        if (fby_field_kind(field)->is_picture) {
            if (fby_field_packed_bits(field) == 0) {
                add_picture(cell, field, tensor_of(batch, field->name), row);
            }
            err = add_ops(sampled, (struct fby_sampled_params_row){row, sample},
                field, cell, why);
        }
    }
    return err;
}

/* Rows of padding come last. */
static uint32_t count_valid_rows(const struct forebay_batch *batch)
{
    uint32_t n = 0;
    while (
        n < forebay_batch_rows(batch) && forebay_batch_valid(batch)[n] != 0) {
        n++;
    }
    return n;
}

fby_err fby_show_cells(struct fby_sampled_params *sampled,
    const struct forebay_batch *batch, uint32_t rows, struct fby_sheet *out,
    struct fby_error_detail *why)
{
    fby_err err         = FBY_OK;
    sampled->rows       = forebay_batch_rows(batch);
    sampled->valid_rows = count_valid_rows(batch);
    out->n_cells        = rows;
    out->cells          = fby_zalloc(rows * sizeof(*out->cells));
    for (uint32_t i = 0; i < rows && err == FBY_OK; i++) {
        err = fby_signals_check(why);
        if (err == FBY_OK) {
            err = make_cell(sampled, batch, i, &out->cells[i], why);
        }
    }
    return err;
}
