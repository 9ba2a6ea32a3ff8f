/* Names of devices: which GPU they mean, and words for those that are not. */
#include "tests/test.h"

#include <string.h>

#include "tests/trainer_client/fake_cuda.h"
#include "trainer_client/feed_device.h"

static void refused(
    const char *name, const struct fby_cuda *cuda, const char *words)
{
    int            device = -1;
    struct fby_why why    = {""};
    assert_int_equal(fby_feed_device(cuda, name, &device, &why), FBY_USAGE);
    if (strstr(why.text, words) == NULL) {
        fail_msg("%s", why.text);
    }
}

static void a_device_that_is_not_there_is_told_in_words(void **state)
{
    (void)state;
    int            device = -1;
    struct fby_why why    = {""};
    fake_cuda_begin(1);
    assert_ok(fby_feed_device(fby_cuda(), "cuda", &device, &why));
    assert_int_equal(device, 0);
    refused("cuda:1", fby_cuda(), "this machine has 1 GPU");
    refused("cuda:", fby_cuda(), "there are: host, cuda, cuda:N, auto");
    refused("cuda:-1", fby_cuda(), "there are: host, cuda, cuda:N, auto");
    refused("cuda:0x", fby_cuda(), "there are: host, cuda, cuda:N, auto");
    refused("abacus", fby_cuda(), "no device abacus");
    refused("cuda", NULL, "built without CUDA");
    fake_cuda_driver(0, 0);
    refused("cuda", fby_cuda(), "no NVIDIA driver");
    fake_cuda_driver(12040, 0);
    refused("cuda", fby_cuda(), "the driver is for CUDA 12.4");
    fake_cuda_driver(13000, 4);
    assert_ok(fby_feed_device(fby_cuda(), "cuda:3", &device, &why));
    assert_int_equal(device, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_is_not_there_is_told_in_words),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed_device", tests, NULL, NULL);
}
