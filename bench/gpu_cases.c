/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/gpu_cases.h"

#define NORMALIZE                                \
    "{normalize: {mean: [0.485, 0.456, 0.406], " \
    "std: [0.229, 0.224, 0.225]}}"
#define OPS                                                              \
    "horizontal_flip, {colour_jitter: {brightness: 0.4, contrast: 0.4, " \
    "saturation: 0.4, hue: 0.1}}, random_erasing, "
#define PICTURE(width, wire, device, dtype)                                \
    "{from: jpg, ops: [{random_resized_crop: {size: [224, " width "]}}], " \
    "device: [" device NORMALIZE "], wire: " wire ", "                     \
    "out: {dtype: " dtype ", layout: chw}}"
#define FLIP "horizontal_flip, "
#define LISTS                                                            \
    "{from: npy, decode: array, shape: [], max_length: 200, wire: i32, " \
    "out: {as: ragged}}"
#define SPARSE                                                      \
    "{from: npz, decode: sparse, shape: [10000], max_length: 200, " \
    "wire: u8, out: {dtype: f32}}"
#define ONE_HOT \
    "{from: folder, one_hot: {classes: 1000, smoothing: 0.1, dtype: bf16}}"

/* In the order of enum gpu_case_number. */
const struct gpu_case gpu_cases[GPU_CASES] = {
    {"gpu_u8_f32", PICTURE("224", "u8", "", "f32"), 256, false, 0.85},
    {"gpu_u8_bf16", PICTURE("224", "u8", "", "bf16"), 256, false, 0.80},
    {"gpu_packed_f32", PICTURE("224", "u8", "", "f32"), 256, true, 0},
    {"gpu_packed_bf16", PICTURE("224", "u8", "", "bf16"), 256, true, 0.30},
    {"gpu_flip_bf16", PICTURE("224", "u8", FLIP, "bf16"), 256, true, 0},
    {"gpu_odd_bf16", PICTURE("223", "u8", "", "bf16"), 256, false, 0},
    {"gpu_odd_packed_bf16", PICTURE("223", "u8", "", "bf16"), 256, true, 0},
    {"gpu_yuv420_bf16", PICTURE("224", "yuv420", "", "bf16"), 256, true, 0},
    {"gpu_ops_bf16", PICTURE("224", "u8", OPS, "bf16"), 256, true, 0},
    {"gpu_ragged", LISTS, 65536, false, 0},
    {"gpu_sparse", SPARSE, 4096, false, 0},
    {"gpu_one_hot", ONE_HOT, 65536, false, 0},
};

void gpu_fill_pixels(uint8_t *raw, uint64_t n)
{
    enum { SLOPE_BYTES = 301 }; /* after which the slope rises by 1 */
    uint32_t state = 1;
    for (uint64_t i = 0; i < n; i++) {
        state  = state * 1664525 + 1013904223; /* next random number */
        raw[i] = (uint8_t)(i / SLOPE_BYTES + (state >> 31));
    }
}
