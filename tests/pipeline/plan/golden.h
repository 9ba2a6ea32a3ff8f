/* SPDX-License-Identifier: Apache-2.0 */
/* golden.h - reads the files of tests/golden/plan, written by the Python model.
 *
 * They have lines of words, separated by spaces. A line that begins with # is a
 * comment. */
#ifndef FBY_TESTS_PIPELINE_PLAN_GOLDEN_H
#define FBY_TESTS_PIPELINE_PLAN_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

struct golden {
    FILE  *file;
    size_t lines; /* number of lines read */
    char   line[4096];
    char  *rest; /* of the line, after the last word read */
};

static inline struct golden golden_open(const char *name)
{
    struct golden g = {.file = NULL};
    char          path[512];
    snprintf(path, sizeof(path), "%s/plan/%s", FBY_TEST_DATA, name);
    g.file = fopen(path, "r");
    assert_non_null(g.file);
    return g;
}

/* Read the next line that is not a comment. At the end close the file, assert
 * that it had a line, and return false. */
static inline bool golden_next(struct golden *g)
{
    do {
        if (fgets(g->line, sizeof(g->line), g->file) == NULL) {
            fclose(g->file);
            assert_true(g->lines > 0);
            return false;
        }
    } while (g->line[0] == '#');
    g->lines++;
    g->rest = g->line;
    return true;
}

static inline char *golden_word(struct golden *g)
{
    char *word = strtok_r(NULL, " \n", &g->rest);
    assert_non_null(word);
    return word;
}

/* Read a decimal number or 0x... */
static inline uint64_t golden_u64(struct golden *g)
{
    return strtoull(golden_word(g), NULL, 0);
}

static inline uint32_t golden_u32(struct golden *g)
{
    return (uint32_t)golden_u64(g);
}

static inline int64_t golden_i64(struct golden *g)
{
    return strtoll(golden_word(g), NULL, 0);
}

/* Read a hexadecimal float, which has all digits. */
static inline double golden_real(struct golden *g)
{
    return strtod(golden_word(g), NULL);
}

#endif
