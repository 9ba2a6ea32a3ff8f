#include "worker/source/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/pipeline/text.h"
#include "worker/source/dataset_state.h"

struct fby_run *fby_run_create(void)
{
    struct fby_run *self = fby_zalloc(sizeof(*self));
    self->uses.at        = self->use;
    return self;
}

void fby_run_destroy(struct fby_run **self_p)
{
    if (*self_p != NULL) {
        free((*self_p)->slot_of);
        free(*self_p);
        *self_p = NULL;
    }
}

/* ---- columns ------------------------------------------------------------- */

static bool find_column(
    const struct fby_shard *shard, const char *name, uint16_t *out)
{
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        if (fby_suffix_is(shard->columns[i].name, name)) {
            *out = (uint16_t)i;
            return true;
        }
    }
    return false;
}

static fby_err say_missing(
    const struct fby_shard *shard, const char *wanted, struct fby_why *why)
{
    char has[256] = "";
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        fby_text_list(has, sizeof(has), shard->columns[i].name);
    }
    return fby_because(why, FBY_CONFIG,
        "shard %.200s has no column %s; it has %s", shard->name, wanted, has);
}

fby_err fby_dataset_pick(const struct fby_dataset *dataset,
    const char (*from)[FBY_NAME_SIZE], uint32_t n_from, uint16_t **out,
    struct fby_why *why)
{
    uint16_t *pick = fby_zalloc(dataset->index.n_shards * sizeof(*pick));
    for (uint32_t s = 0; s < dataset->index.n_shards; s++) {
        const struct fby_shard *shard = &dataset->index.shards[s];
        uint32_t                i     = 0;
        while (i < n_from && !find_column(shard, from[i], &pick[s])) {
            i++;
        }
        if (i == n_from) {
            free(pick);
            return say_missing(shard, from[0], why);
        }
    }
    *out = pick;
    return FBY_OK;
}

const struct fby_column *fby_dataset_column(
    const struct fby_dataset *dataset, const uint16_t *pick, uint32_t shard)
{
    return &dataset->index.shards[shard].columns[pick[shard]];
}

/* ---- placing ------------------------------------------------------------- */

static void make_slots(struct fby_run *self, uint32_t n_shards)
{
    if (self->slots < n_shards) {
        self->slot_of =
            fby_regrow(self->slot_of, n_shards * sizeof(*self->slot_of));
        memset(self->slot_of + self->slots, 0,
            (n_shards - self->slots) * sizeof(*self->slot_of));
        self->slots = n_shards;
    }
}

/* The place of a shard among those of this run; whatever stands in slot_of
 * counts only if the list agrees. */
static uint16_t slot_of_shard(struct fby_run *self, uint32_t shard)
{
    uint16_t slot = self->slot_of[shard];
    if (slot >= self->n_shards || self->shard[slot] != shard) {
        slot                 = (uint16_t)self->n_shards++;
        self->shard[slot]    = shard;
        self->slot_of[shard] = slot;
    }
    return slot;
}

void fby_run_place(struct fby_run *self, const struct fby_dataset *dataset,
    const uint64_t *samples, uint32_t n)
{
    uint64_t begin = 1; /* of the shard before: none yet */
    uint64_t end   = 0;
    uint16_t slot  = 0;
    make_slots(self, dataset->index.n_shards);
    self->n        = n;
    self->n_shards = 0;
    self->failed   = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (samples[i] < begin || samples[i] >= end) {
            uint32_t shard = fby_dataset_shard_of(dataset, samples[i]);
            begin          = dataset->first[shard];
            end            = dataset->first[shard + 1];
            slot           = slot_of_shard(self, shard);
        }
        self->slot[i] = slot;
        self->row[i]  = (uint32_t)(samples[i] - begin);
    }
}

/* ---- a column ------------------------------------------------------------ */

static uint32_t row_in_slot(const struct fby_run *self, uint32_t slot)
{
    uint32_t i = 0;
    while (i + 1 < self->n && self->slot[i] != slot) {
        i++;
    }
    return i;
}

static fby_err use_file(struct fby_run *self, const struct fby_dataset *dataset,
    uint32_t shard_number, uint32_t column, struct fby_why *why)
{
    const struct fby_shard *shard = &dataset->index.shards[shard_number];
    uint32_t                file  = fby_is_npz(shard->name) ? 0 : column;
    uint64_t                id    = dataset->map_ids[shard_number] + file;
    char                    path[FBY_PATH_SIZE];
    if (fby_maps_use(dataset->maps, id, &shard->stamps[file], &self->uses)) {
        return FBY_OK;
    }
    fby_err err = fby_index_path(&dataset->index, shard, file, path, why);
    if (err == FBY_OK) {
        err = fby_maps_open(dataset->maps,
            &(struct fby_file){.id = id,
                .root              = dataset->index.root,
                .path              = path,
                .stamp             = &shard->stamps[file]},
            &self->uses, why);
    }
    return err;
}

/* "column dense.npy: " before what went wrong with the file of `slot`. */
static fby_err name_file(
    struct fby_run *self, uint32_t slot, fby_err err, struct fby_why *why)
{
    self->failed = row_in_slot(self, slot);
    return fby_because_in(why, err, "column %s", self->column[slot]->name);
}

static void point_at_rows(struct fby_run *self)
{
    for (uint32_t i = 0; i < self->n; i++) {
        const struct fby_column *column = self->column[self->slot[i]];
        self->at[i] = self->use[self->slot[i]].data + column->offset +
                      self->row[i] * column->row_bytes;
    }
}

fby_err fby_run_open(struct fby_run *self, const struct fby_dataset *dataset,
    const uint16_t *pick, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < self->n_shards; i++) {
        uint32_t shard  = self->shard[i];
        self->column[i] = fby_dataset_column(dataset, pick, shard);
        err             = use_file(self, dataset, shard, pick[shard], why);
        if (err != FBY_OK) {
            name_file(self, i, err, why);
            return fby_maps_end(dataset->maps, &self->uses, NULL) == FBY_OK
                       ? err
                       : FBY_STALE;
        }
    }
    point_at_rows(self);
    return FBY_OK;
}

fby_err fby_run_close(struct fby_run *self, const struct fby_dataset *dataset,
    struct fby_why *why)
{
    fby_err err = fby_maps_end(dataset->maps, &self->uses, why);
    return err == FBY_OK ? FBY_OK
                         : name_file(self, self->uses.failed, err, why);
}
