/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas of pinned memory: waiting for an arena returns it pinned, or the
 * reason why it cannot be pinned; all pinned memory is unpinned once. */
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trainer_client/gpu/pinned_arenas.h"

enum { ARENAS = 6, BYTES = 8192, NO_MEMORY = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static const uint8_t  *pinned[ARENAS];
static uint32_t        n_pinned, n_unpinned, n_failed, n_of_device;
static uint32_t        first_bad, n_bad; /* calls that fail */
static sem_t           go; /* each pin waits for one, unless all_may_go */
static bool            all_may_go;

static int use(int device)
{
    pthread_mutex_lock(&lock);
    n_of_device += device == 3 ? 1 : 0;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int exchange_capture_mode(int *mode)
{
    *mode = 0;
    return 0;
}

static int describe(int device, struct fby_cuda_about *out)
{
    (void)device;
    (void)out;
    return NO_MEMORY;
}

static int pin(void *memory, size_t size)
{
    if (!all_may_go) {
        sem_wait(&go);
    }
    pthread_mutex_lock(&lock);
    uint32_t call = n_pinned + n_failed;
    bool bad = size != BYTES || (call >= first_bad && call < first_bad + n_bad);
    if (bad) {
        n_failed++;
    } else {
        pinned[n_pinned++] = memory;
    }
    pthread_mutex_unlock(&lock);
    return bad ? NO_MEMORY : 0;
}

static bool is_pinned(const uint8_t *memory)
{
    bool is = false;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n_pinned; i++) {
        is = is || pinned[i] == memory;
    }
    pthread_mutex_unlock(&lock);
    return is;
}

static int unpin(void *memory)
{
    assert_true(is_pinned(memory));
    for (uint32_t i = 0; i < n_pinned; i++) {
        pinned[i] = pinned[i] == memory ? NULL : pinned[i];
    }
    n_unpinned++;
    return 0;
}

static const char *failed(void)
{
    return "cudaHostRegister";
}

static const char *name(int code)
{
    (void)code;
    return "cudaErrorMemoryAllocation";
}

static const char *text(int code)
{
    (void)code;
    return "out of memory";
}

static const struct fby_cuda calls = {
    .use_device            = use,
    .exchange_capture_mode = exchange_capture_mode,
    .describe              = describe,
    .pin                   = pin,
    .unpin                 = unpin,
    .failed_function       = failed,
    .error_name            = name,
    .error_text            = text,
};

/* NOLINTBEGIN(readability-identifier-naming): what the linker calls them */

int __real_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *held);
int __wrap_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *held);

int __wrap_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *held)
{
    sem_post(&go);
    return __real_pthread_cond_wait(changed, held);
}

static bool threads_fail;

int __real_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg);

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg)
{
    return threads_fail ? EAGAIN
                        : __real_pthread_create(out, attributes, run, arg);
}

/* NOLINTEND(readability-identifier-naming) */

/* `n` calls from the `first` on fail; `at_once`: no call blocks. */
static struct fby_pinned *begin(bool at_once, uint32_t first, uint32_t n)
{
    struct fby_pinned          *self   = NULL;
    struct fby_error_detail     why    = {""};
    const struct fby_pin_config config = {
        .cuda = &calls, .device = 3, .n = ARENAS, .bytes = BYTES};
    n_pinned = n_unpinned = n_failed = n_of_device = 0;
    first_bad                                      = first;
    n_bad                                          = n;
    all_may_go                                     = at_once;
    sem_init(&go, 0, 0);
    assert_ok(fby_pinned_create(&config, &self, &why));
    return self;
}

static void end(struct fby_pinned **self)
{
    fby_pinned_destroy(self);
    assert_null(*self);
    assert_int_equal(n_unpinned, n_pinned);
    assert_int_equal(n_of_device, n_pinned + n_failed);
    sem_destroy(&go);
}

static void a_wait_for_an_arena_returns_it_pinned(void **state)
{
    (void)state;
    struct fby_pinned      *self = begin(false, 0, 0);
    struct fby_error_detail why  = {""};
    for (uint32_t i = ARENAS; i-- > 0;) {
        uint8_t *memory = fby_pinned_memory(self, i);
        assert_ok(fby_pinned_wait(self, i, &why));
        assert_true(is_pinned(memory));
        memory[BYTES - 1] = 1;
        for (uint32_t k = 0; k < i; k++) {
            assert_ptr_not_equal(memory, fby_pinned_memory(self, k));
        }
    }
    assert_int_equal(n_pinned, ARENAS);
    end(&self);
}

/* Others are there all the same. */
static void an_arena_that_cannot_be_pinned_is_reported(void **state)
{
    (void)state;
    struct fby_pinned *self = begin(false, 2, 2);
    uint32_t           bad  = 0;
    for (uint32_t i = ARENAS; i-- > 0;) {
        struct fby_error_detail why = {""};
        fby_err                 err = fby_pinned_wait(self, i, &why);
        assert_int_equal(err == FBY_OK, is_pinned(fby_pinned_memory(self, i)));
        if (err != FBY_OK) {
            assert_int_equal(err, FBY_SYS);
            assert_string_equal(why.text,
                "CUDA: cudaHostRegister failed with 2 "
                "(cudaErrorMemoryAllocation: out of memory), for a slot of "
                "8192 bytes; ulimit -l says how much may be locked");
            bad++;
        }
    }
    assert_int_equal(bad, 2);
    assert_int_equal(n_pinned, ARENAS - 2);
    end(&self);
}

static void an_arena_that_was_never_waited_for_is_unpinned_too(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        struct fby_pinned *self = begin(true, i % 8, 1);
        end(&self);
    }
}

/* If a child had the pages too, the next write of either would move them, and
 * the GPU would read the old ones. */
static void a_child_process_has_no_arenas(void **state)
{
    (void)state;
    int                     status = 0;
    struct fby_pinned      *arenas = begin(true, 0, 0);
    struct fby_error_detail why    = {""};
    assert_ok(fby_pinned_wait(arenas, 0, &why));
    uint8_t *memory = fby_pinned_memory(arenas, 0);
    assert_int_equal(msync(memory, BYTES, MS_ASYNC), 0);
    pid_t child = fork();
    if (child == 0) {
        bool has_no_memory =
            msync(memory, BYTES, MS_ASYNC) != 0 && errno == ENOMEM;
        /* ThreadSanitizer's _exit() would miss the threads of the parent */
        (void)syscall(SYS_exit_group, has_no_memory ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    end(&arenas);
}

static void without_memory_nothing_is_pinned(void **state)
{
    (void)state;
    struct fby_pinned          *self   = NULL;
    struct fby_error_detail     why    = {""};
    const struct fby_pin_config config = {
        .cuda = &calls, .n = 2, .bytes = UINT64_C(1) << 60};
    n_pinned = n_unpinned = 0;
    assert_int_equal(fby_pinned_create(&config, &self, &why), FBY_SYS);
    assert_null(self);
    assert_string_equal(
        why.text, "no memory for 2 slots of 1152921504606846976 bytes");
    assert_int_equal(n_pinned + n_unpinned, 0);
}

static void without_threads_nothing_is_pinned(void **state)
{
    (void)state;
    struct fby_pinned          *self   = NULL;
    struct fby_error_detail     why    = {""};
    const struct fby_pin_config config = {
        .cuda = &calls, .n = ARENAS, .bytes = BYTES};
    n_pinned = n_unpinned = 0;
    threads_fail          = true;
    assert_int_equal(fby_pinned_create(&config, &self, &why), FBY_SYS);
    threads_fail = false;
    assert_null(self);
    assert_string_equal(why.text,
        "cannot start a thread to pin memory; ulimit -u limits threads");
    assert_int_equal(n_pinned + n_unpinned, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_an_arena_returns_it_pinned),
        cmocka_unit_test(an_arena_that_cannot_be_pinned_is_reported),
        cmocka_unit_test(an_arena_that_was_never_waited_for_is_unpinned_too),
        cmocka_unit_test(a_child_process_has_no_arenas),
        cmocka_unit_test(without_memory_nothing_is_pinned),
        cmocka_unit_test(without_threads_nothing_is_pinned),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed_pin", tests, NULL, NULL);
}
