/* SPDX-License-Identifier: Apache-2.0 */
/* Batches on a GPU that the consumer holds: their memory is written again only
 * after the work on the stream of the release. */
#include "tests/trainer_client/upload_rig.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forebay/forebay.h"
#include "trainer_client/batch/batch_pool.h"

/* One slot, so that each batch is in the memory of the one before. */
static struct fby_batch_pool *batch_pool_of(struct rig *rig)
{
    struct fby_batch_pool             *batch_pool = NULL;
    const struct fby_batch_pool_config config     = {
            .device         = &fby_device_host,
            .upload         = rig->upload,
            .out_bytes      = BYTES,
            .max_rows       = 1,
            .max_held_bytes = BYTES,
    };
    assert_ok(fby_batch_pool_create(&config, &batch_pool));
    return batch_pool;
}

static struct forebay_batch *deliver(struct rig *rig,
    struct fby_batch_pool *batch_pool, uint32_t number, void *stream)
{
    struct fby_error_detail why   = {""};
    struct forebay_batch   *batch = NULL;
    assert_ok(fby_batch_pool_take(batch_pool, false, &batch));
    assert_ok(send_batch(rig, number, batch->output, &why));
    assert_ok(fby_batch_pool_deliver(batch, stream, NULL, &why));
    return batch;
}

enum way { BY_AN_EVENT, BY_AWAIT, BY_A_TENSOR, WAYS };

/* Pass it from `first`, where it was delivered, to a reader on `last`, and
 * back. */
static void pass_on(struct rig *rig, struct forebay_batch *batch, enum way way,
    void *first, void *last)
{
    DLManagedTensorVersioned *tensor = NULL;
    if (way == BY_AWAIT) {
        assert_int_equal(forebay_batch_await(batch, last), FOREBAY_OK);
        assert_int_equal(forebay_batch_await(batch, first), FOREBAY_OK);
    } else {
        join(first, last);
    }
    batch->n_tensors = 1;
    if (way == BY_A_TENSOR) {
        assert_int_equal(
            forebay_batch_export(batch, 0, 1, &tensor), FOREBAY_OK);
    }
    consume(rig, &(struct held){.out = batch->output, .stream = last});
    assert_int_equal(forebay_release(&batch, last), FOREBAY_OK);
    assert_null(batch);
    if (tensor != NULL) {
        tensor->deleter(tensor);
    }
}

static void memory_waits_for_the_stream_of_the_release(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < WAYS; way++) {
        struct rig rig;
        void      *first = &own[1];
        void      *last  = &own[2];
        begin(&rig, way, false);
        struct fby_batch_pool *batch_pool = batch_pool_of(&rig);
        struct forebay_batch  *batch      = deliver(&rig, batch_pool, 0, first);
        fake_cuda_run();
        fake_cuda_pause(last, true);
        pass_on(&rig, batch, (enum way)way, first, last);
        batch = deliver(&rig, batch_pool, 1, first);
        fake_cuda_run(); /* all but the reader */
        fake_cuda_pause(last, false);
        assert_int_equal(forebay_release(&batch, first), FOREBAY_OK);
        fby_batch_pool_release(&batch_pool); /* with the upload */
        fake_cuda_end();
        assert_int_equal(fake_cuda_counts().live, 0);
        assert_int_equal(rig.wrong, 0);
        free(rig.checks);
    }
}

/* The call fails, and can be repeated. */
static void a_stream_that_cannot_wait_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 1, false);
    struct fby_batch_pool *batch_pool = batch_pool_of(&rig);
    struct forebay_batch  *batch      = deliver(&rig, batch_pool, 0, &own[1]);
    fake_cuda_fail("cudaStreamWaitEvent");
    assert_int_equal(forebay_batch_await(batch, &own[2]), FOREBAY_SYSTEM);
    fake_cuda_fail(NULL);
    assert_int_equal(forebay_batch_await(batch, &own[2]), FOREBAY_OK);
    assert_int_equal(forebay_release(&batch, &own[2]), FOREBAY_OK);
    fby_batch_pool_release(&batch_pool);
    fake_cuda_end();
    assert_int_equal(fake_cuda_counts().live, 0);
    free(rig.checks);
}

static uint64_t calls_so_far(void)
{
    struct fake_cuda_counts counts = fake_cuda_counts();
    return counts.async + counts.blocks + counts.live;
}

/* Even if the child drops the last reference: CUDA belongs to its parent. */
static void a_forked_child_calls_no_cuda_function(void **state)
{
    (void)state;
    struct rig                rig;
    int                       status = 0;
    DLManagedTensorVersioned *tensor = NULL;
    begin(&rig, 1, false);
    struct fby_batch_pool *batch_pool = batch_pool_of(&rig);
    struct forebay_batch  *batch      = deliver(&rig, batch_pool, 0, &own[1]);
    batch->n_tensors                  = 1;
    assert_int_equal(forebay_batch_export(batch, 0, 1, &tensor), FOREBAY_OK);
    assert_int_equal(forebay_release(&batch, &own[1]), FOREBAY_OK);
    fake_cuda_await_pins(ARENAS);
    pid_t pid = fork();
    if (pid == 0) {
        uint64_t before = calls_so_far();
        tensor->deleter(tensor);
        /* not _exit: ThreadSanitizer would miss the parent's threads */
        syscall(SYS_exit_group, calls_so_far() == before ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tensor->deleter(tensor);
    fby_batch_pool_release(&batch_pool);
    fake_cuda_end();
    assert_int_equal(fake_cuda_counts().live, 0);
    free(rig.checks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_waits_for_the_stream_of_the_release),
        cmocka_unit_test(a_stream_that_cannot_wait_is_refused),
        cmocka_unit_test(a_forked_child_calls_no_cuda_function),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.gpu_release", tests, NULL, NULL);
}
