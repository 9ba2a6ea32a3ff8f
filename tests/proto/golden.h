/* SPDX-License-Identifier: Apache-2.0 */
/* golden.h - recorded frames: tests/golden/frames/NAME-v1.hex.
 *
 * Hex digits, 32 bytes a line. With FOREBAY_GOLDEN=write in the environment
 * the tests record instead of comparing. Review the difference before you
 * commit it, since it changes the protocol. */
#ifndef FBY_TESTS_PROTO_GOLDEN_H
#define FBY_TESTS_PROTO_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/hash.h"

enum { GOLDEN_LINE = 32 };

static inline FILE *golden_open(const char *name, const char *mode)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/frames/%s-v1.hex", FBY_TEST_DATA, name);
    FILE *file = fopen(path, mode);
    if (file == NULL) {
        fail_msg("cannot open %s", path);
    }
    return file;
}

static inline void golden_write(const char *name, const struct fby_buffer *b)
{
    FILE *file = golden_open(name, "w");
    for (size_t at = 0; at < b->size; at += GOLDEN_LINE) {
        char   hex[2 * GOLDEN_LINE + 1];
        size_t left = b->size - at;
        size_t n    = left < GOLDEN_LINE ? left : GOLDEN_LINE;
        fprintf(file, "%s\n", fby_hex(b->data + at, n, hex));
    }
    fclose(file);
}

static inline void golden_read(const char *name, struct fby_buffer *out)
{
    FILE *file = golden_open(name, "r");
    char  line[2 * GOLDEN_LINE + 2];
    while (fgets(line, sizeof(line), file) != NULL) {
        for (const char *at = line; *at != '\n'; at += 2) {
            const char pair[3] = {at[0], at[1], '\0'};
            char      *end     = NULL;
            fby_put_u8(out, (uint8_t)strtoul(pair, &end, 16));
            assert_ptr_equal(end, pair + 2);
        }
    }
    fclose(file);
}

static inline void golden_equal(const char *name, const struct fby_buffer *b)
{
    const char *mode = getenv("FOREBAY_GOLDEN");
    if (mode != NULL && strcmp(mode, "write") == 0) {
        golden_write(name, b);
    }
    struct fby_buffer recorded = {0};
    golden_read(name, &recorded);
    assert_int_equal(b->size, recorded.size);
    assert_memory_equal(b->data, recorded.data, b->size);
    fby_buffer_fini(&recorded);
}

#endif
