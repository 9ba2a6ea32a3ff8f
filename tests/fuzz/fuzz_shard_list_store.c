/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_shard_list_store.c - any bytes as a file with a list of shards, unchanged and
 * with a valid hash. A list that decodes is compared with itself, with none and
 * with its beginning. */
#include "trainer_client/receive/shard_list_store.h"

#include "tests/fuzz/sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *data, size_t size)
{
    static const struct fby_digest digest; /* of the seeds */
    struct fby_message             message;
    struct fby_error_detail        text;
    if (!fby_shard_list_decode(data, size, &digest, &message)) {
        return;
    }
    const struct fby_opened *opened = &message.opened;
    struct fby_shard_list    all    = {
              opened->samples, opened->shards, opened->n_shards};
    struct fby_shard_list some = {0, opened->shards, opened->n_shards / 2};
    fby_shard_list_diff(&all, &all, &text);
    fby_shard_list_diff(&all, &some, &text);
    fby_shard_list_diff(&some, &all, &text);
    fby_shard_list_diff(NULL, &all, &text);
    if (strlen(text.text) >= sizeof(text.text)) {
        abort();
    }
    fby_message_fini(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *frame = sealed(data, size);
    check(data, size);
    check(frame, size);
    free(frame);
    return 0;
}
