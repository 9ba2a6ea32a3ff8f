/* trainer.cu - a training loop on a GPU. A kernel that adds up the values of a
 * batch stands for the model: copy it and add yours. trainer.c shows tokens and
 * Ctrl-C.
 *   nvcc trainer.cu -o trainer $(pkg-config --cflags --libs forebay)
 *   ./trainer tcp://127.0.0.1:7070 p.yaml train image data0=/photos
 * The dtype of the field must be f32. */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#include "forebay/forebay.h"

#define CHECK(call)                                                    \
    do {                                                               \
        cudaError_t code = (call);                                     \
        if (code != cudaSuccess) {                                     \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorName(code)); \
            exit(1);                                                   \
        }                                                              \
    } while (0)

__global__ void add_up(const float *values, uint64_t n, double *sum)
{
    double mine = 0;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * (uint64_t)blockDim.x) {
        mine += values[i];
    }
    atomicAdd(sum, mine);
}

static uint64_t elements(const DLTensor *tensor)
{
    uint64_t n = 1;
    for (int32_t d = 0; d < tensor->ndim; d++) {
        n *= (uint64_t)tensor->shape[d];
    }
    return n;
}

/* Submit the work to `stream` and do not wait for it. Returns the number of
 * values. */
static uint64_t train(
    const DLTensor *tensor, cudaStream_t stream, double *sum)
{
    auto     values = static_cast<const float *>(tensor->data);
    uint64_t n      = elements(tensor);
    add_up<<<256, 256, 0, stream>>>(values, n, sum);
    CHECK(cudaGetLastError());
    return n;
}

static enum forebay_status loop(
    struct forebay *data, const char *field, cudaStream_t stream, double *sum)
{
    struct forebay_batch *batch  = nullptr;
    enum forebay_status   status = FOREBAY_OK;
    uint64_t              values = 0;
    while ((status = forebay_next(data, -1, stream, &batch)) == FOREBAY_OK) {
        int32_t i = forebay_batch_field(batch, field);
        if (i < 0 ||
            forebay_batch_tensor(batch, (uint32_t)i)->dtype.code != kDLFloat ||
            forebay_batch_tensor(batch, (uint32_t)i)->dtype.bits != 32) {
            fprintf(stderr, "trainer: %s is not an f32 field\n", field);
            forebay_release(&batch, stream);
            return FOREBAY_USAGE;
        }
        values += train(forebay_batch_tensor(batch, (uint32_t)i), stream, sum);
        forebay_release(&batch, stream); /* after the work on `stream` */
    }
    double total = 0;
    CHECK(cudaMemcpyAsync(
        &total, sum, sizeof(total), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%" PRIu64 " values, mean %g\n", values,
        values > 0 ? total / (double)values : 0);
    return status;
}

int main(int argc, char **argv)
{
    char *directory = argc == 6 ? strchr(argv[5], '=') : nullptr;
    if (argc != 5 && directory == nullptr) {
        fprintf(stderr,
            "usage: trainer SERVER PIPELINE SPLIT FIELD [NAME=DIR]\n");
        return 2;
    }
    if (directory != nullptr) {
        *directory++ = '\0';
    }
    struct forebay_root    root    = {argv[argc - 1], directory};
    struct forebay_options options = forebay_options();
    struct forebay        *data    = nullptr;
    char                   error[1024];
    options.server        = argv[1];
    options.pipeline_path = argv[2];
    options.split         = argv[3];
    options.epochs        = 1;
    options.roots         = &root;
    options.n_roots       = argc == 6 ? 1 : 0;
    options.device        = "cuda";
    if (forebay_open(&options, error, sizeof(error), &data) != FOREBAY_OK) {
        fprintf(stderr, "trainer: %s\n", error);
        return 1;
    }
    cudaStream_t stream = nullptr;
    double      *sum    = nullptr;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&sum, sizeof(*sum)));
    CHECK(cudaMemsetAsync(sum, 0, sizeof(*sum), stream));
    enum forebay_status status = loop(data, argv[4], stream, sum);
    if (status != FOREBAY_END) {
        fprintf(stderr, "trainer: %s\n", forebay_error(data));
    }
    forebay_close(&data);
    return status == FOREBAY_END ? 0 : 1;
}
