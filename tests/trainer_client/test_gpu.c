/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that ends on a GPU: the same values as on the host, in every coding
 * of chunks, and with any number of batches held. The GPU is the fake one here,
 * and a real one in tests/gpu. */
#include "tests/trainer_client/rig.h"

#include "pipeline/types.h"
#include "tests/trainer_client/fake_cuda.h"

enum { STEPS = 10, TENSORS = 10 };

/* A tensor as the consumer's kernel finds it. */
struct found {
    const uint8_t *from;
    size_t         size;
    uint8_t       *bytes;
};

struct stream {
    const char           *fields; /* of the pipeline; NULL: the rig's own */
    const char           *device;
    const char           *last;
    uint32_t              size;
    struct fake_behaviour worker;
    bool                  checked; /* digests of what was decoded */
    bool                  fixed;
    bool                  given;     /* each batch gets memory of its own */
    bool                  no_pool;   /* the device has none */
    bool                  last_rank; /* of as many as a batch has rows */
    bool                  damaged;   /* and all of it is noticed */
    uint32_t              hold;      /* batches at a time */
    uint32_t              window;    /* requests under way; 0: as they fit */
    struct found          found[STEPS][TENSORS];
    uint32_t              n_tensors;
};

static size_t bytes_of(const DLTensor *tensor)
{
    size_t n = tensor->dtype.bits / 8;
    for (int32_t i = 0; i < tensor->ndim; i++) {
        n *= (size_t)tensor->shape[i];
    }
    return n;
}

/* Its tensors are written over afterwards: each batch brings all its values. */
static void consume(struct stream *s, const struct forebay_batch *batch)
{
    bool gpu     = strcmp(s->device, "host") != 0;
    s->n_tensors = forebay_batch_n_fields(batch);
    for (uint32_t i = 0; i < s->n_tensors; i++) {
        const DLTensor *tensor = forebay_batch_tensor(batch, i);
        struct found   *found  = &s->found[forebay_batch_step(batch) +
                                        5 * forebay_batch_epoch(batch)][i];
        found->from            = tensor->data;
        found->size            = bytes_of(tensor);
        found->bytes           = malloc(found->size);
        assert_int_equal(tensor->device.device_type, gpu ? kDLCUDA : kDLCPU);
        if (gpu) {
            fake_cuda_read(NULL, found->bytes, found->from, found->size);
            fake_cuda_fill(NULL, tensor->data, found->size);
        } else {
            memcpy(found->bytes, found->from, found->size);
            memset(tensor->data, 0xdb, found->size);
        }
    }
}

static void open_stream(struct rig *rig, struct stream *s)
{
    static const struct forebay_output output = {
        .struct_size = sizeof(output),
        .field       = "image",
        .dtype       = FOREBAY_DTYPE_U16,
        .layout      = FOREBAY_LAYOUT_CHW,
    };
    fake_cuda_begin(s->size);
    fake_cuda_fail(s->no_pool ? "cudaMemPoolCreate" : NULL);
    if (s->window > 0) {
        fake_cuda_hurry();
    }
    rig_begin(rig, s->size, s->last);
    if (s->fields != NULL) { /* the rest of the text, from its first key on */
        char *from = strstr(rig->text,
            strncmp(s->fields, "splits", 6) == 0 ? "splits:" : "fields:");
        snprintf(from, sizeof(rig->text) - (size_t)(from - rig->text), "%s",
            s->fields);
    }
    rig->options.device         = s->device;
    rig->options.digests        = s->checked;
    rig->options.verify_decoded = s->checked;
    rig->options.fixed_outputs  = s->fixed;
    rig->options.caller_memory  = s->given;
    rig->options.window_batches = s->window;
    rig->options.steps          = s->damaged ? STEPS : 0;
    rig->options.job            = s->last_rank ? "job" : NULL;
    rig->options.world          = s->last_rank ? RIG_BATCH : 1;
    rig->options.rank           = s->last_rank ? RIG_BATCH - 1 : 0;
    rig->options.outputs        = &output;
    rig->options.n_outputs      = s->fields == NULL ? 1 : 0;
    rig_add(rig, s->worker);
    rig_open(rig);
}

static void assert_all_noticed(struct rig *rig)
{
    rig_assert_next(rig, FOREBAY_END); /* nothing is under way any more */
    struct forebay_stats stats   = rig_stats(rig);
    uint32_t             effects = fake_worker_effects(rig->workers[0]);
    assert_true(effects >= 4);
    assert_int_equal(stats.checksum_failures + stats.protocol_errors, effects);
    assert_int_equal(stats.rerequests, effects);
}

/* Take the next batch, in *memory of the consumer's own with s->given. */
static struct forebay_batch *next_of(
    struct rig *rig, const struct stream *s, void **memory)
{
    struct forebay_info   info  = {.struct_size = sizeof(info)};
    struct forebay_batch *batch = NULL;
    *memory                     = NULL;
    if (!s->given) {
        return rig_next(rig);
    }
    assert_int_equal(forebay_info(rig->stream, &info), FOREBAY_OK);
    *memory = fake_cuda_take(NULL, info.batch_bytes);
    assert_int_equal(
        forebay_next_into(rig->stream, RIG_PATIENCE, NULL, *memory, &batch),
        FOREBAY_OK);
    return batch;
}

static void run(struct stream *s)
{
    struct rig            rig;
    struct forebay_batch *held[16];
    void                 *memory = NULL;
    uint32_t              n      = 0;
    open_stream(&rig, s);
    for (uint32_t i = 0; i < STEPS; i++) {
        if (n == s->hold) {
            forebay_release(&held[0], NULL);
            n--;
            memmove(held, held + 1, n * sizeof(struct forebay_batch *));
        }
        held[n] = next_of(&rig, s, &memory);
        consume(s, held[n++]);
        if (memory != NULL) {
            fake_cuda_give(NULL, memory);
        }
    }
    while (n > 0) {
        forebay_release(&held[--n], NULL);
    }
    if (s->damaged) {
        assert_all_noticed(&rig);
    }
    rig_end(&rig);
    fake_cuda_end();
    assert_int_equal(fake_cuda_counts().live, 0);
}

/* Run the same stream on the host, without damage, and keep its values. */
static struct stream run_on_host(const struct stream *gpu)
{
    struct stream host = *gpu;
    host.device        = "host";
    host.fixed         = false;
    host.given         = false;
    host.damaged       = false;
    host.worker        = (struct fake_behaviour){
               .filter = gpu->worker.filter, .codec = gpu->worker.codec};
    run(&host);
    return host;
}

static void assert_same_as_host(struct stream *gpu, const struct stream *host)
{
    run(gpu);
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < gpu->n_tensors; i++) {
            const struct found *a = &host->found[step][i];
            struct found       *b = &gpu->found[step][i];
            assert_int_equal(a->size, b->size);
            assert_memory_equal(a->bytes, b->bytes, a->size);
            free(b->bytes);
        }
    }
}

static void free_values(struct stream *s)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < s->n_tensors; i++) {
            free(s->found[step][i].bytes);
        }
    }
}

static void compare(struct stream *gpu)
{
    struct stream host = run_on_host(gpu);
    assert_same_as_host(gpu, &host);
    free_values(&host);
}

static struct stream stream(uint32_t size, uint8_t filter, uint8_t codec)
{
    return (struct stream){
        .device = "cuda",
        .last   = "pad",
        .size   = size,
        .worker = {.filter = filter, .codec = codec},
        .hold   = 1,
    };
}

static void batches_are_as_on_the_host_in_every_coding(void **state)
{
    (void)state;
    static const uint8_t codings[3][2] = {{FBY_FILTER_NONE, FBY_CODEC_STORE},
        {FBY_FILTER_BYTE_SHUFFLE, FBY_CODEC_LZ4},
        {FBY_FILTER_PHOTO, FBY_CODEC_PACK}};
    for (uint32_t i = 0; i < 3; i++) {
        struct stream s = stream(20, codings[i][0], codings[i][1]);
        compare(&s);
    }
}

static void batches_of_several_chunks_are_as_on_the_host(void **state)
{
    (void)state;
    struct stream s = stream(190, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    compare(&s);
}

/* Large and small chunks, decoded first and as they came. */
static void no_damaged_chunk_reaches_the_gpu(void **state)
{
    (void)state;
    static const uint8_t codings[3][2] = {{FBY_FILTER_NONE, FBY_CODEC_STORE},
        {FBY_FILTER_BYTE_SHUFFLE, FBY_CODEC_LZ4},
        {FBY_FILTER_PHOTO, FBY_CODEC_PACK}};
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t cut = 0; cut < 2; cut++) {
            struct stream s =
                stream(i < 3 ? 20 : 8, codings[i % 3][0], codings[i % 3][1]);
            s.damaged              = true;
            s.worker.corrupt_every = cut == 0 ? 5 : 0;
            s.worker.cut_every     = cut == 0 ? 0 : 5;
            compare(&s);
        }
    }
}

static void batches_digested_on_the_host_are_the_same(void **state)
{
    (void)state;
    struct stream s = stream(30, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    s.checked       = true;
    compare(&s);
}

/* ---- Other kinds --------------------------------------------------------- */

enum { WAYS = 5 };

/* One of these ways: as it comes, digested first, with fixed outputs, stored
 * as it is, in memory of the caller. */
static struct stream stream_in_way(
    const char *fields, uint32_t size, uint32_t way)
{
    struct stream s = stream(size, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    s.fields        = fields;
    s.checked       = way == 1;
    s.fixed         = way == 2;
    s.given         = way == 4;
    s.window        = 1 + way % 2; /* arenas held batches before */
    if (way == 3) {
        s.worker.filter = FBY_FILTER_NONE;
        s.worker.codec  = FBY_CODEC_STORE;
    }
    return s;
}

/* In all ways; under ThreadSanitizer, which is 20 times slower and looks for
 * races alone, in one, and each call takes the next. */
static void compare_all_ways(const char *fields, uint32_t size)
{
#if defined(__SANITIZE_THREAD__)
    enum { TRIED = 1 };
#else
    enum { TRIED = WAYS };
#endif
    static uint32_t n_tried;
    struct stream   first = stream_in_way(fields, size, 0);
    struct stream   host  = run_on_host(&first);
    for (uint32_t i = 0; i < TRIED; i++) {
        struct stream s = stream_in_way(fields, size, n_tried++ % WAYS);
        assert_same_as_host(&s, &host);
    }
    free_values(&host);
}

static void pictures_in_planes_are_as_on_the_host(void **state)
{
    (void)state;
    compare_all_ways("fields:\n"
                     "  image:\n"
                     "    from: jpg\n"
                     "    ops: [random_resized_crop: {size: [45, 299]}]\n"
                     "    wire: yuv420\n"
                     "    device: [normalize: {mean: 0.5, std: 0.25}]\n"
                     "    out: {dtype: bf16, layout: chw}\n",
        45);
}

static void ops_of_the_device_are_as_on_the_host(void **state)
{
    (void)state;
    compare_all_ways(
        "fields:\n"
        "  image:\n"
        "    from: jpg\n"
        "    ops: [random_crop: {size: [45, 299]}]\n"
        "    device:\n"
        "      - horizontal_flip\n"
        "      - colour_jitter: {brightness: 0.4, contrast: [0.5, 2],\n"
        "                        hue: 0.1}\n"
        "      - normalize: {mean: 0.5, std: 0.25}\n"
        "      - random_erasing: {p: 0.25, value: [-1, 0, 2]}\n"
        "      - mixup: {alpha: 0.2, label: label}\n"
        "    out: {dtype: bf16, layout: chw}\n"
        "  label: {from: cls, classes: 10, one_hot: {smoothing: 0.1}}\n"
        "  other:\n"
        "    from: jpg\n"
        "    ops: [random_crop: {size: [45, 70]}]\n"
        "    device: [horizontal_flip, vertical_flip]\n",
        48);
}

static void ops_of_planes_are_as_on_the_host(void **state)
{
    (void)state;
    compare_all_ways(
        "fields:\n"
        "  image:\n"
        "    from: jpg\n"
        "    ops: [random_crop: {size: [45, 299]}]\n"
        "    wire: yuv420\n"
        "    device:\n"
        "      - horizontal_flip\n"
        "      - colour_jitter: {contrast: [0.5, 2], saturation: 0.5}\n"
        "      - random_erasing: {p: 0.25, value: 0.5}\n"
        "      - cutmix: {label: label}\n"
        "    out: {dtype: f16, layout: chw}\n"
        "  label: {from: cls, classes: 10, one_hot: {}}\n"
        "  other:\n"
        "    from: jpg\n"
        "    ops: [random_crop: {size: [66, 71]}]\n"
        "    wire: yuv420\n"
        "    device: [horizontal_flip, vertical_flip]\n",
        51);
}

static void pictures_with_ops_of_their_own_are_as_on_the_host(void **state)
{
    (void)state;
    compare_all_ways("fields:\n"
                     "  first:\n"
                     "    from: jpg\n"
                     "    ops: [random_crop: {size: [16, 24]}]\n"
                     "    device: [random_erasing: {p: 0.5, value: 0.5}]\n"
                     "  second:\n"
                     "    from: png\n"
                     "    ops: [random_crop: {size: [20, 24]}]\n"
                     "    device: [colour_jitter: {contrast: [0.5, 2]},\n"
                     "             mixup: {label: label}]\n"
                     "    out: {dtype: f32}\n"
                     "  label: {from: cls, classes: 10, one_hot: {}}\n"
                     "  third:\n"
                     "    from: jpeg\n"
                     "    ops: [random_crop: {size: [16, 16]}]\n"
                     "    device: [colour_jitter: {brightness: 0.5}]\n",
        54);
}

static void arrays_scaled_by_channel_are_as_on_the_host(void **state)
{
    (void)state;
    compare_all_ways(
        "fields:\n"
        "  dense: {from: npy, decode: array, shape: [67, 5], wire: u16,\n"
        "          out: {dtype: bf16, scale: [1, 2, 0.5, -3, 0.1],\n"
        "                offset: [0, 1, 2, 3, 4]}}\n"
        "  bands: {from: a.npy, decode: array, shape: [31, 17, 6], wire: u8,\n"
        "          out: {layout: chw, scale: [1, 2, 3, 4, 5, 6]}}\n"
        "  few: {from: b.npy, decode: array, shape: [12, 4], wire: i32,\n"
        "        out: {offset: [1, 2, 3, 4]}}\n",
        52);
}

static const char *const ragged =
    "fields:\n"
    "  ids: {from: npy, decode: array, shape: [], max_length: 30,\n"
    "        too_long: truncate, wire: i32,\n"
    "        out: {as: ragged, dtype: i64}}\n"
    "  same: {from: a.npy, decode: array, shape: [], max_length: 300,\n"
    "        too_long: truncate, wire: u16, out: {as: ragged}}\n"
    "  longest: {from: b.npy, decode: array, shape: [3], max_length: 9,\n"
    "        too_long: truncate, wire: f32,\n"
    "        out: {as: padded, to: longest, dtype: bf16, pad: -1}}\n"
    "  words: {from: txt, decode: text, max_length: 64,\n"
    "        too_long: refuse}\n";

static void rows_of_several_lengths_are_as_on_the_host(void **state)
{
    (void)state;
    compare_all_ways(ragged, 46);
}

static const char *const sparse =
    "fields:\n"
    "  dense: {from: a.npz, decode: sparse, shape: [50, 60], max_length: 30,\n"
    "        wire: f32, out: {as: dense, dtype: bf16}}\n"
    "  csr: {from: b.npz, decode: sparse, shape: [70000], max_length: 300,\n"
    "        wire: i32, out: {as: csr, dtype: i64}}\n"
    "  coo: {from: c.npz, decode: sparse, shape: [3, 4, 50], max_length: 90,\n"
    "        wire: u16, out: {as: coo}}\n";

static void sparse_rows_are_as_on_the_host(void **state)
{
    (void)state;
    compare_all_ways(sparse, 49);
}

static const char *const packed =
    "splits: {train: {tokens: {files: \"c4:*.bin\", format: flat, type: u16,\n"
    "  length: 500, shift: 1, pack: documents, end: 7}, last: pad}}\n"
    "global_batch: 24\n"
    "fields:\n"
    "  input: {from: input}\n"
    "  starts: {from: documents, out: {as: cu_seqlens}}\n"
    "  at: {from: documents, out: {as: positions, dtype: i64}}\n"
    "  counts: {from: documents, out: {as: mask, dtype: f16}}\n"
    "  lengths: {from: documents, out: {as: ragged, dtype: i32}}\n";

static void documents_are_as_on_the_host(void **state)
{
    (void)state;
    compare_all_ways(packed, 50);
}

/* Without padding; one of a hundred samples is one of tokens. */
static const char *const packed_short =
    "splits: {train: {tokens: {files: \"c4:*.bin\", format: flat, type: u16,\n"
    "  length: 50, shift: 1, pack: documents, end: 7}, last: short}}\n"
    "global_batch: 24\n"
    "fields:\n"
    "  input: {from: input}\n"
    "  starts: {from: documents, out: {as: cu_seqlens}}\n"
    "  at: {from: documents, out: {as: positions, dtype: i64}}\n"
    "  counts: {from: documents, out: {as: mask, dtype: f16}}\n"
    "  lengths: {from: documents, out: {as: ragged, dtype: i32}}\n";

static const char *const pictures =
    "fields:\n"
    "  image:\n"
    "    from: jpg\n"
    "    ops: [random_crop: {size: [45, 99]}]\n"
    "    device: [horizontal_flip, {colour_jitter: {contrast: [0.5, 2]}}]\n"
    "    out: {dtype: bf16, layout: chw}\n"
    "  label: {from: cls, classes: 10, one_hot: {smoothing: 0.1}}\n"
    "  bands: {from: a.npy, decode: array, shape: [31, 17, 6], wire: u8,\n"
    "          out: {layout: chw, scale: [1, 2, 3, 4, 5, 6]}}\n";

static const char *const ids =
    "fields:\n"
    "  label: {from: cls, classes: 10, one_hot: {}}\n";

static const char *const plain_ids = /* i64, so they are cast */
    "fields:\n"
    "  label: {from: cls, classes: 10}\n";

static const char *const bytes_as_ids = /* u8 as on the wire */
    "fields:\n"
    "  label: {from: cls, classes: 10, out: {dtype: u8}}\n";

static const char *const mixed =
    "fields:\n"
    "  image:\n"
    "    from: jpg\n"
    "    ops: [random_crop: {size: [16, 16]}]\n"
    "    device: [mixup: {label: label}]\n"
    "    out: {dtype: f32}\n"
    "  label: {from: cls, classes: 10, one_hot: {}}\n";

/* Every fifth batch has rows for the first four ranks only, and lies where
 * others lay before it. */
static void batches_without_rows_are_as_on_the_host(void **state)
{
    (void)state;
    static const char *const fields[] = {ragged, sparse, packed_short};
    for (uint32_t i = 0; i < 6; i++) {
        struct stream s = stream(47, FBY_FILTER_NONE, FBY_CODEC_STORE);
        s.fields        = fields[i / 2];
        s.checked       = i % 2 == 1;
        s.last          = "short";
        s.last_rank     = true;
        s.window        = 1;
        compare(&s);
        assert_int_equal(s.found[4][0].size, 0);
    }
}

/* Every fifth batch has four rows. */
static void short_batches_are_as_on_the_host(void **state)
{
    (void)state;
    static const char *const fields[] = {
        ragged, sparse, packed_short, pictures, NULL};
    for (uint32_t i = 0; i < 10; i++) {
        struct stream s = stream(23, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
        s.fields        = fields[i / 2];
        s.checked       = i % 2 == 1;
        s.last          = "short";
        s.window        = 1;
        compare(&s);
        assert_true(5 * s.found[4][0].size < 2 * s.found[3][0].size);
    }
}

/* ---- Impossible labels --------------------------------------------------- */

/* As it comes, seen by the host first, mixed. */
static void impossible_labels_fail_by_name(void **state)
{
    (void)state;
    const struct {
        const char *fields;
        bool        checked;
    } cases[] = {{ids, false}, {ids, true}, {mixed, false}, {plain_ids, false},
        {plain_ids, true}, {bytes_as_ids, false}, {bytes_as_ids, true}};
    for (uint32_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig    rig;
        struct stream s    = stream(16, FBY_FILTER_NONE, FBY_CODEC_STORE);
        s.device           = i % 2 == 0 ? "cuda" : "host";
        s.fields           = cases[i / 2].fields;
        s.checked          = cases[i / 2].checked;
        s.worker.wrong_row = RIG_BATCH;
        open_stream(&rig, &s);
        const char *error = rig_assert_next(&rig, FOREBAY_DATA);
        if (strstr(error, "field label: label 2") == NULL ||
            strstr(error, " is not one of 0 to 9") == NULL) {
            fail_msg("%s", error);
        }
        rig_end(&rig);
        fake_cuda_end();
        assert_int_equal(fake_cuda_counts().live, 0);
    }
}

static void more_batches_can_be_held_than_there_are_slots(void **state)
{
    (void)state;
    struct stream s = stream(24, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    s.hold          = 9;
    compare(&s);
}

static void without_a_pool_as_many_can_be_held(void **state)
{
    (void)state;
    struct stream s = stream(24, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    s.hold          = 9;
    s.no_pool       = true;
    compare(&s);
}

/* An allocator that looks at the stream it allocates for. */
struct heap {
    struct forebay *stream; /* once it is open */
    uint32_t        left;   /* tensors that there is memory for */
    uint32_t        live;
    uint64_t        held; /* as the stream said */
};

static void *heap_allocate(
    void *arg, size_t bytes, int32_t device, void *stream)
{
    struct heap         *heap  = arg;
    struct forebay_stats stats = {.struct_size = sizeof(stats)};
    (void)device;
    if (heap->stream != NULL) {
        (void)forebay_stats(heap->stream, &stats);
        heap->held = stats.batches_held;
    }
    if (heap->left == 0) {
        return NULL;
    }
    heap->left--;
    heap->live++;
    return fake_cuda_take(stream, bytes);
}

static void heap_free(void *arg, void *memory, void *stream)
{
    struct heap *heap = arg;
    heap->live--;
    fake_cuda_give(stream, memory);
}

static void an_allocator_may_ask_the_stream_and_may_have_no_more(void **state)
{
    (void)state;
    struct rig            rig;
    struct heap           heap = {.left = 6};
    struct forebay_batch *held[7];
    struct stream         s = stream(24, FBY_FILTER_NONE, FBY_CODEC_STORE);
    fake_cuda_begin(1);
    rig_begin(&rig, s.size, "drop");
    rig.options.device       = "cuda";
    rig.options.allocate     = heap_allocate;
    rig.options.deallocate   = heap_free;
    rig.options.allocate_arg = &heap;
    rig_add(&rig, s.worker);
    rig_open(&rig);
    heap.stream = rig.stream;
    for (uint32_t i = 0; i < 6; i++) {
        held[i] = rig_next(&rig);
    }
    assert_true(heap.held >= 4);
    assert_int_equal(
        forebay_next(rig.stream, -1, NULL, &held[6]), FOREBAY_FULL);
    assert_non_null(strstr(forebay_error(rig.stream), "no memory for another"));
    forebay_release(&held[0], NULL);
    held[0] = rig_next(&rig);
    for (uint32_t i = 0; i < 6; i++) {
        forebay_release(&held[i], NULL);
    }
    heap.stream = NULL;
    rig_end(&rig);
    fake_cuda_end();
    assert_int_equal(heap.live, 0);
}

static void fixed_outputs_have_one_address(void **state)
{
    (void)state;
    struct stream s = stream(24, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    s.fixed         = true;
    compare(&s);
    for (uint32_t step = 1; step < STEPS; step++) {
        assert_ptr_equal(s.found[step][0].from, s.found[0][0].from);
    }
}

static void batches_in_memory_of_the_caller_are_as_on_the_host(void **state)
{
    (void)state;
    for (uint32_t hold = 1; hold < 8; hold += 3) {
        struct stream s = stream(24, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
        s.given         = true;
        s.hold          = hold;
        compare(&s);
    }
}

/* The memory is the consumer's, so the values stay after release and close. */
static void memory_of_the_caller_outlives_the_stream(void **state)
{
    (void)state;
    struct rig    rig;
    struct stream s      = stream(20, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    void         *memory = NULL;
    uint8_t       before[20];
    uint8_t       after[20];
    s.given = true;
    open_stream(&rig, &s);
    struct forebay_batch *batch = next_of(&rig, &s, &memory);
    const void           *data  = forebay_batch_tensor(batch, 0)->data;
    assert_ptr_equal(data, memory);
    fake_cuda_read(NULL, before, data, sizeof(before));
    forebay_release(&batch, NULL);
    for (uint32_t i = 0; i < 6; i++) {
        void *other = NULL;
        batch       = next_of(&rig, &s, &other);
        forebay_release(&batch, NULL);
        fake_cuda_give(NULL, other);
    }
    rig_end(&rig);
    fake_cuda_read(NULL, after, memory, sizeof(after));
    fake_cuda_give(NULL, memory);
    fake_cuda_end();
    assert_memory_equal(before, after, sizeof(before));
    assert_int_equal(fake_cuda_counts().live, 0);
}

static void memory_is_given_exactly_if_the_option_says_so(void **state)
{
    (void)state;
    for (int given = 0; given < 2; given++) {
        struct rig            rig;
        struct stream         s = stream(20, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
        struct forebay_batch *batch = NULL;
        uint8_t               memory[1];
        s.given = given == 1;
        open_stream(&rig, &s);
        enum forebay_status status =
            s.given ? forebay_next(rig.stream, 0, NULL, &batch)
                    : forebay_next_into(rig.stream, 0, NULL, memory, &batch);
        assert_int_equal(status, FOREBAY_USAGE);
        assert_non_null(strstr(forebay_error(rig.stream), "caller_memory"));
        assert_int_equal(forebay_next_into(rig.stream, 0, NULL, NULL, &batch),
            FOREBAY_USAGE);
        rig_end(&rig);
        fake_cuda_end();
    }
}

static void memory_of_the_caller_goes_with_no_other_memory(void **state)
{
    (void)state;
    struct rig rig;
    fake_cuda_begin(1);
    rig_begin(&rig, 20, "drop");
    rig.options.device        = "cuda";
    rig.options.caller_memory = true;
    rig.options.fixed_outputs = true;
    assert_int_equal(rig_try_open(&rig), FOREBAY_USAGE);
    assert_non_null(strstr(rig.error, "fixed_outputs"));
    rig_end(&rig);
    fake_cuda_end();
}

/* Batches whose copies have begun are dropped again and again. */
static void seeks_drop_batches_on_their_way_to_the_gpu(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct rig    rig;
        void         *memory = NULL;
        struct stream s      = stream(20, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
        s.fixed              = way == 1;
        s.given              = way == 2;
        open_stream(&rig, &s);
        for (uint64_t i = 0; i < 50; i++) {
            assert_int_equal(
                forebay_seek_step(rig.stream, i, i % 3), FOREBAY_OK);
            if (i % 2 == 0) {
                struct forebay_batch *batch = next_of(&rig, &s, &memory);
                assert_int_equal(forebay_batch_epoch(batch), i);
                assert_int_equal(forebay_batch_step(batch), i % 3);
                forebay_release(&batch, NULL);
                if (memory != NULL) {
                    fake_cuda_give(NULL, memory);
                }
            }
        }
        rig_end(&rig);
        fake_cuda_end();
        assert_int_equal(fake_cuda_counts().live, 0);
    }
}

static void with_fixed_outputs_a_second_batch_is_refused(void **state)
{
    (void)state;
    struct rig    rig;
    struct stream s = stream(24, FBY_FILTER_NONE, FBY_CODEC_STORE);
    s.fixed         = true;
    open_stream(&rig, &s);
    struct forebay_batch *batch = rig_next(&rig);
    assert_non_null(
        strstr(rig_assert_next(&rig, FOREBAY_FULL), "fixed_outputs"));
    forebay_release(&batch, NULL);
    batch = rig_next(&rig);
    forebay_release(&batch, NULL);
    rig_end(&rig);
    fake_cuda_end();
}

static void tensors_outlive_the_stream(void **state)
{
    (void)state;
    struct rig                rig;
    DLManagedTensorVersioned *tensor = NULL;
    struct stream             s = stream(24, FBY_FILTER_NONE, FBY_CODEC_STORE);
    open_stream(&rig, &s);
    struct forebay_batch *batch = rig_next(&rig);
    assert_int_equal(forebay_batch_export(batch, 0, 1, &tensor), FOREBAY_OK);
    assert_int_equal(forebay_batch_await(batch, (void *)2), FOREBAY_OK);
    forebay_release(&batch, NULL);
    rig_end(&rig);
    assert_true(fake_cuda_counts().live > 0);
    tensor->deleter(tensor);
    fake_cuda_end();
    assert_int_equal(fake_cuda_counts().live, 0);
}

static void a_call_that_fails_ends_the_stream_with_its_name(void **state)
{
    (void)state;
    struct rig    rig;
    struct stream s = stream(24, FBY_FILTER_NONE, FBY_CODEC_STORE);
    open_stream(&rig, &s);
    rig_skip(&rig, 1);
    fake_cuda_fail("cudaLaunchKernel");
    struct forebay_batch *batch  = NULL;
    enum forebay_status   status = FOREBAY_OK;
    while (status == FOREBAY_OK) {
        status = forebay_next(rig.stream, RIG_PATIENCE, NULL, &batch);
        forebay_release(&batch, NULL);
    }
    assert_int_equal(status, FOREBAY_SYSTEM);
    assert_non_null(
        strstr(forebay_error(rig.stream), "cudaLaunchKernel failed"));
    fake_cuda_fail(NULL);
    rig_end(&rig);
    fake_cuda_end();
}

static void auto_takes_the_gpu_or_the_host(void **state)
{
    (void)state;
    static const char *const unusable[] = {
        NULL, "cudaFuncGetAttributes", "cudaMalloc"};
    for (size_t i = 0; i < sizeof(unusable) / sizeof(unusable[0]) + 1; i++) {
        struct rig rig;
        int        devices = i < sizeof(unusable) / sizeof(unusable[0]);
        fake_cuda_begin(1);
        fake_cuda_driver(devices > 0 ? 13000 : 0, devices);
        if (devices > 0 && unusable[i] != NULL) {
            fake_cuda_fail(unusable[i]);
        }
        rig_begin(&rig, 16, "drop");
        rig.options.device = "auto";
        rig_add(&rig, (struct fake_behaviour){0});
        rig_open(&rig);
        struct forebay_batch *batch = rig_next(&rig);
        assert_int_equal(forebay_batch_tensor(batch, 0)->device.device_type,
            i == 0 ? kDLCUDA : kDLCPU);
        forebay_release(&batch, NULL);
        rig_end(&rig);
        fake_cuda_end();
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_as_on_the_host_in_every_coding),
        cmocka_unit_test(batches_of_several_chunks_are_as_on_the_host),
        cmocka_unit_test(no_damaged_chunk_reaches_the_gpu),
        cmocka_unit_test(batches_digested_on_the_host_are_the_same),
        cmocka_unit_test(pictures_in_planes_are_as_on_the_host),
        cmocka_unit_test(ops_of_the_device_are_as_on_the_host),
        cmocka_unit_test(ops_of_planes_are_as_on_the_host),
        cmocka_unit_test(pictures_with_ops_of_their_own_are_as_on_the_host),
        cmocka_unit_test(arrays_scaled_by_channel_are_as_on_the_host),
        cmocka_unit_test(rows_of_several_lengths_are_as_on_the_host),
        cmocka_unit_test(sparse_rows_are_as_on_the_host),
        cmocka_unit_test(documents_are_as_on_the_host),
        cmocka_unit_test(batches_without_rows_are_as_on_the_host),
        cmocka_unit_test(short_batches_are_as_on_the_host),
        cmocka_unit_test(impossible_labels_fail_by_name),
        cmocka_unit_test(more_batches_can_be_held_than_there_are_slots),
        cmocka_unit_test(without_a_pool_as_many_can_be_held),
        cmocka_unit_test(an_allocator_may_ask_the_stream_and_may_have_no_more),
        cmocka_unit_test(fixed_outputs_have_one_address),
        cmocka_unit_test(batches_in_memory_of_the_caller_are_as_on_the_host),
        cmocka_unit_test(memory_of_the_caller_outlives_the_stream),
        cmocka_unit_test(memory_is_given_exactly_if_the_option_says_so),
        cmocka_unit_test(memory_of_the_caller_goes_with_no_other_memory),
        cmocka_unit_test(seeks_drop_batches_on_their_way_to_the_gpu),
        cmocka_unit_test(with_fixed_outputs_a_second_batch_is_refused),
        cmocka_unit_test(tensors_outlive_the_stream),
        cmocka_unit_test(a_call_that_fails_ends_the_stream_with_its_name),
        cmocka_unit_test(auto_takes_the_gpu_or_the_host),
    };
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name("trainer_client.gpu", tests, NULL, NULL);
}
