/* SPDX-License-Identifier: Apache-2.0 */
/* PNG files as fields; check_png.py tests the decoded values. */
#include "tests/guard.h"
#include "tests/says.h"
#include "tests/worker/transform/pictures.h"
#include "tests/worker/transform/transform.h"

#include <spng.h>

#include "worker/transform/field.h"
#include "worker/transform/png.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/transform_private.h"

enum { WIDTH = 33, HEIGHT = 29, SIDE = 20 };

/* The built-in grey file of 33 x 29 pixels, not interlaced; and one that is. */
static struct fby_picture_file probe(uint32_t width, uint32_t height)
{
    struct fby_scratch scratch = {0};
    struct fby_image   image   = {0};
    for (size_t i = 0; i < fby_n_png_probes; i++) {
        bool found = fby_picture_decode(&fby_png_mask, &fby_png_probes[i],
                         &scratch, &image, NULL) == FBY_OK &&
                     image.width == width && image.height == height;
        fby_scratch_fini(&scratch);
        if (found) {
            return fby_png_probes[i];
        }
    }
    fail_msg("no probe of %u x %u", width, height);
    return fby_png_probes[0];
}

static struct fby_field_content field_of(enum fby_decode decode)
{
    struct fby_field_content field = {.name = "f",
        .group                              = "g",
        .decode                             = decode,
        .wire_type                          = FBY_U8,
        .n_from                             = 1,
        .n_ops                              = 1};
    strcpy(field.from[0], "png");
    field.as.rgb8.dct_scale = decode == FBY_DECODE_RGB8 ? FBY_DCT_FAITHFUL : 0;
    field.shape             = (struct fby_shape){
                    3, {SIDE, SIDE, decode == FBY_DECODE_RGB8 ? FBY_RGB : 1}};
    field.ops[0] = (struct fby_op_use){
        .op = fby_op_named("random_crop"), .params = {{.n = 2, .i = {20, 20}}}};
    return field;
}

static struct fby_field_job job_of(
    const struct fby_field_content *field, struct fby_picture_file file)
{
    return (struct fby_field_job){.field = field,
        .bytes                           = file.bytes,
        .size                            = file.size,
        .seed                            = 4,
        .sample                          = 9};
}

static void a_crop_of_a_png_is_that_part_of_it(void **state)
{
    (void)state;
    static const uint32_t sides[2][2] = {{WIDTH, HEIGHT}, {35, 27}};
    for (size_t i = 0; i < 2; i++) {
        uint8_t                  pixels[SIDE * SIDE * FBY_RGB];
        struct fby_field_content field = field_of(FBY_DECODE_RGB8);
        struct fby_picture_file  file  = probe(sides[i][0], sides[i][1]);
        struct fby_field_job     job   = job_of(&field, file);
        struct fby_scratch       all   = {0};
        struct fby_image         whole = {0};
        struct fby_field_plan    plan;
        assert_ok(fby_field_plan(&job, &plan, NULL));
        assert_ok(fby_field_write(transform, &job, pixels, NULL));
        assert_ok(
            fby_picture_decode(&fby_png_picture, &file, &all, &whole, NULL));
        struct fby_image out = {pixels, (size_t)SIDE * FBY_RGB, SIDE, SIDE};
        struct fby_image part =
            part_of(whole, plan.plans[0].x, plan.plans[0].y, SIDE, SIDE);
        assert_same_picture(&part, &out);
        fby_scratch_fini(&all);
    }
}

static void a_mask_takes_its_image_s_draw_and_keeps_its_ids(void **state)
{
    (void)state;
    uint8_t                  pixels[SIDE * SIDE * FBY_RGB];
    uint8_t                  ids[SIDE * SIDE];
    struct fby_field_content image = field_of(FBY_DECODE_RGB8);
    struct fby_field_content mask  = field_of(FBY_DECODE_MASK8);
    struct fby_picture_file  file  = probe(WIDTH, HEIGHT);
    struct fby_field_job jobs[2] = {job_of(&image, file), job_of(&mask, file)};
    assert_ok(fby_field_write(transform, &jobs[0], pixels, NULL));
    assert_ok(fby_field_write(transform, &jobs[1], ids, NULL));
    for (size_t i = 0; i < sizeof(ids); i++) {
        assert_int_equal(ids[i], pixels[i * FBY_RGB]);
    }
}

static void a_scaled_mask_has_no_id_that_was_not_there(void **state)
{
    (void)state;
    uint8_t                  ids[SIDE * SIDE];
    struct fby_field_content mask  = field_of(FBY_DECODE_MASK8);
    struct fby_picture_file  file  = probe(WIDTH, HEIGHT);
    struct fby_scratch       all   = {0};
    struct fby_image         whole = {0};
    mask.ops[0]                    = (struct fby_op_use){
                           .op     = fby_op_named("resize"),
                           .params = {{0}, {.n = 2, .i = {SIDE, SIDE}}},
    };
    struct fby_field_job job = job_of(&mask, file);
    assert_ok(fby_field_write(transform, &job, ids, NULL));
    assert_ok(fby_picture_decode(&fby_png_mask, &file, &all, &whole, NULL));
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            uint32_t from_x = (2 * x + 1) * WIDTH / (2 * SIDE);
            uint32_t from_y = (2 * y + 1) * HEIGHT / (2 * SIDE);
            assert_int_equal(ids[y * SIDE + x],
                whole.pixels[from_y * whole.stride + from_x]);
        }
    }
    fby_scratch_fini(&all);
}

static void a_png_is_taken_where_from_names_one(void **state)
{
    (void)state;
    uint8_t                  pixels[SIDE * SIDE * FBY_RGB];
    struct fby_field_content field = field_of(FBY_DECODE_RGB8);
    struct fby_buffer        jpeg = photo_file((struct fby_photo){.number = 1});
    struct fby_field_job     job  = job_of(&field, probe(WIDTH, HEIGHT));
    struct fby_error_detail  why  = {{0}};
    strcpy(field.from[0], "jpg");
    assert_int_equal(
        fby_field_write(transform, &job, pixels, &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, "add png to"));
    strcpy(field.from[0], "left.png");
    assert_ok(fby_field_write(transform, &job, pixels, &why));
    job = job_of(&field, as_jpeg(&jpeg)); /* told by its bytes */
    assert_ok(fby_field_write(transform, &job, pixels, &why));
    job = job_of(&field, (struct fby_picture_file){jpeg.data + 1, 99});
    assert_int_equal(
        fby_field_write(transform, &job, pixels, &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, "not a PNG or JPEG"));
    field.decode = FBY_DECODE_MASK8;
    assert_int_equal(
        fby_field_write(transform, &job, pixels, &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, "a mask that is not a PNG"));
    fby_buffer_fini(&jpeg);
}

/* Decode the same crop of one mask n times. */
static void check_stack(uint32_t n)
{
    uint8_t                  bits[SIDE * SIDE * 4];
    uint8_t                  ids[SIDE * SIDE];
    struct fby_picture_file  file  = probe(WIDTH, HEIGHT);
    struct fby_field_content mask  = field_of(FBY_DECODE_MASK8);
    struct fby_field_content stack = field_of(FBY_DECODE_MAPS);
    struct fby_buffer        bytes = {0};
    uint64_t                 sizes[FBY_MAX_MAPS];
    stack.n_from        = n;
    stack.as.maps.n     = n;
    stack.shape.dims[2] = (n + 7) / 8;
    for (uint32_t i = 0; i < n; i++) {
        sizes[i] = file.size;
        fby_put_bytes(&bytes, file.bytes, file.size);
    }
    struct fby_field_job job = job_of(&mask, file);
    assert_ok(fby_field_write(transform, &job, ids, NULL));
    job.field = &stack;
    job.bytes = bytes.data;
    job.size  = bytes.size;
    job.sizes = sizes;
    assert_ok(fby_field_write(transform, &job, bits, NULL));
    for (size_t i = 0; i < fby_field_bytes(&stack); i++) {
        uint32_t left = n - (uint32_t)(i % stack.shape.dims[2]) * 8;
        unsigned all  = left < 8 ? (1U << left) - 1 : 255;
        assert_int_equal(bits[i], ids[i / stack.shape.dims[2]] != 0 ? all : 0);
    }
    fby_buffer_fini(&bytes);
}

static void a_stack_has_a_bit_for_each_mask_that_is_not_0(void **state)
{
    (void)state;
    check_stack(1);
    check_stack(3);
    check_stack(8);
    check_stack(9);
    check_stack(FBY_MAX_MAPS);
}

static bool mask_has(uint32_t mask, uint32_t x, uint32_t y)
{
    return (x * 3 + y * 5 + mask * 7) % 11 < 4;
}

/* A file of the pixels above, each 0 or another id. */
static void put_mask(struct fby_buffer *out, uint32_t mask)
{
    uint8_t          ids[SIDE * SIDE];
    size_t           size  = 0;
    int              error = 0;
    struct spng_ihdr head  = {
         .width = SIDE, .height = SIDE, .bit_depth = 8, .color_type = 0};
    spng_ctx *png = spng_ctx_new(SPNG_CTX_ENCODER);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        ids[i] =
            mask_has(mask, i % SIDE, i / SIDE) ? (uint8_t)(1 + i % 255) : 0;
    }
    spng_set_option(png, SPNG_ENCODE_TO_BUFFER, 1);
    spng_set_ihdr(png, &head);
    assert_int_equal(spng_encode_image(png, ids, sizeof(ids), SPNG_FMT_PNG,
                         SPNG_ENCODE_FINALIZE),
        0);
    void *file = spng_get_png_buffer(png, &size, &error);
    fby_put_bytes(out, file, size);
    free(file);
    spng_ctx_free(png);
}

static void the_bits_of_a_stack_are_in_the_order_of_its_files(void **state)
{
    (void)state;
    enum { MASKS = 10 };
    uint8_t                  bits[SIDE * SIDE * 2];
    uint64_t                 sizes[MASKS];
    struct fby_buffer        bytes = {0};
    struct fby_field_content stack = field_of(FBY_DECODE_MAPS);
    stack.n_ops                    = 0;
    stack.n_from                   = MASKS;
    stack.as.maps.n                = MASKS;
    stack.shape.dims[2]            = 2;
    for (uint32_t i = 0; i < MASKS; i++) {
        size_t before = bytes.size;
        put_mask(&bytes, i);
        sizes[i] = bytes.size - before;
    }
    struct fby_field_job job = {.field = &stack,
        .bytes                         = bytes.data,
        .size                          = bytes.size,
        .sizes                         = sizes};
    memset(bits, 0xff, sizeof(bits));
    assert_ok(fby_field_write(transform, &job, bits, NULL));
    for (uint32_t i = 0; i < SIDE * SIDE * 16; i++) {
        uint32_t mask = i % 16;
        uint32_t at   = i / 16;
        bool     is   = (bits[at * 2 + mask / 8] >> mask % 8 & 1) != 0;
        assert_int_equal(
            is, mask < MASKS && mask_has(mask, at % SIDE, at / SIDE));
    }
    fby_buffer_fini(&bytes);
}

static void masks_of_a_stack_have_one_size(void **state)
{
    (void)state;
    uint8_t                  bits[SIDE * SIDE];
    struct fby_picture_file  files[2] = {probe(WIDTH, HEIGHT), probe(39, 23)};
    struct fby_field_content field    = field_of(FBY_DECODE_MAPS);
    struct fby_buffer        bytes    = {0};
    uint64_t                 sizes[2] = {files[0].size, files[1].size};
    struct fby_error_detail  why      = {{0}};
    field.n_from                      = 2;
    field.as.maps.n                   = 2;
    strcpy(field.from[0], "a.png");
    strcpy(field.from[1], "b.png");
    fby_put_bytes(&bytes, files[0].bytes, files[0].size);
    fby_put_bytes(&bytes, files[1].bytes, files[1].size);
    struct fby_field_job job =
        job_of(&field, (struct fby_picture_file){bytes.data, bytes.size});
    job.sizes = sizes;
    assert_int_equal(
        fby_field_write(transform, &job, bits, &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(
        why.text, ".a.png has 33 x 29 pixels, .b.png 39 x 23; masks of one"));
    bytes.size = 0; /* the same twice, and cut off */
    fby_put_bytes(&bytes, files[0].bytes, files[0].size);
    fby_put_bytes(&bytes, files[0].bytes, files[0].size);
    sizes[1]  = sizes[0] - 30;
    job.bytes = bytes.data;
    job.size  = bytes.size - 30;
    assert_int_equal(
        fby_field_write(transform, &job, bits, &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, ".b.png: PNG"));
    fby_buffer_fini(&bytes);
}

/* ---- damaged files ------------------------------------------------------- */

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

/* The offset at which the last chunk of pixels ends. */
static size_t end_of_pixels(struct fby_picture_file file)
{
    size_t end = 0;
    for (size_t at = 8; at + 12 <= file.size;) {
        size_t next = at + 12 + big_endian(file.bytes + at);
        end         = memcmp(file.bytes + at + 4, "IDAT", 4) == 0 ? next : end;
        at          = next;
    }
    return end;
}

/* In memory that ends with the file. */
static fby_err decode_at_end(struct fby_picture_file file, bool mask)
{
    struct fby_guarded      copy  = fby_guarded_copy(file.bytes, file.size);
    struct fby_picture_file own   = {copy.bytes, copy.size};
    struct fby_scratch      all   = {0};
    struct fby_image        image = {0};
    fby_err                 err   = fby_picture_decode(
                          mask ? &fby_png_mask : &fby_png_picture, &own, &all, &image, NULL);
    fby_scratch_fini(&all);
    fby_guarded_free(&copy);
    return err;
}

static void a_file_that_is_cut_before_its_last_pixel_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < fby_n_png_probes; i++) {
        struct fby_picture_file file = fby_png_probes[i];
        size_t                  end  = end_of_pixels(file);
        bool                    mask = decode_at_end(file, false) != FBY_OK;
        assert_true(end > 0);
        if (mask && decode_at_end(file, true) != FBY_OK) {
            continue; /* of a kind that is refused */
        }
        for (size_t size = 0; size < end; size += 1 + size / 64) {
            struct fby_picture_file cut = {file.bytes, size};
            assert_int_equal(decode_at_end(cut, mask), FBY_BAD_SAMPLE);
        }
        for (size_t size = end - 3; size < end; size++) {
            struct fby_picture_file cut = {file.bytes, size};
            assert_int_equal(decode_at_end(cut, mask), FBY_BAD_SAMPLE);
        }
    }
}

/* The checksums detect a change of any byte up to the last pixel. */
static void a_damaged_byte_is_refused(void **state)
{
    (void)state;
    struct fby_picture_file file   = probe(WIDTH, HEIGHT);
    uint8_t                *bytes  = malloc(file.size);
    struct fby_picture_file damage = {bytes, file.size};
    memcpy(bytes, file.bytes, file.size);
    for (size_t i = 0; i < end_of_pixels(file); i++) {
        bytes[i] ^= 0x24;
        assert_int_equal(decode_at_end(damage, true), FBY_BAD_SAMPLE);
        bytes[i] ^= 0x24;
    }
    assert_ok(decode_at_end(damage, true));
    free(bytes);
}

/* ---- headers ------------------------------------------------------------- */

static uint32_t sum_of(const uint8_t *bytes, size_t n)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < 8 * n; i++) {
        sum ^= (uint32_t)(bytes[i / 8] >> (i % 8) & 1);
        sum = sum >> 1 ^ ((sum & 1) != 0 ? UINT32_C(0xedb88320) : 0);
    }
    return ~sum;
}

static void store_big(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

struct claim {
    uint32_t width, height;
    uint8_t  bits, colour;
};

/* A valid header with these claims, in a file of `size` bytes. */
static fby_err claimed(struct claim claim, size_t size, bool mask,
    struct fby_picture_head *head, struct fby_error_detail *why)
{
    static const uint8_t start[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
        0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    uint8_t             *bytes   = calloc(1, size);
    memcpy(bytes, start, sizeof(start));
    store_big(bytes + 16, claim.width);
    store_big(bytes + 20, claim.height);
    bytes[24] = claim.bits;
    bytes[25] = claim.colour;
    store_big(bytes + 29, sum_of(bytes + 12, 17));
    struct fby_picture_file           file = {bytes, size};
    const struct fby_picture_decoder *png =
        mask ? &fby_png_mask : &fby_png_picture;
    fby_err err = png->head(&file, head, why);
    free(bytes);
    return err;
}

static void refuses_claim(
    struct claim claim, size_t size, bool mask, const char *words)
{
    struct fby_picture_head head;
    struct fby_error_detail why = {{0}};
    assert_int_equal(claimed(claim, size, mask, &head, &why), FBY_BAD_SAMPLE);
    assert_says(&why, words);
}

static void a_small_file_claims_no_large_picture(void **state)
{
    (void)state;
    const uint32_t          side = FBY_PNG_MAX_PIXELS_PER_BYTE;
    struct fby_picture_head head;
    assert_ok(
        claimed((struct claim){side, 100, 8, 0}, 100, false, &head, NULL));
    refuses_claim((struct claim){side, 101, 8, 0}, 100, false,
        "in 100 bytes, more than a PNG of this size can hold");
    assert_ok(
        claimed((struct claim){8192, 8192, 8, 0}, 1 << 20, false, &head, NULL));
    refuses_claim((struct claim){8193, 8192, 8, 0}, 1 << 20, false,
        "PNG claims 8193 x 8192 pixels; at most 67108864 are decoded");
    assert_ok(
        claimed((struct claim){1, FBY_MAX_SIDE, 8, 0}, 70, true, &head, NULL));
    refuses_claim((struct claim){1, 70000, 8, 0}, 1 << 20, true,
        "PNG claims 1 x 70000 pixels; a picture has at most 65535 a side: make "
        "it smaller");
    refuses_claim((struct claim){70000, 1, 8, 0}, 1 << 20, false,
        "PNG claims 70000 x 1 pixels; a picture has at most 65535 a side: make "
        "it smaller");
}

/* The grey probe with a text chunk of `n` bytes after its header. */
static struct fby_buffer with_text(uint32_t n)
{
    static const uint8_t    type[] = {'t', 'E', 'X', 't', 'k'};
    struct fby_picture_file file   = probe(WIDTH, HEIGHT);
    struct fby_buffer       out    = {0};
    uint8_t                *chunk  = calloc(1, (size_t)n + 12);
    store_big(chunk, n);
    memcpy(chunk + 4, type, sizeof(type));
    store_big(chunk + 8 + n, sum_of(chunk + 4, (size_t)n + 4));
    fby_put_bytes(&out, file.bytes, 33);
    fby_put_bytes(&out, chunk, (size_t)n + 12);
    fby_put_bytes(&out, file.bytes + 33, file.size - 33);
    free(chunk);
    return out;
}

static void chunks_beside_the_pixels_are_bounded(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {20, FBY_PNG_MAX_CHUNK_BYTES + 1000};
    for (size_t i = 0; i < 2; i++) {
        struct fby_buffer       file  = with_text(sizes[i]);
        struct fby_picture_file png   = {file.data, file.size};
        struct fby_scratch      all   = {0};
        struct fby_image        image = {0};
        struct fby_error_detail why   = {{0}};
        assert_int_equal(
            fby_picture_decode(&fby_png_picture, &png, &all, &image, &why),
            i == 0 ? FBY_OK : FBY_BAD_SAMPLE);
        assert_string_equal(why.text,
            i == 0 ? "" : "PNG has ancillary chunks of more than 4 MiB");
        fby_scratch_fini(&all);
        fby_buffer_fini(&file);
    }
}

static void masks_without_ids_are_refused_by_name(void **state)
{
    (void)state;
    refuses_claim((struct claim){9, 9, 16, 0}, 99, true, "16 bits a channel");
    refuses_claim((struct claim){9, 9, 8, 4}, 99, true, "an alpha channel");
    refuses_claim((struct claim){9, 9, 8, 6}, 99, true, "an alpha channel");
    refuses_claim((struct claim){9, 9, 8, 2}, 99, true,
        "three channels: colours are not ids; a mask is grey");
    struct fby_picture_head head;
    assert_ok(claimed((struct claim){9, 7, 8, 6}, 99, false, &head, NULL));
    assert_ok(claimed((struct claim){9, 7, 16, 0}, 99, false, &head, NULL));
    assert_int_equal(
        head.library_bytes, (160 << 10) + FBY_PNG_MAX_CHUNK_BYTES + 9 * 4 * 8);
    assert_ok(claimed((struct claim){9, 7, 8, 2}, 99, false, &head, NULL));
    assert_ok(claimed((struct claim){9, 7, 8, 3}, 99, true, &head, NULL));
    assert_ok(claimed((struct claim){9, 7, 1, 0}, 99, true, &head, NULL));
    refuses_claim((struct claim){0, 9, 8, 0}, 99, false, "PNG: ");
    refuses_claim((struct claim){9, 9, 3, 0}, 99, false, "PNG: ");
}

/* One row, or all rows if a part cannot be decoded alone, and 64 readable bytes
 * after each. */
static void the_memory_of_decoding_is_known_before_it(void **state)
{
    (void)state;
    const struct fby_picture_part part = {{1, 2, 3, 4}, 1, false};
    for (int mask = 0; mask < 2; mask++) {
        const struct fby_picture_decoder *png =
            mask ? &fby_png_mask : &fby_png_picture;
        uint64_t                channels = mask ? 1 : FBY_RGB;
        struct fby_picture_head head     = {0};
        struct claim            claim    = {50, 40, 8, 0};
        assert_ok(claimed(claim, 99, mask == 1, &head, NULL));
        assert_int_equal(head.width, 50);
        assert_int_equal(head.height, 40);
        assert_int_equal(head.orientation, 1);
        assert_int_equal(head.channels, channels);
        assert_false(head.is_scalable || head.needs_whole || head.is_ycbcr);
        assert_int_equal(head.library_bytes,
            (160 << 10) + FBY_PNG_MAX_CHUNK_BYTES + 50 * 4 * 4);
        struct fby_picture_need need = png->need(&head, &part);
        assert_int_equal(need.scratch[0], 50 * channels + 64);
        assert_int_equal(need.scratch[1], 64);
        head.needs_whole = true;
        need             = png->need(&head, &part);
        assert_int_equal(need.scratch[0], 50 * channels + 64);
        assert_int_equal(need.scratch[1], 2000 * channels + 64);
        struct fby_picture_region region = png->region(&head, &part);
        assert_int_equal(region.width, 3);
        assert_int_equal(region.height, 4);
        assert_int_equal(region.offset_x + region.offset_y, 0);
    }
}

static void memory_is_reserved_before_it_is_taken(void **state)
{
    (void)state;
    uint8_t                     pixels[SIDE * SIDE * FBY_RGB];
    struct fby_transform_limits limits = {
        4096, fby_shared_quota_create(1 << 20)};
    struct fby_transform    *small = fby_transform_create(&limits);
    struct fby_field_content field = field_of(FBY_DECODE_RGB8);
    struct fby_field_job     job   = job_of(&field, probe(WIDTH, HEIGHT));
    struct fby_error_detail  why   = {{0}};
    assert_int_equal(fby_field_write(small, &job, pixels, &why), FBY_FULL);
    assert_non_null(strstr(why.text, "--memory"));
    assert_int_equal(small->decoded[0].size_bytes, 0);
    fby_transform_destroy(&small);
    fby_shared_quota_destroy(&limits.quota);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crop_of_a_png_is_that_part_of_it),
        cmocka_unit_test(a_mask_takes_its_image_s_draw_and_keeps_its_ids),
        cmocka_unit_test(a_scaled_mask_has_no_id_that_was_not_there),
        cmocka_unit_test(a_png_is_taken_where_from_names_one),
        cmocka_unit_test(a_stack_has_a_bit_for_each_mask_that_is_not_0),
        cmocka_unit_test(the_bits_of_a_stack_are_in_the_order_of_its_files),
        cmocka_unit_test(masks_of_a_stack_have_one_size),
        cmocka_unit_test(a_file_that_is_cut_before_its_last_pixel_is_refused),
        cmocka_unit_test(a_damaged_byte_is_refused),
        cmocka_unit_test(a_small_file_claims_no_large_picture),
        cmocka_unit_test(chunks_beside_the_pixels_are_bounded),
        cmocka_unit_test(masks_without_ids_are_refused_by_name),
        cmocka_unit_test(the_memory_of_decoding_is_known_before_it),
        cmocka_unit_test(memory_is_reserved_before_it_is_taken),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.png", tests, open_transform, close_transform);
}
