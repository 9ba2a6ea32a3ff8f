/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of a GPU other than the first, on the fake GPUs. */
#include "tests/trainer_client/rig.h"

#include "pipeline/types.h"
#include "tests/trainer_client/fake_cuda.h"

static void tensors_say_on_which_gpu_they_lie(void **state)
{
    (void)state;
    struct rig rig;
    fake_cuda_begin(1);
    fake_cuda_driver(13000, 3);
    rig_begin(&rig, 16, "pad");
    rig.options.device = "cuda:2";
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    struct forebay_batch *batch = rig_next(&rig);
    assert_int_equal(forebay_batch_n_fields(batch), 3);
    for (uint32_t i = 0; i < 3; i++) {
        DLDevice device = forebay_batch_tensor(batch, i)->device;
        assert_int_equal(device.device_type, kDLCUDA);
        assert_int_equal(device.device_id, 2);
    }
    forebay_release(&batch, NULL);
    rig_end(&rig);
    fake_cuda_end();
    assert_int_equal(fake_cuda_counts().live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_say_on_which_gpu_they_lie),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.gpu_number", tests, NULL, NULL);
}
