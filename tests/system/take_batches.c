/* SPDX-License-Identifier: Apache-2.0 */
/* take_batches.c - a trainer that writes its batches to files for NumPy.
 *
 *     take_batches SERVER PIPELINE NAME=DIR STEPS FOLDER
 *
 * The first STEPS batches of epoch 0 (0: all) become FOLDER/0.npz, FOLDER/1.npz
 * and so on, in the form in which `forebay show` writes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/show/npz.h"
#include "forebay/forebay.h"

static bool keep_batch(const struct forebay_batch *batch, const char *folder,
    struct fby_error_detail *why)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%llu.npz", folder,
        (unsigned long long)forebay_batch_step(batch));
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    fby_err err = fby_npz_write(batch, forebay_batch_rows(batch), file, why);
    return fclose(file) == 0 && err == FBY_OK;
}

static bool keep_stream(struct forebay *stream, const char *folder)
{
    struct fby_error_detail why    = {{0}};
    struct forebay_batch   *batch  = NULL;
    enum forebay_status     status = FOREBAY_OK;
    bool                    kept   = true;
    while (kept &&
           (status = forebay_next(stream, -1, NULL, &batch)) == FOREBAY_OK) {
        kept = keep_batch(batch, folder, &why);
        forebay_release(&batch, NULL);
    }
    if (!kept || status != FOREBAY_END) {
        fprintf(stderr, "%s%s\n", why.text, forebay_error(stream));
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 6 || argc > 7 || strchr(argv[3], '=') == NULL) {
        fprintf(stderr, "usage: take_batches SERVER PIPELINE NAME=DIR STEPS "
                        "FOLDER [SPLIT]\n");
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
    options.split         = argv[6]; /* NULL: the default */
    options.roots         = &root;
    options.n_roots       = 1;
    options.steps         = strtoull(argv[4], NULL, 10);
    options.epochs        = 1;
    if (forebay_open(&options, error, sizeof(error), &stream) != FOREBAY_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    bool kept = keep_stream(stream, argv[5]);
    forebay_close(&stream);
    return kept ? 0 : 1;
}
