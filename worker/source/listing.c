/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/listing.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/plural.h"
#include "worker/source/object.h"
#include "worker/source/roots.h"

fby_err fby_listing_visit(const struct fby_root *root, const char *path,
    const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why)
{
    const struct fby_listing_request request = {
        .root = root, .path = path, .glob = glob, .visit = visit, .arg = arg};
    *n_dangling = 0;
    return fby_object_ops_of(root)->list(&request, n_dangling, why);
}

static int compare_names(const void *a, const void *b)
{
    const struct fby_entry *x = a;
    const struct fby_entry *y = b;
    return strcmp(x->name, y->name);
}

fby_err fby_listing_add(
    void *listing, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct fby_listing *self = listing;
    uint32_t            n    = self->count;
    if (n == INT32_MAX) { /* fby_array_grow() counts in 32 bits */
        return fby_error_set(
            why, FBY_CONFIG, "too many entries in a directory");
    }
    self->entries    = fby_array_grow(self->entries, n, sizeof(*self->entries));
    self->entries[n] = *entry;
    self->entries[n].name = fby_strdup(entry->name);
    self->count           = n + 1;
    return FBY_OK;
}

/* Those of an archive mostly are. */
static bool is_sorted(const struct fby_listing *self)
{
    uint32_t i = 1;
    while (i < self->count &&
           compare_names(&self->entries[i - 1], &self->entries[i]) <= 0) {
        i++;
    }
    return i >= self->count;
}

void fby_listing_sort(struct fby_listing *self)
{
    if (!is_sorted(self)) {
        qsort(
            self->entries, self->count, sizeof(*self->entries), compare_names);
    }
}

const struct fby_entry *fby_listing_find(
    const struct fby_listing *self, const char *name)
{
    uint32_t begin = 0;
    uint32_t end   = self->count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        int      order  = strcmp(self->entries[middle].name, name);
        if (order == 0) {
            return &self->entries[middle];
        }
        begin = order < 0 ? middle + 1 : begin;
        end   = order < 0 ? end : middle;
    }
    return NULL;
}

fby_err fby_listing_read(const struct fby_root *root, const char *path,
    const char *glob, struct fby_listing *out, struct fby_error_detail *why)
{
    const struct fby_listing_request request = {.root = root,
        .path                                         = path,
        .glob                                         = glob,
        .with_stamps                                  = true,
        .visit                                        = fby_listing_add,
        .arg                                          = out};
    *out                                     = (struct fby_listing){0};
    fby_err err =
        fby_object_ops_of(root)->list(&request, &out->n_dangling, why);
    fby_listing_sort(out);
    return err;
}

void fby_listing_log_dangling(
    const struct fby_root *root, const char *path, uint64_t n)
{
    if (n > 0) {
        fby_warn("LINKS-DANGLING",
            "skipped %s in %s:%s: the target does not exist",
            fby_plural(n, "link").text, fby_root_name(root), path);
    }
}

bool fby_listing_has_dirs(const struct fby_listing *self)
{
    uint32_t i = 0;
    while (i < self->count && !self->entries[i].is_dir) {
        i++;
    }
    return i < self->count;
}

void fby_listing_fini(struct fby_listing *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        free(self->entries[i].name);
    }
    free(self->entries);
    *self = (struct fby_listing){0};
}
