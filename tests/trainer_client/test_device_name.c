/* SPDX-License-Identifier: Apache-2.0 */
/* Names of devices: the GPU that each means, and the errors for invalid names.
 */
#include "tests/test.h"

#include <stdio.h>

#include "tests/trainer_client/fake_cuda.h"
#include "trainer_client/gpu/device_name.h"

static void refused_as(fby_err err, const char *name,
    const struct fby_cuda *cuda, const char *words)
{
    int                     device = -1;
    struct fby_error_detail why    = {""};
    assert_int_equal(fby_gpu_find_device(cuda, name, &device, &why), err);
    assert_string_equal(why.text, words);
    assert_int_equal(device, -1);
}

static void refused(
    const char *name, const struct fby_cuda *cuda, const char *words)
{
    refused_as(FBY_USAGE, name, cuda, words);
}

static void found(const char *name, int want)
{
    int                     device = -1;
    struct fby_error_detail why    = {""};
    assert_ok(fby_gpu_find_device(fby_cuda(), name, &device, &why));
    assert_int_equal(device, want);
}

static void a_gpu_is_found_by_its_number(void **state)
{
    (void)state;
    fake_cuda_begin(1);
    fake_cuda_driver(13000, 4);
    found("cuda", 0);
    found("cuda:0", 0);
    found("cuda:3", 3);
    refused("cuda:4", fby_cuda(), "device cuda:4: this machine has 4 GPUs");
    fake_cuda_driver(13000, 1);
    found("cuda:0", 0);
    refused("cuda:1", fby_cuda(), "device cuda:1: this machine has 1 GPU");
}

static void unknown_device_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"cuda:", "cuda:-1", "cuda:0x", "cuda:x",
        "cuda: 0", "cuda:+0", "cuda0", "cudas", "abacus", "hos", ""};
    fake_cuda_begin(1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char words[100];
        (void)snprintf(words, sizeof(words),
            "no device %s; there are: host, cuda, cuda:N, auto", names[i]);
        refused(names[i], fby_cuda(), words);
        refused(names[i], NULL, words);
    }
}

static void a_missing_device_is_refused_with_the_reason(void **state)
{
    (void)state;
    fake_cuda_begin(1);
    refused("cuda", NULL,
        "device cuda: this library was built without CUDA; use host");
    fake_cuda_driver(0, 0);
    refused("cuda", fby_cuda(),
        "device cuda: this machine has no NVIDIA driver; use host");
    fake_cuda_driver(13000, 0);
    refused("cuda:1", fby_cuda(),
        "device cuda:1: the driver finds no GPU (CUDA_VISIBLE_DEVICES can hide "
        "one); use host");
}

/* An error of the driver is not the absence of a GPU: tests are not skipped. */
static void a_driver_that_fails_is_another_error(void **state)
{
    (void)state;
    fake_cuda_begin(1);
    fake_cuda_driver(12040, 1);
    refused_as(FBY_SYS, "cuda:2", fby_cuda(),
        "device cuda:2: the driver is for CUDA 12.4, this build needs one for "
        "13.0 or newer: update the driver, or use host");
    fake_cuda_driver(13000, 1);
    fake_cuda_fail("cudaGetDeviceCount");
    refused_as(FBY_SYS, "cuda", fby_cuda(),
        "device cuda: the driver cannot use the GPUs: cudaErrorLaunchFailure "
        "(unspecified launch failure); `nvidia-smi` may say more, or use host");
    fake_cuda_fail(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_is_found_by_its_number),
        cmocka_unit_test(unknown_device_names_are_refused),
        cmocka_unit_test(a_missing_device_is_refused_with_the_reason),
        cmocka_unit_test(a_driver_that_fails_is_another_error),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed_device", tests, NULL, NULL);
}
