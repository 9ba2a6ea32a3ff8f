/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_way.cu - two ways from pictures to normalised f32 in CHW.
 *
 * Compares Forebay's copy and kernel with PyTorch's usual sequence,
 *     pinned u8 -> device -> permute -> float -> normalise -> contiguous.
 * permute is a view: it moves no values. So float(), sub_() and div_() run over
 * the pixels as they lie in memory, and contiguous() then moves the values. The
 * kernels of this file do this without PyTorch's overhead. If PyTorch is
 * installed, torch_way.py measures it, too. */
#include <cmath>

#include "bench/gpu.h"

enum {
    SIDE     = 224,
    PIXELS   = SIDE * SIDE,
    COPIES   = 4,  /* copies of the input, together larger than the L2 cache */
    LAUNCHES = 20, /* per measured time */
    THREADS  = 256
};

static const uint64_t n_values = uint64_t(GPU_ROWS) * PIXELS * 3;

/* Each thread converts four values. */
__global__ void to_float(const uchar4 *in, float4 *out)
{
    uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    uchar4   v = in[i];
    out[i]     = make_float4(v.x, v.y, v.z, v.w);
}

__global__ void subtract(float *values, const float *mean)
{
    uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    values[i] -= mean[i % 3];
}

__global__ void divide(float *values, const float *std)
{
    uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    values[i] /= std[i % 3];
}

/* Copy interleaved pixels (HWC) to planes (CHW). */
__global__ void contiguous(const float *in, float *out)
{
    uint64_t i       = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    uint64_t image   = i / (3 * PIXELS);
    uint64_t channel = i / PIXELS % 3;
    out[i]           = in[(image * PIXELS + i % PIXELS) * 3 + channel];
}

static_assert(uint64_t(GPU_ROWS) * PIXELS * 3 % (4 * THREADS) == 0,
    "all kernels have full blocks");

struct two_ways {
    struct gpu_batch raw, packed;
    uint8_t         *host_raw, *host_packed; /* pinned */
    uint8_t         *in_raw[COPIES];         /* device memory from here on */
    uint8_t         *in_packed;
    float           *interleaved; /* PyTorch's values before contiguous() */
    float           *torch_out, *forebay_out;
    float           *mean, *std; /* of each channel, for pixels of 0 to 255 */
};

static uint8_t *copy_to_pinned(const struct gpu_batch *batch)
{
    uint8_t *host = nullptr;
    CHECK(cudaMallocHost(&host, batch->bytes));
    std::copy_n(batch->arena, batch->bytes, host);
    return host;
}

/* Upload a value of each channel, scaled to pixels of 0 to 255. */
static float *upload_channels(double r, double g, double b)
{
    const float values[3] = {static_cast<float>(r * 255),
        static_cast<float>(g * 255), static_cast<float>(b * 255)};
    float      *device    = nullptr;
    CHECK(cudaMalloc(&device, sizeof(values)));
    CHECK(cudaMemcpy(device, values, sizeof(values), cudaMemcpyHostToDevice));
    return device;
}

static void make_buffers(struct two_ways *self)
{
    *self             = {};
    self->raw         = gpu_batch_make(GPU_U8_F32, GPU_ROWS);
    self->packed      = gpu_batch_make(GPU_PACKED_F32, GPU_ROWS);
    self->host_raw    = copy_to_pinned(&self->raw);
    self->host_packed = copy_to_pinned(&self->packed);
    for (int i = 0; i < COPIES; i++) {
        self->in_raw[i] = gpu_upload(&self->raw);
    }
    self->in_packed = gpu_upload(&self->packed);
    CHECK(cudaMalloc(&self->interleaved, n_values * sizeof(float)));
    CHECK(cudaMalloc(&self->torch_out, n_values * sizeof(float)));
    CHECK(cudaMalloc(&self->forebay_out, self->raw.out_bytes));
    self->mean = upload_channels(0.485, 0.456, 0.406);
    self->std  = upload_channels(0.229, 0.224, 0.225);
}

static void free_buffers(struct two_ways *self)
{
    CHECK(cudaFreeHost(self->host_raw));
    CHECK(cudaFreeHost(self->host_packed));
    for (int i = 0; i < COPIES; i++) {
        CHECK(cudaFree(self->in_raw[i]));
    }
    void *const other_memory[] = {self->in_packed, self->interleaved,
        self->torch_out, self->forebay_out, self->mean, self->std};
    for (void *memory : other_memory) {
        CHECK(cudaFree(memory));
    }
    gpu_batch_free(&self->raw);
    gpu_batch_free(&self->packed);
}

static void torch_kernels(const struct two_ways *self, const uint8_t *in)
{
    const uint32_t blocks = static_cast<uint32_t>(n_values / THREADS);
    to_float<<<blocks / 4, THREADS>>>(reinterpret_cast<const uchar4 *>(in),
        reinterpret_cast<float4 *>(self->interleaved));
    subtract<<<blocks, THREADS>>>(self->interleaved, self->mean);
    divide<<<blocks, THREADS>>>(self->interleaved, self->std);
    contiguous<<<blocks, THREADS>>>(self->interleaved, self->torch_out);
    CHECK(cudaGetLastError());
}

enum variant {
    TORCH_KERNELS, /* PyTorch's kernels on raw pixels */
    OUR_KERNELS,   /* Forebay's kernel on raw pixels */
    TORCH_BATCH,   /* a copy of raw pixels to the GPU, then PyTorch's kernels */
    OUR_BATCH, /* a copy of packed pixels to the GPU, then Forebay's kernel */
    VARIANTS   /* number of variants */
};

/* Run a variant once; run `i` uses copy i % COPIES of the raw input. */
static void run_once(const struct two_ways *self, enum variant variant, int i)
{
    uint8_t *in = self->in_raw[i % COPIES];
    switch (variant) {
    case TORCH_KERNELS:
        torch_kernels(self, in);
        break;
    case OUR_KERNELS:
        gpu_launch(&self->raw, in, self->forebay_out, nullptr);
        break;
    case TORCH_BATCH:
        CHECK(cudaMemcpyAsync(
            in, self->host_raw, n_values, cudaMemcpyHostToDevice, nullptr));
        torch_kernels(self, in);
        break;
    default: /* OUR_BATCH */
        gpu_copy_to_device(
            self->in_packed, self->host_packed, self->packed.bytes, nullptr);
        gpu_launch(&self->packed, self->in_packed, self->forebay_out, nullptr);
    }
}

static double measure_us(const struct two_ways *self, enum variant variant)
{
    struct gpu_clock clock = gpu_clock_begin(nullptr);
    for (int i = 0; i < LAUNCHES; i++) {
        run_once(self, variant, i);
    }
    return gpu_clock_end_ms(&clock) * 1e3 / LAUNCHES;
}

/* End the bench if the two ways differ by more than rounding. */
static void require_same_values(const struct two_ways *self)
{
    float *host_out[2] = {nullptr, nullptr}; /* torch, Forebay */
    run_once(self, TORCH_BATCH, 0);
    run_once(self, OUR_BATCH, 0);
    for (int i = 0; i < 2; i++) {
        host_out[i] = static_cast<float *>(malloc(n_values * sizeof(float)));
        if (host_out[i] == nullptr) {
            fprintf(stderr, "gpu_way: there is too little memory\n");
            exit(1);
        }
        CHECK(cudaMemcpy(host_out[i],
            i == 0 ? self->torch_out : self->forebay_out,
            n_values * sizeof(float), cudaMemcpyDeviceToHost));
    }
    for (uint64_t i = 0; i < n_values; i++) {
        if (std::fabs(host_out[0][i] - host_out[1][i]) > 1e-4F) {
            fprintf(stderr,
                "gpu_way: value %llu is %g by PyTorch's sequence, %g by ours\n",
                static_cast<unsigned long long>(i), host_out[0][i],
                host_out[1][i]);
            exit(1);
        }
    }
    free(host_out[0]);
    free(host_out[1]);
}

int main(void)
{
    struct two_ways bench;
    double          times[VARIANTS][GPU_PAIRS];
    double          kernel_ratios[GPU_PAIRS], batch_ratios[GPU_PAIRS];
    gpu_begin("gpu_way");
    make_buffers(&bench);
    require_same_values(&bench);
    gpu_warm_up("gpu_way", [&] {
        return measure_us(&bench, TORCH_KERNELS) +
               measure_us(&bench, OUR_KERNELS);
    });
    for (int i = 0; i < GPU_PAIRS; i++) {
        for (int variant = 0; variant < VARIANTS; variant++) {
            times[variant][i] =
                measure_us(&bench, static_cast<enum variant>(variant));
        }
        kernel_ratios[i] = times[TORCH_KERNELS][i] / times[OUR_KERNELS][i];
        batch_ratios[i]  = times[TORCH_BATCH][i] / times[OUR_BATCH][i];
    }
    gpu_print_value(
        "gpu_way_kernel", bench_median(times[OUR_KERNELS], GPU_PAIRS), "us");
    gpu_print_value(
        "gpu_way_batch", bench_median(times[OUR_BATCH], GPU_PAIRS), "us");
    bench_judge("gpu_way_kernels_plain", bench_median(kernel_ratios, GPU_PAIRS),
        BENCH_AT_LEAST, 3);
    bench_judge("gpu_way_batch_plain", bench_median(batch_ratios, GPU_PAIRS),
        BENCH_AT_LEAST, 3);
    free_buffers(&bench);
    return 0;
}
