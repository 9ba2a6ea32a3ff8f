/* SPDX-License-Identifier: Apache-2.0 */
/* input_file.h - the bytes of a fuzz target as the only file of a root, for
 * code that opens files. The file is in memory. Include it in one fuzz target. */
#ifndef FBY_TESTS_FUZZ_INPUT_FILE_H
#define FBY_TESTS_FUZZ_INPUT_FILE_H

#include "tests/fuzz/demand.h"
#include "tests/worker/source/memory_object.h"
#include "worker/source/roots.h"

static struct {
    const char      *name;
    struct memory    memory;
    struct fby_root *root; /* NULL: not yet created */
} input_file;

static fby_err open_input_file(const struct fby_root *root, const char *path,
    struct fby_object *out, struct fby_error_detail *why)
{
    (void)root;
    if (strcmp(path, input_file.name) != 0) {
        return fby_error_set(why, FBY_NOT_FOUND, "%s is not there", path);
    }
    *out = memory_object(&input_file.memory);
    return FBY_OK;
}

static void create_input_root(void)
{
    static const struct fby_object_ops ops    = {.open = open_input_file};
    static struct fby_roots           *roots  = NULL;
    const struct fby_root             *parent = NULL;
    roots                                     = fby_roots_create();
    demand(fby_roots_add(roots, "data=/", NULL) == FBY_OK);
    demand(fby_roots_find(roots, "data", &parent, NULL) == FBY_OK);
    input_file.root = fby_root_create_with_ops(parent, &ops, NULL);
}

/* Let the file `name` have these bytes, which are borrowed until the next call.
 * Returns its root, which is valid until the process ends. */
static const struct fby_root *set_input_file(
    const char *name, const uint8_t *data, size_t size)
{
    if (input_file.root == NULL) {
        create_input_root();
    }
    input_file.name   = name;
    input_file.memory = memory_of(data, size);
    return input_file.root;
}

#endif
