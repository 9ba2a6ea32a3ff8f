/* SPDX-License-Identifier: Apache-2.0 */
/* input_file.h - the bytes of a fuzz target as a file beneath a root, for code
 * that reads files. Include it in one fuzz target; there is one file. */
#ifndef FBY_TESTS_FUZZ_INPUT_FILE_H
#define FBY_TESTS_FUZZ_INPUT_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/demand.h"
#include "worker/source/roots.h"

static struct {
    char              dir[32];
    char              path[64]; /* of the file, in `dir` */
    int               fd;
    struct fby_roots *roots; /* NULL: the file does not exist yet */
} input_file;

static void remove_input_file(void)
{
    (void)unlink(input_file.path);
    (void)rmdir(input_file.dir);
    fby_roots_destroy(&input_file.roots);
}

static void create_input_file(const char *name)
{
    char option[64];
    snprintf(input_file.dir, sizeof(input_file.dir), "/tmp/fuzz-XXXXXX");
    demand(mkdtemp(input_file.dir) != NULL);
    snprintf(input_file.path, sizeof(input_file.path), "%s/%.20s",
        input_file.dir, name);
    input_file.fd = open(input_file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    demand(input_file.fd >= 0);
    snprintf(option, sizeof(option), "data=%s", input_file.dir);
    input_file.roots = fby_roots_create();
    demand(fby_roots_add(input_file.roots, option, NULL) == FBY_OK);
    demand(atexit(remove_input_file) == 0);
}

/* Write the bytes to the file `name`, which is the same in all calls. Returns
 * the root with the file, which is valid until the process ends. */
static const struct fby_root *write_input_file(
    const char *name, const uint8_t *data, size_t size)
{
    const struct fby_root *root = NULL;
    if (input_file.roots == NULL) {
        create_input_file(name);
    }
    demand(ftruncate(input_file.fd, 0) == 0);
    demand(pwrite(input_file.fd, data, size, 0) == (ssize_t)size);
    demand(fby_roots_find(input_file.roots, "data", &root, NULL) == FBY_OK);
    return root;
}

#endif
