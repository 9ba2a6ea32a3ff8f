/* SPDX-License-Identifier: Apache-2.0 */
/* check_labels.c - a trainer that checks that every delivered image shows its
 * label.
 *
 *     check_labels SERVER PIPELINE NAME=DIR
 *
 * Receives through the public header alone, and reads the label from the pixels
 * by photos.h. Prints the names of the classes and the number of rows, a line
 * each; exit code 1 at the first image that
 * shows a label other than its own. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/photos/photos.h"
#include "forebay/forebay.h"

static struct fby_image row_image(const DLTensor *tensor, uint32_t row)
{
    size_t stride = (size_t)(tensor->shape[2] * tensor->shape[3]);
    return (struct fby_image){
        .pixels = (uint8_t *)tensor->data + tensor->byte_offset +
                  (size_t)row * (size_t)tensor->strides[0],
        .stride = stride,
        .width  = (uint32_t)tensor->shape[2],
        .height = (uint32_t)tensor->shape[1],
    };
}

static int check_batch(const struct forebay_batch *batch)
{
    int32_t         image  = forebay_batch_field(batch, "image");
    int32_t         label  = forebay_batch_field(batch, "label");
    const DLTensor *images = forebay_batch_tensor(batch, (uint32_t)image);
    const DLTensor *labels = forebay_batch_tensor(batch, (uint32_t)label);
    const int64_t  *ids    = labels->data;
    for (uint32_t row = 0; row < forebay_batch_rows(batch); row++) {
        struct fby_image picture = row_image(images, row);
        uint32_t         shown   = UINT32_MAX;
        if (!fby_photo_read_label(&picture, &shown) ||
            (int64_t)shown != ids[row]) {
            fprintf(stderr,
                "epoch %" PRIu64 " step %" PRIu64 " row %u (sample %" PRIu64
                "): shows %u, carries %" PRId64 "\n",
                forebay_batch_epoch(batch), forebay_batch_step(batch), row,
                forebay_batch_samples(batch)[row], shown, ids[row]);
            return 1;
        }
    }
    return 0;
}

static void print_classes(const struct forebay *stream)
{
    struct forebay_info info = {.struct_size = sizeof(info)};
    (void)forebay_info(stream, &info);
    for (uint32_t id = 0; id < info.n_classes; id++) {
        printf("%s\n", forebay_class_name(stream, id));
    }
}

static int check_stream(struct forebay *stream)
{
    struct forebay_batch *batch  = NULL;
    enum forebay_status   status = FOREBAY_OK;
    uint64_t              rows   = 0;
    while ((status = forebay_next(stream, -1, NULL, &batch)) == FOREBAY_OK) {
        int failed = check_batch(batch);
        rows += forebay_batch_rows(batch);
        forebay_release(&batch, NULL);
        if (failed) {
            return 1;
        }
    }
    if (status != FOREBAY_END) {
        fprintf(stderr, "%s\n", forebay_error(stream));
        return 1;
    }
    printf("%" PRIu64 "\n", rows);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4 || strchr(argv[3], '=') == NULL) {
        fprintf(stderr, "usage: check_labels SERVER PIPELINE NAME=DIR\n");
        return 2;
    }
    char *directory                     = strchr(argv[3], '=');
    *directory++                        = '\0';
    const struct forebay_root root      = {argv[3], directory};
    struct forebay_output     outputs[] = {
            forebay_output("image"), forebay_output("label")};
    outputs[0].dtype               = FOREBAY_DTYPE_U8;
    outputs[0].layout              = FOREBAY_LAYOUT_HWC;
    outputs[1].dtype               = FOREBAY_DTYPE_I64;
    struct forebay_options options = forebay_options();
    struct forebay        *stream  = NULL;
    char                   error[512];
    options.server        = argv[1];
    options.pipeline_path = argv[2];
    options.epochs        = 2;
    options.outputs       = outputs;
    options.n_outputs     = 2;
    options.roots         = &root;
    options.n_roots       = 1;
    if (forebay_open(&options, error, sizeof(error), &stream) != FOREBAY_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    print_classes(stream);
    int failed = check_stream(stream);
    forebay_close(&stream);
    return failed;
}
