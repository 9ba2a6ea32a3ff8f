/* pixels.c - our decoder and our resize behind a pipe, for compare_pillow.py.
 *
 * Commands on standard input, answers on standard output, numbers u32 LE:
 *   'R' width height x y w h out_w out_h, pixels  ->  pixels of the result
 *   'D' size, a JPEG file                         ->  width height, pixels
 * A command that is refused ends the program with a message. */
#include <stdio.h>
#include <stdlib.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "worker/transform/jpeg.h"
#include "worker/transform/resize.h"

static void stop(const char *text)
{
    fprintf(stderr, "pixels: %s\n", text);
    exit(1);
}

static void take(void *to, size_t size)
{
    if (fread(to, 1, size, stdin) != size) {
        stop("input ends early");
    }
}

static void take_numbers(uint32_t *out, size_t n)
{
    uint8_t bytes[8 * 4];
    take(bytes, 4 * n);
    struct fby_reader r = fby_reader(bytes, 4 * n);
    for (size_t i = 0; i < n; i++) {
        out[i] = fby_read_u32(&r);
    }
}

static void give(const void *from, size_t size)
{
    if (fwrite(from, 1, size, stdout) != size) {
        stop("output is closed");
    }
}

static void resize_one(struct fby_resizer *resizer)
{
    uint32_t n[8]; /* width height x y w h out_w out_h */
    take_numbers(n, 8);
    size_t           stride = (size_t)n[0] * FBY_RGB;
    size_t           size   = (size_t)n[6] * n[7] * FBY_RGB;
    uint8_t         *pixels = fby_zalloc(stride * n[1]);
    uint8_t         *result = fby_zalloc(size);
    struct fby_image in     = {
            pixels + n[3] * stride + (size_t)n[2] * FBY_RGB, stride, n[4], n[5]};
    struct fby_image       out  = {result, (size_t)n[6] * FBY_RGB, n[6], n[7]};
    struct fby_resize_spec spec = fby_resize_whole(&in, &out);
    take(pixels, stride * n[1]);
    if (fby_resize(resizer, &in, &spec, &out) != FBY_OK) {
        stop("resize failed");
    }
    give(result, size);
    free(pixels);
    free(result);
}

static void decode_one(struct fby_scratch *scratch)
{
    uint32_t         size = 0;
    struct fby_why   why  = {0};
    struct fby_image out  = {0};
    take_numbers(&size, 1);
    uint8_t *bytes = fby_zalloc(size);
    take(bytes, size);
    struct fby_jpeg_file file = {bytes, size};
    if (fby_jpeg_decode(&file, scratch, &out, &why) != FBY_OK) {
        stop(why.text);
    }
    uint8_t head[8];
    fby_store_le(head, out.width, 4);
    fby_store_le(head + 4, out.height, 4);
    give(head, sizeof(head));
    give(out.pixels, out.stride * out.height);
    free(bytes);
}

int main(void)
{
    struct fby_resizer resizer = {0};
    struct fby_scratch scratch = {0};
    for (int command = getchar(); command != EOF; command = getchar()) {
        if (command == 'R') {
            resize_one(&resizer);
        } else if (command == 'D') {
            decode_one(&scratch);
        } else {
            stop("no such command");
        }
        fflush(stdout);
    }
    fby_resizer_fini(&resizer);
    fby_scratch_fini(&scratch);
    return 0;
}
