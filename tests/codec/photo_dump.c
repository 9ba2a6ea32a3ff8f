/* SPDX-License-Identifier: Apache-2.0 */
/* photo_dump.c - random pictures and their payloads in photo format 1.
 *
 *     photo_dump SEED CASES | tests/model/check_photo.py
 *
 * A line is width, height, channels (420: yuv420), then raw bytes and payload
 * in hex. */
#include <stdio.h>
#include <stdlib.h>

#include "codec/photo.h"
#include "common/mem.h"
#include "common/yuv420.h"

static uint32_t random_state;

static uint32_t any(uint32_t low, uint32_t high)
{
    random_state = random_state * UINT32_C(1664525) + UINT32_C(1013904223);
    return low + (random_state >> 16) % (high - low + 1);
}

static struct fby_pictures any_pictures(uint32_t i)
{
    bool                large = i % 16 == 0; /* several tiles */
    struct fby_pictures photo = {
        .images = any(1, large ? 1 : 3),
        .width  = large ? any(250, 530) : any(1, 70),
        .height = large ? any(30, 40) : any(1, 20),
        .planes = any(0, 2) == 0 ? 1 : 3,
    };
    photo.yuv420 = photo.planes == 3 && any(0, 1) == 0;
    return photo;
}

/* Fill with a slope and noise, of random strength. */
static void fill(uint8_t *raw, size_t size)
{
    uint32_t slope = any(1, 40);
    uint32_t noise = (1U << any(0, 8)) - 1;
    for (size_t i = 0; i < size; i++) {
        raw[i] = (uint8_t)(i / slope + any(0, noise));
    }
}

static void print_hex(const uint8_t *bytes, size_t size)
{
    putchar(' ');
    for (size_t i = 0; i < size; i++) {
        printf("%02x", bytes[i]);
    }
}

static void dump(uint32_t i, void *scratch)
{
    struct fby_pictures photo = any_pictures(i);
    size_t              size =
        photo.images *
        (photo.yuv420 ? (size_t)fby_yuv_bytes(photo.width, photo.height)
                      : (size_t)photo.width * photo.height * photo.planes);
    uint8_t *raw     = fby_zalloc(size);
    uint8_t *payload = fby_zalloc(fby_photo_encode_capacity(&photo));
    fill(raw, size);
    size_t packed = fby_photo_encode(&photo, raw, payload, scratch);
    printf("%u %u %u", photo.width, photo.height,
        photo.yuv420 ? 420 : photo.planes);
    print_hex(raw, size);
    print_hex(payload, packed);
    putchar('\n');
    free(raw);
    free(payload);
}

int main(int argc, char **argv)
{
    static _Alignas(64) uint8_t scratch[FBY_PHOTO_SCRATCH_BYTES];
    if (argc != 3) {
        return 2;
    }
    random_state   = (uint32_t)strtoul(argv[1], NULL, 10);
    uint32_t cases = (uint32_t)strtoul(argv[2], NULL, 10);
    for (uint32_t i = 0; i < cases; i++) {
        dump(i, scratch);
    }
    return 0;
}
