/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_manifest.c - any bytes as a manifest cache file.
 *
 * The checksum at the end is corrected, since a fuzzer cannot guess it. A file
 * that decodes must encode to the same bytes, shard by shard. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/source/cache.h"
#include "worker/source/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shard(const struct fby_shard *shard)
{
    struct fby_buffer first  = {0};
    struct fby_buffer second = {0};
    struct fby_shard  back;
    fby_shard_encode(shard, &first);
    if (fby_shard_decode(first.data, first.size, &back, NULL) != FBY_OK) {
        abort();
    }
    fby_shard_encode(&back, &second);
    if (first.size != second.size ||
        memcmp(first.data, second.data, first.size) != 0) {
        abort();
    }
    fby_shard_fini(&back);
    fby_buffer_fini(&first);
    fby_buffer_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_cached_manifest cached = {0};
    struct fby_error_detail    why    = {0};
    struct fby_checksum        sum    = fby_checksum_of(data, size);
    uint8_t                   *whole  = fby_zalloc(size + sizeof(sum.bytes));
    if (size > 0) {
        memcpy(whole, data, size);
    }
    memcpy(whole + size, sum.bytes, sizeof(sum.bytes));
    if (fby_cache_decode(whole, size + sizeof(sum.bytes), "shards /a", &cached,
            &why) == FBY_OK) {
        for (uint32_t i = 0; i < cached.count; i++) {
            check_shard(&cached.shards[i]);
        }
    }
    fby_cached_manifest_fini(&cached);
    free(whole);
    return 0;
}
