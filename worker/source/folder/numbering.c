/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/folder/numbering.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"
#include "worker/source/jobs.h"
#include "worker/source/zip/archive.h"

uint32_t fby_class_ids_find(const struct fby_folder *folders, uint32_t n,
    const struct fby_folder *classes, uint32_t n_classes, uint32_t *ids)
{
    uint32_t i  = 0;
    uint32_t id = 0;
    while (i < n && id < n_classes) {
        int order = strcmp(folders[i].name, classes[id].name);
        if (order < 0) {
            return i;
        }
        if (order == 0) {
            ids[i++] = id;
        }
        id++;
    }
    return i;
}

/* Split and find a location that a client sent. */
static fby_err find_location(const struct fby_roots *roots,
    const char *location, struct fby_location_parts *parts,
    const struct fby_root **root, struct fby_error_detail *why)
{
    if (fby_location_split(location, FBY_SOURCE_FOLDER, parts, why) != FBY_OK) {
        return FBY_USAGE; /* a client sent the location */
    }
    return fby_roots_find(roots, parts->root, root, why);
}

fby_err fby_class_folders_list(const struct fby_roots *roots,
    const char *location, uint32_t depth, const atomic_bool *stop,
    struct fby_folder **out, uint32_t *n, struct fby_error_detail *why)
{
    struct fby_location_parts parts;
    const struct fby_root    *root    = NULL;
    struct fby_archive       *archive = NULL;

    *out = NULL;
    *n   = 0;
    FBY_TRY(find_location(roots, location, &parts, &root, why));
    FBY_TRY(fby_archive_open(root, parts.base, stop, &archive, why));
    root        = archive != NULL ? fby_archive_root(archive) : root;
    fby_err err = fby_folder_list_classes(root, parts.base, depth, out, n, why);
    fby_archive_destroy(&archive);
    return err;
}

struct class_listing { /* a job */
    const struct fby_dataset_spec *spec;
    const struct fby_index        *index; /* of the dataset */
    struct fby_class_numbering    *out;
};

/* True if the location leads into the archive that the dataset lies in. */
static bool is_in_archive(
    const struct fby_index *index, const struct fby_location_parts *parts)
{
    const char *path = index->archive != NULL ? fby_archive_path(index->archive)
                                              : ""; /* of no archive */
    size_t      n    = strlen(path);
    return n > 0 && strcmp(parts->root, fby_root_name(index->root)) == 0 &&
           strncmp(parts->base, path, n) == 0 &&
           (parts->base[n] == '/' || parts->base[n] == '\0');
}

static fby_err list_classes(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    const struct class_listing    *self = arg;
    const struct fby_dataset_spec *spec = self->spec;
    struct fby_class_numbering    *out  = self->out;
    uint32_t                  depth     = fby_folder_class_depth(spec->content);
    const struct fby_root    *root      = NULL;
    struct fby_location_parts parts;
    (void)i; /* the only job */
    FBY_TRY(find_location(spec->roots, spec->classes, &parts, &root, why));
    return is_in_archive(self->index, &parts)
               ? fby_folder_list_classes(self->index->root, parts.base, depth,
                     &out->folders, &out->n, why)
               : fby_class_folders_list(spec->roots, spec->classes, depth, stop,
                     &out->folders, &out->n, why);
}

static fby_err error_not_listed(const struct fby_dataset_spec *spec,
    fby_err err, struct fby_error_detail *why)
{
    struct fby_error_detail cause = *why;
    return fby_error_set(why, err,
        "%s numbers the classes, but cannot be listed: %.300s: let this "
        "worker serve it, or say `classes_from: SPLIT`, with another split, or "
        "with its own name to number its own folders",
        fby_text_show(spec->classes).text, cause.text);
}

static fby_err error_unknown_class(const struct fby_dataset_spec *spec,
    const char *name, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG,
        "the class folder '%s' of %s is not in %s, which numbers the classes: "
        "remove or rename it, add it there, list all classes in `names` of the "
        "label, or say `classes_from: SPLIT`, with another split, or with its "
        "own name to number its own folders",
        fby_text_show(name).text, fby_text_show(spec->pattern).text,
        fby_text_show(spec->classes).text);
}

fby_err fby_class_numbering_open(const struct fby_dataset_spec *spec,
    struct fby_progress progress, const struct fby_index *index,
    struct fby_class_numbering *out, struct fby_error_detail *why)
{
    *out = (struct fby_class_numbering){0};
    if (spec->classes == NULL || spec->classes[0] == '\0' ||
        !fby_source_traits(spec->kind)->has_classes ||
        fby_folder_class_depth(spec->content) == 0) {
        return FBY_OK;
    }
    struct class_listing  listing = {spec, index, out};
    const struct fby_jobs job     = {.job = list_classes,
            .arg                          = &listing,
            .n_jobs                       = 1,
            .progress                     = progress};
    fby_err               err     = fby_jobs_run(&job, why);
    if (err != FBY_OK) {
        fby_folders_free(out->folders, out->n);
        *out = (struct fby_class_numbering){0};
        return err == FBY_GONE ? err : error_not_listed(spec, err, why);
    }
    out->ids         = fby_zalloc(index->n_folders * sizeof(*out->ids));
    uint32_t n_found = fby_class_ids_find(
        index->folders, index->n_folders, out->folders, out->n, out->ids);
    if (n_found < index->n_folders) {
        return error_unknown_class(spec, index->folders[n_found].name, why);
    }
    if (n_found == out->n) { /* the same class folders */
        fby_class_numbering_fini(out);
    }
    return FBY_OK;
}

void fby_class_numbering_fini(struct fby_class_numbering *self)
{
    fby_folders_free(self->folders, self->n);
    free(self->ids);
    *self = (struct fby_class_numbering){0};
}

struct fby_digest fby_class_numbering_digest(
    const struct fby_class_numbering *self, struct fby_digest shards)
{
    static const char       domain[] = "forebay class names 1";
    struct fby_digest_state state;
    if (self->folders == NULL) {
        return shards;
    }
    fby_digest_begin(&state);
    fby_digest_add(&state, domain, sizeof(domain)); /* with its NUL */
    fby_digest_add(&state, shards.bytes, sizeof(shards.bytes));
    for (uint32_t id = 0; id < self->n; id++) {
        const char *name = self->folders[id].name;
        fby_digest_add(&state, name, strlen(name) + 1);
    }
    return fby_digest_end(&state);
}
