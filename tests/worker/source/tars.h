/* SPDX-License-Identifier: Apache-2.0 */
/* tars.h - scans tar files that a test wrote part by part. */
#ifndef FBY_TESTS_WORKER_SOURCE_TARS_H
#define FBY_TESTS_WORKER_SOURCE_TARS_H

#include "tests/test.h"

#include "tests/worker/source/memory_object.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/shards/tar.h"

/* Scan the tar and free it. The caller releases the shard. */
static inline fby_err scan(struct fby_buffer *tar, struct fby_shard *shard,
    struct fby_error_detail *why)
{
    struct memory       memory = memory_of(tar->data, tar->size);
    struct fby_object   object = memory_object(&memory);
    struct fby_tar_file file   = {.object = &object, .size = tar->size};
    fby_shard_init(shard, "x.tar", FBY_SOURCE_SHARDS);
    fby_err err = fby_tar_scan(&file, shard, why);
    fby_buffer_fini(tar);
    return err;
}

/* Assert that the tar is refused with these words, and free it. */
static inline void assert_refused(struct fby_buffer *tar, const char *words)
{
    struct fby_shard        shard = {0};
    struct fby_error_detail why   = {0};
    assert_int_equal(scan(tar, &shard, &why), FBY_CONFIG);
    assert_says(&why, words);
    fby_shard_fini(&shard);
}

#endif
