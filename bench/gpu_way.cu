/* gpu_way.cu - pictures to normalised f32 in CHW: our copy and kernel, compared
 * with the launches of PyTorch's usual sequence,
 *     pinned u8 -> device -> permute -> float -> normalise -> contiguous.
 * permute is a view, so float(), sub_() and div_() run over the pixels in the
 * order of memory, and contiguous() moves them. Each kernel here is as simple
 * as possible and has none of PyTorch's overhead. torch_way.py measures PyTorch
 * itself if it is installed. */
#include <cmath>

#include "bench/gpu.h"

enum {
    SIDE     = 224,
    PIXELS   = SIDE * SIDE,
    COPIES   = 4, /* inputs, so that no cache holds them */
    LAUNCHES = 20,
    THREADS  = 256
};

static const uint64_t n_values = uint64_t(GPU_ROWS) * PIXELS * 3;

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

__global__ void contiguous(const float *in, float *out)
{
    uint64_t i       = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    uint64_t image   = i / (3 * PIXELS);
    uint64_t channel = i / PIXELS % 3;
    out[i]           = in[(image * PIXELS + i % PIXELS) * 3 + channel];
}

static_assert(uint64_t(GPU_ROWS) * PIXELS * 3 % (4 * THREADS) == 0,
    "all kernels have full blocks");

struct way_bench {
    struct gpu_batch raw, packed;
    uint8_t         *host_raw, *host_packed; /* pinned */
    uint8_t         *in[COPIES];             /* raw arenas */
    uint8_t         *in_packed;
    float           *values, *plain_out, *our_out, *mean, *std;
};

static uint8_t *pinned(const struct gpu_batch *batch)
{
    uint8_t *host = nullptr;
    CHECK(cudaMallocHost(&host, batch->bytes));
    std::copy_n(batch->arena, batch->bytes, host);
    return host;
}

static float *channels(double a, double b, double c)
{
    const float values[3] = {static_cast<float>(a * 255),
        static_cast<float>(b * 255), static_cast<float>(c * 255)};
    float      *there     = nullptr;
    CHECK(cudaMalloc(&there, sizeof(values)));
    CHECK(cudaMemcpy(there, values, sizeof(values), cudaMemcpyHostToDevice));
    return there;
}

static void begin(struct way_bench *w)
{
    *w             = {};
    w->raw         = gpu_make(GPU_ROWS, false, false);
    w->packed      = gpu_make(GPU_ROWS, true, false);
    w->host_raw    = pinned(&w->raw);
    w->host_packed = pinned(&w->packed);
    for (int i = 0; i < COPIES; i++) {
        w->in[i] = gpu_upload(&w->raw);
    }
    w->in_packed = gpu_upload(&w->packed);
    CHECK(cudaMalloc(&w->values, n_values * sizeof(float)));
    CHECK(cudaMalloc(&w->plain_out, n_values * sizeof(float)));
    CHECK(cudaMalloc(&w->our_out, w->raw.out_bytes));
    w->mean = channels(0.485, 0.456, 0.406);
    w->std  = channels(0.229, 0.224, 0.225);
}

static void end(struct way_bench *w)
{
    CHECK(cudaFreeHost(w->host_raw));
    CHECK(cudaFreeHost(w->host_packed));
    for (int i = 0; i < COPIES; i++) {
        CHECK(cudaFree(w->in[i]));
    }
    void *const rest[] = {
        w->in_packed, w->values, w->plain_out, w->our_out, w->mean, w->std};
    for (void *memory : rest) {
        CHECK(cudaFree(memory));
    }
    free(w->raw.arena);
    free(w->packed.arena);
}

static void plain_kernels(const struct way_bench *w, const uint8_t *in)
{
    const uint32_t blocks = static_cast<uint32_t>(n_values / THREADS);
    to_float<<<blocks / 4, THREADS>>>(reinterpret_cast<const uchar4 *>(in),
        reinterpret_cast<float4 *>(w->values));
    subtract<<<blocks, THREADS>>>(w->values, w->mean);
    divide<<<blocks, THREADS>>>(w->values, w->std);
    contiguous<<<blocks, THREADS>>>(w->values, w->plain_out);
    CHECK(cudaGetLastError());
}

enum variant { PLAIN_KERNELS, OUR_KERNEL, PLAIN_BATCH, OUR_BATCH, WAYS };

static void once(const struct way_bench *w, enum variant variant, int i)
{
    uint8_t *in = w->in[i % COPIES];
    switch (variant) {
    case PLAIN_KERNELS:
        plain_kernels(w, in);
        break;
    case OUR_KERNEL:
        gpu_launch(&w->raw, in, w->our_out, nullptr);
        break;
    case PLAIN_BATCH:
        CHECK(cudaMemcpyAsync(
            in, w->host_raw, n_values, cudaMemcpyHostToDevice, nullptr));
        plain_kernels(w, in);
        break;
    default:
        gpu_copy_in(w->in_packed, w->host_packed, w->packed.bytes, nullptr);
        gpu_launch(&w->packed, w->in_packed, w->our_out, nullptr);
    }
}

static double measure_us(const struct way_bench *w, enum variant variant)
{
    struct gpu_clock clock = gpu_clock_begin(nullptr);
    for (int i = 0; i < LAUNCHES; i++) {
        once(w, variant, i);
    }
    return gpu_clock_end_ms(&clock) * 1e3 / LAUNCHES;
}

/* Both sequences must give the same values, except for rounding. */
static void compare(const struct way_bench *w)
{
    float *pair[2] = {nullptr, nullptr};
    once(w, PLAIN_BATCH, 0);
    once(w, OUR_BATCH, 0);
    for (int i = 0; i < 2; i++) {
        pair[i] = static_cast<float *>(malloc(n_values * sizeof(float)));
        if (pair[i] == nullptr) {
            fprintf(stderr, "gpu_way: there is too little memory\n");
            exit(1);
        }
        CHECK(cudaMemcpy(pair[i], i == 0 ? w->plain_out : w->our_out,
            n_values * sizeof(float), cudaMemcpyDeviceToHost));
    }
    for (uint64_t i = 0; i < n_values; i++) {
        if (std::fabs(pair[0][i] - pair[1][i]) > 1e-4F) {
            fprintf(stderr,
                "gpu_way: value %llu is %g by PyTorch's sequence, %g by ours\n",
                static_cast<unsigned long long>(i), pair[0][i], pair[1][i]);
            exit(1);
        }
    }
    free(pair[0]);
    free(pair[1]);
}

int main(void)
{
    struct way_bench w;
    double           times[WAYS][GPU_PAIRS];
    double           kernels[GPU_PAIRS], batches[GPU_PAIRS];
    if (!gpu_begin("gpu_way")) {
        return 0;
    }
    begin(&w);
    compare(&w);
    for (int i = 0; i < GPU_PAIRS; i++) {
        for (int variant = 0; variant < WAYS; variant++) {
            times[variant][i] =
                measure_us(&w, static_cast<enum variant>(variant));
        }
        kernels[i] = times[PLAIN_KERNELS][i] / times[OUR_KERNEL][i];
        batches[i] = times[PLAIN_BATCH][i] / times[OUR_BATCH][i];
    }
    gpu_value("gpu_way_kernel", gpu_median(times[OUR_KERNEL], GPU_PAIRS), "us");
    gpu_value("gpu_way_batch", gpu_median(times[OUR_BATCH], GPU_PAIRS), "us");
    gpu_goal("gpu_way_kernels_plain", gpu_median(kernels, GPU_PAIRS), ">=", 3);
    gpu_goal("gpu_way_batch_plain", gpu_median(batches, GPU_PAIRS), ">=", 3);
    end(&w);
    return 0;
}
