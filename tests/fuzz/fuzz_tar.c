/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tar.c - any bytes as a tar shard: an error or an index within the file.
 *
 * A fuzzer cannot guess checksums, so those of all headers are corrected
 * first. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/worker/source/memory_object.h"
#include "worker/source/shards/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_sum(uint8_t *block)
{
    unsigned sum = 0;
    memset(block + 148, ' ', 8);
    for (int i = 0; i < 512; i++) {
        sum += block[i];
    }
    for (int i = 5; i >= 0; i--) {
        block[148 + i] = (uint8_t)('0' + (sum & 7));
        sum >>= 3;
    }
    block[154] = 0;
}

/* Correct the checksum of blocks that have digits in the checksum field. */
static void fix_checksums(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 512 <= size; at += 512) {
        if (data[at + 148] >= '0' && data[at + 148] <= '7') {
            put_sum(data + at);
        }
    }
}

static void check(const struct fby_shard *shard, size_t size)
{
    for (uint32_t m = 0; m < shard->n_members; m++) {
        if (fby_shard_offset(shard, m) > size ||
            shard->member_bytes[m] > size - fby_shard_offset(shard, m)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_shard        shard;
    struct fby_error_detail why  = {0};
    uint8_t                *copy = fby_memdup(data, size);
    fix_checksums(copy, size);
    struct memory       memory = memory_of(copy, size);
    struct fby_object   object = memory_object(&memory);
    struct fby_tar_file file   = {.object = &object, .size = size};
    fby_shard_init(&shard, "fuzz.tar", FBY_SOURCE_SHARDS);
    if (fby_tar_scan(&file, &shard, &why) == FBY_OK) {
        check(&shard, size);
    }
    fby_shard_fini(&shard);
    free(copy);
    return 0;
}
