/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_list.c - hostile lists: any bytes as CSV and as JSON lines.
 *
 * An accepted list becomes shards whose manifest survives a round trip. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/exclude.h"
#include "tests/fuzz/demand.h"
#include "worker/source/list/list.h"
#include "worker/source/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shard(const struct fby_shard *shard)
{
    struct fby_buffer bytes = {0};
    struct fby_shard  back;
    fby_shard_encode(shard, &bytes);
    demand(fby_shard_decode(bytes.data, bytes.size, &back, NULL) == FBY_OK);
    struct fby_digest was = fby_shard_digest(shard);
    struct fby_digest is  = fby_shard_digest(&back);
    demand(fby_digest_equal(&was, &is));
    fby_shard_fini(&back);
    fby_buffer_fini(&bytes);
}

static void try_as(bool json, const char *text, size_t size)
{
    static const char     files[2][FBY_NAME_SIZE] = {"image", "mask"};
    const char           *base                    = size % 2 == 0 ? "a/b" : "";
    const struct fby_list list                    = {
                           text, size, json, files, size % 3, base, "/d"};
    struct fby_shard_builder builder = {.count = 0};
    struct fby_error_detail  why     = {{0}};
    fby_err                  err = fby_list_build_shards(&list, &builder, &why);
    demand(err == FBY_OK || err == FBY_CONFIG);
    demand((err == FBY_OK) == (why.text[0] == '\0'));
    for (uint32_t i = 0; i < builder.count; i++) {
        if (err == FBY_OK) {
            check_shard(&builder.shards[i]);
        }
        fby_shard_fini(&builder.shards[i]);
    }
    free(builder.shards);
}

/* A list of names to exclude is read as text, too. */
static void try_excluded(const char *text, size_t size)
{
    static struct fby_excluded             names;
    static const char *const               split_names[] = {"train", "val"};
    static const struct fby_exclude_splits splits        = {
               .wanted = "val", .names = split_names, .n = 2};
    fby_err err =
        fby_excluded_parse(text, size, "bad.txt", &splits, &names, NULL, NULL);
    demand(err == FBY_OK || err == FBY_CONFIG);
    demand(err != FBY_OK || fby_excluded_is_valid(&names));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fby_zalloc(size + 1); /* with a NUL, as the reader makes it */
    if (size > 0) {
        memcpy(text, data, size);
    }
    try_as(false, text, size);
    try_as(true, text, size);
    try_excluded(text, size);
    free(text);
    return 0;
}
