/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.cu - a training loop on a GPU. In place of a model, a kernel adds up
 * the values of a batch. Copy the file and add your model. trainer.c shows
 * tokens and Ctrl-C.
 *   nvcc trainer.cu -o trainer $(pkg-config --cflags --libs forebay)
 *   ./trainer tcp://127.0.0.1:7070 p.yaml train image data0=/photos
 * The dtype of the field must be f32. */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#include "forebay/forebay.h"

#define CHECK(call)                                                     \
    do {                                                                \
        cudaError_t code = (call);                                      \
        if (code != cudaSuccess) {                                      \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorName(code)); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

/* Each thread adds up every k-th value, where k is the number of threads. */
__global__ void add_up(const float *values, uint64_t n, double *sum)
{
    double thread_sum = 0;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * (uint64_t)blockDim.x) {
        thread_sum += values[i];
    }
    atomicAdd(sum, thread_sum);
}

/* The step of your model: submit the work to `cuda_stream` and do not wait for
 * its end. Returns the number of values. */
static uint64_t train(
    const DLTensor *tensor, cudaStream_t cuda_stream, double *sum)
{
    uint64_t n = 1;
    for (int32_t d = 0; d < tensor->ndim; d++) {
        n *= (uint64_t)tensor->shape[d];
    }
    add_up<<<256, 256, 0, cuda_stream>>>(
        static_cast<const float *>(tensor->data), n, sum);
    CHECK(cudaGetLastError());
    return n;
}

static enum forebay_status train_all(struct forebay *stream, const char *field,
    cudaStream_t cuda_stream, double *sum)
{
    struct forebay_batch *batch  = nullptr;
    enum forebay_status   status = FOREBAY_OK;
    uint64_t              values = 0;
    while ((status = forebay_next(stream, -1, cuda_stream, &batch)) ==
           FOREBAY_OK) {
        int32_t         i = forebay_batch_field(batch, field);
        const DLTensor *tensor =
            i < 0 ? nullptr : forebay_batch_tensor(batch, (uint32_t)i);
        if (tensor == nullptr || tensor->dtype.code != kDLFloat ||
            tensor->dtype.bits != 32) {
            fprintf(stderr, "trainer: %s is not an f32 field\n", field);
            forebay_release(&batch, cuda_stream);
            return FOREBAY_USAGE;
        }
        values += train(tensor, cuda_stream, sum);
        /* The memory is reused after the work submitted to `cuda_stream`. */
        forebay_release(&batch, cuda_stream);
    }
    double total = 0;
    CHECK(cudaMemcpyAsync(
        &total, sum, sizeof(total), cudaMemcpyDeviceToHost, cuda_stream));
    CHECK(cudaStreamSynchronize(cuda_stream));
    printf("%" PRIu64 " values, mean %g\n", values,
        values > 0 ? total / (double)values : 0);
    return status;
}

int main(int argc, char **argv)
{
    char *directory = argc == 6 ? strchr(argv[5], '=') : nullptr;
    if (argc != 5 && directory == nullptr) {
        fprintf(
            stderr, "usage: trainer SERVER PIPELINE SPLIT FIELD [NAME=DIR]\n");
        return 2;
    }
    if (directory != nullptr) { /* split NAME=DIR: argv[5] becomes NAME */
        *directory++ = '\0';
    }
    struct forebay_root    root    = {argv[argc - 1], directory};
    struct forebay_options options = forebay_options();
    struct forebay        *stream  = nullptr;
    char                   error[1024];
    options.server        = argv[1];
    options.pipeline_path = argv[2];
    options.split         = argv[3];
    options.epochs        = 1;
    options.roots         = &root;
    options.n_roots       = directory != nullptr ? 1 : 0;
    options.device        = "cuda";
    if (forebay_open(&options, error, sizeof(error), &stream) != FOREBAY_OK) {
        fprintf(stderr, "trainer: %s\n", error);
        return 1;
    }
    cudaStream_t cuda_stream = nullptr;
    double      *sum         = nullptr;
    CHECK(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&sum, sizeof(*sum)));
    CHECK(cudaMemsetAsync(sum, 0, sizeof(*sum), cuda_stream));
    enum forebay_status status = train_all(stream, argv[4], cuda_stream, sum);
    if (status != FOREBAY_END) {
        fprintf(stderr, "trainer: %s\n", forebay_error(stream));
    }
    forebay_close(&stream);
    return status == FOREBAY_END ? 0 : 1;
}
