/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.c - a training loop to copy. Add your model to train().
 *   forebay up --pipeline p.yaml # prints --server, --keys and --data NAME=DIR
 *   cc trainer.c -o trainer $(pkg-config --cflags --libs forebay)
 *   export FOREBAY_KEYS=/proc/4711/fd/7 # what it printed after --keys
 *   ./trainer tcp://127.0.0.1:7070 p.yaml train 3 token data0=/photos
 * The program reads three epochs. Started again with the same token file, it
 * resumes after the last trained batch. Ctrl-C ends it. C11 or C++11. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "forebay/forebay.h"

enum { TEXT_SIZE = 1024, SAVE_EVERY = 100 /* steps */ };
enum { WAIT_NS = 200000000 }; /* at most, before Ctrl-C is noticed */

struct progress {
    const char *file; /* path of the token file */
    char        token[TEXT_SIZE];
    uint64_t    steps, rows; /* numbers trained by this process */
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    stopped = number;
}

/* Returns NULL if there is no token file; "", an invalid token, on an error. */
static const char *read_token(struct progress *progress)
{
    FILE *file = fopen(progress->file, "r");
    if (file == NULL) {
        return errno == ENOENT ? NULL : progress->token;
    }
    size_t size           = fread(progress->token, 1, TEXT_SIZE - 1, file);
    progress->token[size] = '\0';
    progress->token[strcspn(progress->token, "\n")] = '\0';
    fclose(file);
    return progress->token;
}

/* Model and token together are a checkpoint: save both at the same step.
 * rename() is atomic, so a crash leaves either the old file or the new one. */
static bool save_token(const struct progress *progress)
{
    char temporary[TEXT_SIZE];
    snprintf(temporary, sizeof(temporary), "%s.new", progress->file);
    FILE *file = fopen(temporary, "w");
    bool  ok   = file != NULL && fprintf(file, "%s\n", progress->token) > 0;
    ok         = file != NULL && fclose(file) == 0 && ok; /* always close */
    if (!ok || rename(temporary, progress->file) != 0) {
        perror(progress->file);
        return false;
    }
    return true;
}

static void print_tensors(const struct forebay_batch *batch)
{
    static const char *const kinds[] = {/* index: DLDataTypeCode */
        "int", "uint", "float", "", "bfloat", "", "bool"};
    for (uint32_t i = 0; i < forebay_batch_n_fields(batch); i++) {
        const DLTensor *tensor = forebay_batch_tensor(batch, i);
        printf("%s: %s%d, shape", forebay_batch_field_name(batch, i),
            kinds[tensor->dtype.code], tensor->dtype.bits);
        for (int32_t d = 0; d < tensor->ndim; d++) {
            printf(" %" PRId64, tensor->shape[d]);
        }
        puts("");
    }
    fflush(stdout);
}

/* The step of your model. Values begin at (char *)tensor->data + byte_offset,
 * and strides count elements. The step may overwrite them. */
static void train(struct progress *progress, const struct forebay_batch *batch)
{
    if (progress->steps == 0) {
        print_tensors(batch);
    }
    progress->steps++;
    progress->rows += forebay_batch_rows(batch);
    snprintf(progress->token, TEXT_SIZE, "%s", forebay_batch_token(batch));
}

/* Returns the exit code: 0 at the end, 130 after Ctrl-C, 1 on an error. */
static int train_all(struct forebay *stream, struct progress *progress)
{
    while (stopped == 0) {
        struct forebay_batch *batch = NULL;
        enum forebay_status   status =
            forebay_next(stream, WAIT_NS, NULL, &batch);
        if (status == FOREBAY_TIMEOUT) {
            continue;
        }
        if (status == FOREBAY_END) {
            return 0;
        }
        if (status != FOREBAY_OK) {
            fprintf(stderr, "trainer: %s\n", forebay_error(stream));
            return 1;
        }
        train(progress, batch);
        forebay_release(&batch, NULL); /* its memory can be reused */
        if (progress->steps % SAVE_EVERY == 0 && !save_token(progress)) {
            return 1;
        }
    }
    return 130;
}

int main(int argc, char **argv)
{
    char *directory = argc == 7 ? strchr(argv[6], '=') : NULL;
    if (argc != 6 && directory == NULL) {
        fprintf(stderr, "usage: trainer SERVER PIPELINE SPLIT EPOCHS "
                        "TOKEN_FILE [NAME=DIR]\n");
        return 2;
    }
    if (directory != NULL) { /* split NAME=DIR: argv[6] becomes NAME */
        *directory++ = '\0';
    }
    struct progress        progress = {argv[5], "", 0, 0};
    struct forebay_root    root     = {argv[argc - 1], directory};
    struct forebay_options options  = forebay_options();
    struct forebay        *stream   = NULL;
    char                   error[TEXT_SIZE];
    options.roots         = &root;
    options.n_roots       = directory != NULL ? 1 : 0;
    options.server        = argv[1];
    options.pipeline_path = argv[2];
    options.split         = argv[3];
    options.epochs        = strtoull(argv[4], NULL, 10); /* 0: no end */
    options.token         = read_token(&progress);
    if (forebay_open(&options, error, sizeof(error), &stream) != FOREBAY_OK) {
        fprintf(stderr, "trainer: %s\n", error);
        return 1;
    }
    struct timespec begin;
    struct timespec end;
    signal(SIGINT, on_signal);
    timespec_get(&begin, TIME_UTC);
    int code = train_all(stream, &progress);
    timespec_get(&end, TIME_UTC);
    double seconds = (double)(end.tv_sec - begin.tv_sec) +
                     1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%" PRIu64 " rows in %" PRIu64 " steps, %.0f rows/s\n",
        progress.rows, progress.steps, (double)progress.rows / seconds);
    forebay_close(&stream);
    return (progress.steps == 0 || save_token(&progress)) ? code : 1;
}
