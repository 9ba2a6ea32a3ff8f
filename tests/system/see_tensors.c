/* SPDX-License-Identifier: Apache-2.0 */
/* see_tensors.c - a trainer that prints the delivered tensors.
 *
 *     see_tensors SERVER PIPELINE NAME=DIR RANK WORLD JOB STEPS [TOKEN]
 *
 * Each row is a line: epoch, step, row of the global batch, sample, then for
 * each field its name and the hash of the row's bytes, or the numbers if there
 * are at most 8. The last line is the token to resume from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "forebay/forebay.h"

enum { NUMBERS = 8 };

static int64_t row_elements(const DLTensor *tensor)
{
    int64_t n = 1;
    for (int32_t i = 1; i < tensor->ndim; i++) {
        n *= tensor->shape[i];
    }
    return n;
}

static void print_field(
    const struct forebay_batch *batch, uint32_t i, uint32_t row)
{
    const DLTensor *tensor = forebay_batch_tensor(batch, i);
    int64_t         n      = row_elements(tensor);
    size_t          bytes  = (size_t)n * tensor->dtype.bits / 8;
    const uint8_t  *at     = (const uint8_t *)tensor->data + row * bytes;
    printf(" %s", forebay_batch_field_name(batch, i));
    if (n > NUMBERS || tensor->dtype.code != kDLFloat ||
        tensor->dtype.bits != 32) {
        printf(" %016" PRIx64, fby_xxh3_64(at, bytes));
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        float value;
        memcpy(&value, at + (size_t)k * sizeof(value), sizeof(value));
        printf("%s%a", k > 0 ? "," : " ", (double)value);
    }
}

static void print_batch(const struct forebay_batch *batch)
{
    for (uint32_t row = 0; row < forebay_batch_rows(batch); row++) {
        printf("%" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu64,
            forebay_batch_epoch(batch), forebay_batch_step(batch),
            forebay_batch_first_row(batch) + row,
            forebay_batch_samples(batch)[row]);
        for (uint32_t i = 0; i < forebay_batch_n_fields(batch); i++) {
            print_field(batch, i, row);
        }
        printf("\n");
    }
}

static int print_stream(struct forebay *stream)
{
    struct forebay_batch *batch      = NULL;
    enum forebay_status   status     = FOREBAY_OK;
    char                  token[256] = "";
    while ((status = forebay_next(stream, -1, NULL, &batch)) == FOREBAY_OK) {
        print_batch(batch);
        snprintf(token, sizeof(token), "%s", forebay_batch_token(batch));
        forebay_release(&batch, NULL);
    }
    if (status != FOREBAY_END) {
        fprintf(stderr, "%s\n", forebay_error(stream));
        return 1;
    }
    printf("%s\n", token);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 8 || strchr(argv[3], '=') == NULL) {
        fprintf(stderr, "usage: see_tensors SERVER PIPELINE NAME=DIR RANK "
                        "WORLD JOB STEPS [TOKEN]\n");
        return 2;
    }
    char *directory                   = strchr(argv[3], '=');
    *directory++                      = '\0';
    const struct forebay_root root    = {argv[3], directory};
    struct forebay_options    options = forebay_options();
    struct forebay           *stream  = NULL;
    char                      error[512];
    options.server        = argv[1];
    options.pipeline_path = argv[2];
    options.rank          = (uint32_t)strtoul(argv[4], NULL, 10);
    options.world         = (uint32_t)strtoul(argv[5], NULL, 10);
    options.job           = argv[6];
    options.steps         = strtoull(argv[7], NULL, 10);
    options.token         = argc > 8 ? argv[8] : NULL;
    options.roots         = &root;
    options.n_roots       = 1;
    if (forebay_open(&options, error, sizeof(error), &stream) != FOREBAY_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    int failed = print_stream(stream);
    forebay_close(&stream);
    return failed;
}
