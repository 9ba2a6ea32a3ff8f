/* SPDX-License-Identifier: Apache-2.0 */
/* fake_files.h - a folder of files that a test writes, such as the /sys of
 * another machine. Each test has a new folder, which is removed afterwards. */
#ifndef FBY_TESTS_FAKE_FILES_H
#define FBY_TESTS_FAKE_FILES_H

#include "tests/test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64]; /* path of the folder of this test */

/* For cmocka_unit_test_setup_teardown. */
static inline int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/fby-fake-files-XXXXXX");
    return mkdtemp(root) == NULL;
}

static inline int remove_one(
    const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void path_of(char out[256], const char *path)
{
    snprintf(out, 256, "%s/%s", root, path);
}

/* Make the directories above `path`, which is relative to the root. */
static inline void make_parents(const char *path)
{
    char full[256];
    path_of(full, path);
    for (char *at = full + strlen(root) + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            mkdir(full, 0700);
            *at = '/';
        }
    }
}

/* Write a file below the root, with the directories it needs. */
static inline void write_file(const char *path, const char *text)
{
    char full[256];
    make_parents(path);
    path_of(full, path);
    FILE *file = fopen(full, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#endif
