/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/row_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/derived.h"
#include "pipeline/text.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/dataset_state.h"

enum { PREFETCH_ROWS = 16 }; /* offsets are prefetched so many rows ahead */

struct fby_row_reader *fby_row_reader_create(void)
{
    struct fby_row_reader *self = fby_zalloc(sizeof(*self));
    self->uses.list             = self->mapped;
    return self;
}

void fby_row_reader_destroy(struct fby_row_reader **self_p)
{
    if (*self_p != NULL) {
        free((*self_p)->slot_of);
        free(*self_p);
        *self_p = NULL;
    }
}

/* ---- columns ------------------------------------------------------------- */

/* Does the column have this name and form? A ragged column is two columns,
 * offsets and values, and only the values match. */
static bool has_name_and_form(
    const struct fby_column *column, const char *name, enum fby_form form)
{
    if (form == FBY_FORM_RAGGED) {
        return fby_ragged_has_values_name(column, name);
    }
    enum fby_column_role role =
        form == FBY_FORM_SPARSE ? FBY_COLUMN_CSR : FBY_COLUMN_WHOLE;
    return column->role == role && fby_equal_ignoring_case(column->name, name);
}

static bool find_column(const struct fby_shard *shard, const char *name,
    enum fby_form form, uint16_t *out)
{
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        if (has_name_and_form(&shard->columns[i], name, form)) {
            *out = (uint16_t)i;
            return true;
        }
    }
    return false;
}

/* Returns the end of the error message for a column that exists in another form
 * than the field needs; NULL if no column has this name. */
static const char *advice_for_form(
    const struct fby_shard *shard, const char *name, enum fby_form wanted)
{
    /* advice[form of the column][1 if the field is sparse] */
    static const char *const advice[][2] = {
        [FBY_FORM_DENSE]  = {"has rows of one shape; leave out max_length",
             "has rows of one shape; say decode: array"},
        [FBY_FORM_RAGGED] = {"is ragged; say the max_length of its rows",
            "is ragged; say decode: array"},
        [FBY_FORM_SPARSE] = {"is sparse; say decode: sparse, and a max_length",
            NULL},
    };
    uint16_t column = 0; /* not used */
    for (int form = FBY_FORM_DENSE; form <= FBY_FORM_SPARSE; form++) {
        if (find_column(shard, name, (enum fby_form)form, &column)) {
            return advice[form][wanted == FBY_FORM_SPARSE];
        }
    }
    return NULL;
}

static fby_err refuse_missing(const struct fby_shard *shard, const char *wanted,
    enum fby_form form, struct fby_error_detail *why)
{
    static const char *const kinds[] = {
        [FBY_FORM_DENSE]  = "",
        [FBY_FORM_RAGGED] = "ragged ",
        [FBY_FORM_SPARSE] = "sparse ",
    };
    char        names[256] = "";
    const char *advice     = advice_for_form(shard, wanted, form);
    if (advice != NULL) {
        return fby_error_set(why, FBY_CONFIG, "shard %.200s: column %s %s",
            shard->name, wanted, advice);
    }
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        fby_text_append_name(names, sizeof(names), shard->columns[i].name);
    }
    return fby_error_set(why, FBY_CONFIG,
        "shard %.200s has no %scolumn %s; it has %s", shard->name, kinds[form],
        wanted, names);
}

fby_err fby_shard_pick_column(const struct fby_shard *shard,
    const struct fby_field_content *field, uint16_t *out,
    struct fby_error_detail *why)
{
    enum fby_form form = fby_field_form(field);
    for (uint32_t i = 0; i < field->n_from; i++) {
        if (find_column(shard, field->from[i], form, out)) {
            return FBY_OK;
        }
    }
    return refuse_missing(shard, field->from[0], form, why);
}

fby_err fby_dataset_pick_columns(const struct fby_dataset *dataset,
    const struct fby_field_content *field, uint16_t **out,
    struct fby_error_detail *why)
{
    fby_err   err  = FBY_OK;
    uint16_t *pick = fby_zalloc(dataset->index.n_shards * sizeof(*pick));
    for (uint32_t s = 0; s < dataset->index.n_shards && err == FBY_OK; s++) {
        err = fby_shard_pick_column(
            &dataset->index.shards[s], field, &pick[s], why);
    }
    if (err != FBY_OK) {
        free(pick);
        return err;
    }
    *out = pick;
    return FBY_OK;
}

const struct fby_column *fby_dataset_column(
    const struct fby_dataset *dataset, const uint16_t *pick, uint32_t shard)
{
    return &dataset->index.shards[shard].columns[pick[shard]];
}

/* ---- shards -------------------------------------------------------------- */

static void grow_slot_of(struct fby_row_reader *self, uint32_t n_shards)
{
    uint32_t old_size = self->slot_of_size;
    if (old_size < n_shards) {
        self->slot_of =
            fby_realloc(self->slot_of, n_shards * sizeof(*self->slot_of));
        memset(self->slot_of + old_size, 0,
            (n_shards - old_size) * sizeof(*self->slot_of));
        self->slot_of_size = n_shards;
    }
}

/* Returns the slot of a shard. Adds a slot if slot_of[shard] is from an earlier
 * run, because then that slot has another shard in this run, or none. */
static uint16_t find_or_add_slot(struct fby_row_reader *self, uint32_t shard)
{
    uint16_t slot     = self->slot_of[shard];
    bool     has_slot = slot < self->n_shards && self->shard[slot] == shard;
    if (!has_slot) {
        slot                 = (uint16_t)self->n_shards++;
        self->shard[slot]    = shard;
        self->slot_of[shard] = slot;
    }
    return slot;
}

void fby_row_reader_begin_run(struct fby_row_reader *self,
    const struct fby_dataset *dataset, const uint64_t *samples, uint32_t n)
{
    /* The samples of the shard that was found last, and its slot. */
    uint64_t begin = 1;
    uint64_t end   = 0; /* < begin: no shard was found yet */
    uint16_t slot  = 0;
    grow_slot_of(self, dataset->index.n_shards);
    self->n_rows   = n;
    self->n_shards = 0;
    self->failed   = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (samples[i] < begin || samples[i] >= end) {
            uint32_t shard = fby_dataset_shard_of(dataset, samples[i]);
            begin          = dataset->first[shard];
            end            = dataset->first[shard + 1];
            slot           = find_or_add_slot(self, shard);
        }
        self->slot[i]         = slot;
        self->row_in_shard[i] = (uint32_t)(samples[i] - begin);
    }
}

/* ---- a column ------------------------------------------------------------ */

/* Returns the first row whose shard has this slot. */
static uint32_t first_row_in_slot(
    const struct fby_row_reader *self, uint32_t slot)
{
    uint32_t i = 0;
    while (i + 1 < self->n_rows && self->slot[i] != slot) {
        i++;
    }
    return i;
}

/* Use the file of a column, or the shard's file if it has only one. Map the
 * file unless it is mapped. */
static fby_err use_file(struct fby_row_reader *self,
    const struct fby_dataset *dataset, uint32_t shard_number, uint32_t column,
    struct fby_error_detail *why)
{
    const struct fby_shard *shard = &dataset->index.shards[shard_number];
    bool     has_one_file = shard->sequences != NULL || fby_is_npz(shard->name);
    uint32_t file         = has_one_file ? 0 : column;
    uint64_t id           = dataset->map_ids[shard_number] + file;
    char     path[FBY_PATH_SIZE];
    if (fby_mapped_files_try_use(
            dataset->maps, id, &shard->stamps[file], &self->uses)) {
        return FBY_OK;
    }
    FBY_TRY(fby_index_path(&dataset->index, shard, file, path, why));
    return fby_mapped_files_open(dataset->maps,
        &(struct fby_file){.id = id,
            .root              = dataset->index.root,
            .path              = path,
            .stamp             = &shard->stamps[file]},
        &self->uses, why);
}

/* Set self->failed to a row of the file whose use failed, and put the name of
 * the column before the error. Returns `err`. */
static fby_err describe_failure(struct fby_row_reader *self,
    const struct fby_dataset *dataset, fby_err err,
    struct fby_error_detail *why)
{
    uint32_t                 slot   = self->uses.failed / self->n_files;
    const struct fby_column *column = self->column[slot];
    self->failed                    = first_row_in_slot(self, slot);
    if (column == NULL) {
        return err; /* tokens have no column */
    }
    if (self->uses.failed % self->n_files == 1) { /* the file of offsets */
        column =
            &dataset->index.shards[self->shard[slot]].columns[column->partner];
    }
    return fby_error_prefix(why, err, "column %s", column->name);
}

/* Returns the bytes of a file of the open column. File 0 has the values; a
 * ragged column has a file 1, the offsets. */
static const uint8_t *file_of(
    const struct fby_row_reader *self, uint32_t slot, uint32_t file)
{
    return self->mapped[slot * self->n_files + file].data;
}

/* Set `at` for all rows of a column whose rows have one length. */
static void find_rows(struct fby_row_reader *self)
{
    for (uint32_t i = 0; i < self->n_rows; i++) {
        const struct fby_column *column = self->column[self->slot[i]];
        self->at[i] = file_of(self, self->slot[i], 0) + column->offset +
                      self->row_in_shard[i] * column->row_bytes;
    }
}

/* Returns the address of the offset where row i begins. The next offset is
 * where the row ends. Offsets are in the last file of the column. */
static const uint8_t *offset_of(const struct fby_row_reader *self,
    const struct fby_file_array *offsets, uint32_t i)
{
    return file_of(self, self->slot[i], self->n_files - 1) + offsets->offset +
           (uint64_t)self->row_in_shard[i] * offsets->item_size;
}

/* Set `begin`, `end` and `at` for ragged or CSR rows. Each offset is loaded
 * once and then checked. So no row exceeds the values if the file changes. */
static void find_ragged_rows(
    struct fby_row_reader *self, const struct fby_dataset *dataset)
{
    for (uint32_t i = 0; i < self->n_rows; i++) {
        const struct fby_shard *shard =
            &dataset->index.shards[self->shard[self->slot[i]]];
        const struct fby_column *values  = self->column[self->slot[i]];
        struct fby_file_array    offsets = fby_ragged_offsets(shard, values);
        const uint8_t           *at      = offset_of(self, &offsets, i);
        if (i + PREFETCH_ROWS < self->n_rows) {
            __builtin_prefetch(offset_of(self, &offsets, i + PREFETCH_ROWS));
        }
        self->begin[i] = fby_ragged_load_offset(&offsets, at);
        self->end[i] = fby_ragged_load_offset(&offsets, at + offsets.item_size);
        self->at[i]  = NULL;
        if (fby_ragged_within(values, self->begin[i], self->end[i])) {
            self->at[i] = file_of(self, self->slot[i], 0) + values->offset +
                          (uint64_t)self->begin[i] * values->row_bytes;
        }
    }
}

const uint8_t *fby_row_reader_find_indices(
    const struct fby_row_reader *self, uint32_t row)
{
    const struct fby_file_array *indices =
        &self->column[self->slot[row]]->indices;
    return file_of(self, self->slot[row], 0) + indices->offset +
           (uint64_t)self->begin[row] * indices->item_size;
}

static fby_err use_column(struct fby_row_reader *self,
    const struct fby_dataset *dataset, uint32_t slot, uint16_t column,
    struct fby_error_detail *why)
{
    uint32_t shard     = self->shard[slot];
    self->column[slot] = &dataset->index.shards[shard].columns[column];
    FBY_TRY(use_file(self, dataset, shard, column, why));
    if (self->n_files == 2) {
        FBY_TRY(
            use_file(self, dataset, shard, self->column[slot]->partner, why));
    }
    return FBY_OK;
}

/* Close the column after use number `use` failed with `err`. If closing fails
 * too, a file has changed, and FBY_STALE is returned. */
static fby_err close_after_error(struct fby_row_reader *self,
    const struct fby_dataset *dataset, uint32_t use, fby_err err,
    struct fby_error_detail *why)
{
    self->uses.failed = use;
    describe_failure(self, dataset, err, why);
    return fby_mapped_files_end_uses(dataset->maps, &self->uses, NULL) == FBY_OK
               ? err
               : FBY_STALE;
}

fby_err fby_row_reader_open_column(struct fby_row_reader *self,
    const struct fby_dataset *dataset, const uint16_t *pick,
    struct fby_error_detail *why)
{
    const struct fby_column *first_column =
        fby_dataset_column(dataset, pick, self->shard[0]);
    self->n_files = first_column->role == FBY_COLUMN_VALUES ? 2 : 1;
    for (uint32_t i = 0; i < self->n_shards; i++) {
        fby_err err = use_column(self, dataset, i, pick[self->shard[i]], why);
        if (err != FBY_OK) { /* the failed use would be number uses.n */
            return close_after_error(self, dataset, self->uses.n, err, why);
        }
    }
    if (first_column->role == FBY_COLUMN_WHOLE) {
        find_rows(self);
    } else {
        find_ragged_rows(self, dataset);
    }
    return FBY_OK;
}

/* ---- tokens -------------------------------------------------------------- */

fby_err fby_row_reader_open_tokens(struct fby_row_reader *self,
    const struct fby_dataset *dataset, struct fby_error_detail *why)
{
    self->n_files = 1;
    for (uint32_t i = 0; i < self->n_shards; i++) {
        const struct fby_shard *shard = &dataset->index.shards[self->shard[i]];
        self->column[i]               = NULL;
        fby_err err = use_file(self, dataset, self->shard[i], 0, why);
        if (err == FBY_OK && shard->size > self->mapped[i].size) {
            err = fby_error_set(why, FBY_STALE, "is shorter than was indexed");
        }
        if (err != FBY_OK) {
            return close_after_error(self, dataset, i, err, why);
        }
    }
    return FBY_OK;
}

struct fby_token_view fby_row_reader_find_tokens(
    const struct fby_row_reader *self, const struct fby_dataset *dataset,
    uint32_t row, uint32_t first, uint32_t n)
{
    uint16_t                    slot = self->slot[row];
    const struct fby_sequences *sequences =
        dataset->index.shards[self->shard[slot]].sequences;
    uint64_t first_of_row =
        (uint64_t)self->row_in_shard[row] * sequences->length;
    struct fby_token_extent extent =
        fby_sequences_find_extent(sequences, first_of_row + first, n);
    return (struct fby_token_view){
        .at     = self->mapped[slot].data + extent.at,
        .tokens = extent.tokens,
        .width  = fby_type_bytes(sequences->type),
    };
}

fby_err fby_row_reader_close(struct fby_row_reader *self,
    const struct fby_dataset *dataset, struct fby_error_detail *why)
{
    fby_err err = fby_mapped_files_end_uses(dataset->maps, &self->uses, why);
    return err == FBY_OK ? FBY_OK : describe_failure(self, dataset, err, why);
}
