/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/class_folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/location.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"
#include "worker/source/folder/numbering.h"

bool fby_class_folders_differ(const char *const *names, uint32_t n_names,
    const char *const *others, uint32_t n_others, uint32_t *id)
{
    uint32_t n_common = n_names < n_others ? n_names : n_others;
    uint32_t i        = 0;
    while (i < n_common && strcmp(names[i], others[i]) == 0) {
        i++;
    }
    *id = i;
    return i < n_common;
}

const char fby_class_folders_advice[] =
    "number both by the class folders of one split (classes_from: SPLIT), or "
    "give both splits the same ones";

void fby_class_folders_describe(
    const struct fby_class_folders_difference *found, char *out, size_t size)
{
    snprintf(out, size,
        "class %u is the folder '%s' here and '%s' in split '%s': their "
        "folders are numbered separately",
        found->id, found->name, found->other_name, found->other_split);
}

struct classes {                /* the folders that number a split's classes */
    struct fby_folder *folders; /* one for each class; the index is the id */
    const char       **names;   /* [i]: borrowed from folders[i] */
    uint32_t           n;       /* number of classes */
};

static void free_classes(struct classes *self)
{
    fby_folders_free(self->folders, self->n);
    free(self->names);
    *self = (struct classes){0};
}

static fby_err list_classes(const struct fby_local *local,
    const struct fby_split *split, struct classes *out,
    struct fby_error_detail *why)
{
    struct fby_location *location = fby_zalloc(sizeof(*location));
    bool                 by_other = split->classes.pattern[0] != '\0';
    fby_err              err      = fby_local_find_root(local, split,
        by_other ? &split->classes : &split->location, location, why);
    if (err == FBY_OK) {
        err = fby_class_folders_list(local->roots, location->pattern,
            fby_folder_class_depth(&split->content), NULL, &out->folders,
            &out->n, why);
    }
    free(location);
    out->names = fby_zalloc((out->n + 1) * sizeof(*out->names));
    for (uint32_t i = 0; i < out->n; i++) {
        out->names[i] = out->folders[i].name;
    }
    return err;
}

/* Compare with the split `name`. If it cannot be read, *out is unchanged. */
static void compare_with_split(const struct fby_local *local,
    const struct classes *loaded, const char *name,
    struct fby_class_folders_difference *out)
{
    struct fby_error_detail why   = {{0}};
    struct fby_split       *split = NULL;
    struct classes          other = {0};
    fby_err err = fby_pipeline_make_split(local->pipeline, name, &split, &why);
    if (err == FBY_OK &&
        fby_source_traits(split->content.source)->has_classes &&
        !split->content.flat &&
        list_classes(local, split, &other, &why) == FBY_OK &&
        fby_class_folders_differ(
            loaded->names, loaded->n, other.names, other.n, &out->id)) {
        out->differ = true;
        /* Names are cut to 63 bytes: FBY_NAME_SIZE - 1. */
        snprintf(out->other_split, sizeof(out->other_split), "%.63s", name);
        snprintf(out->name, sizeof(out->name), "%.63s",
            fby_text_show(loaded->names[out->id]).text);
        snprintf(out->other_name, sizeof(out->other_name), "%.63s",
            fby_text_show(other.names[out->id]).text);
    }
    free_classes(&other);
    fby_split_destroy(&split);
}

void fby_class_folders_compare(const struct fby_local *local, const char *name,
    struct fby_class_folders_difference *out)
{
    struct fby_error_detail why    = {{0}};
    struct classes          loaded = {0};
    *out = (struct fby_class_folders_difference){.differ = false};
    if (!fby_source_traits(local->split->content.source)->has_classes ||
        local->split->content.flat) {
        return;
    }
    fby_err err      = list_classes(local, local->split, &loaded, &why);
    size_t  n_splits = fby_pipeline_n_splits(local->pipeline);
    for (size_t i = 0; i < n_splits && err == FBY_OK && !out->differ; i++) {
        const char *other = fby_pipeline_split_name(local->pipeline, i);
        /* If `name` is NULL, the loaded split is compared with itself too. */
        if (name == NULL || strcmp(other, name) != 0) {
            compare_with_split(local, &loaded, other, out);
        }
    }
    free_classes(&loaded);
}
