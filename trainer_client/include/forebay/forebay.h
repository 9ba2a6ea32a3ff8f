/* SPDX-License-Identifier: Apache-2.0 */
/* forebay.h - a stream of training batches, prepared by remote workers.
 *
 *     struct forebay_options o = forebay_options();
 *     o.server        = "tcp://10.0.0.1:7070";
 *     o.pipeline_path = "train.yaml";
 *     o.split         = "train";
 *     if (forebay_open(&o, error, sizeof(error), &stream) != FOREBAY_OK) ...
 *     while (forebay_next(stream, -1, NULL, &batch) == FOREBAY_OK) {
 *         const DLTensor *image = forebay_batch_tensor(batch, 0);
 *         ...
 *         forebay_release(&batch, NULL);
 *     }
 *     forebay_close(&stream);
 *
 * Batches arrive in order, each exactly once. Their values are the same
 * whichever workers prepared them. Every batch carries a token that resumes the
 * stream right after it.
 *
 * Threads: any thread may call any function, also while other threads use the
 * same object, unless the comment of the function says otherwise. Do not call
 * forebay_close() while another call on its stream runs.
 * Fork: a child process may not use what its parent opened. In the child, calls
 * on a stream and calls that release or export a batch return FOREBAY_FORKED
 * and change nothing. The child can still read the contents of a batch.
 * Pointers: NULL is allowed only where a comment says so. A NULL stream or
 * batch behind self_p or batch_p is ignored.
 * Compatibility: structs that a caller fills or receives begin with
 * struct_size. A library newer or older than its caller reads and writes only
 * the members that both know. It refuses an unknown option that is not zero. */
#ifndef FOREBAY_FOREBAY_H
#define FOREBAY_FOREBAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef DLPACK_DLPACK_H_
#include "forebay/dlpack.h"
#endif

#ifdef __cplusplus
extern "C" {
#ifdef __GNUC__ /* warns of functions that have the name of a struct */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#endif

struct forebay;       /* an open stream */
struct forebay_batch; /* one batch of a stream */

enum forebay_status {
    FOREBAY_OK      = 0,
    FOREBAY_END     = 1, /* the stream has ended; not an error */
    FOREBAY_TIMEOUT = 2, /* no result in time; call again */
    FOREBAY_USAGE   = 3, /* the call or an option is not allowed */
    FOREBAY_CONFIG  = 4, /* pipeline, token, job or data do not fit together */
    FOREBAY_DATA    = 5, /* a sample or shard cannot be delivered */
    FOREBAY_FULL    = 6, /* the caller holds too many batches */
    FOREBAY_FORKED  = 7, /* a child process used its parent's stream */
    FOREBAY_SYSTEM  = 8, /* the operating system refused something */
    FOREBAY_INTERRUPTED = 9 /* give_up or forebay_interrupt() ended the wait */
};

/* A short description of `status`: static text, never NULL. */
const char *forebay_status_text(enum forebay_status status);

/* The library's version, "1.2.3". */
const char *forebay_version(void);

/* An error in parts. Texts that are not known are empty. */
struct forebay_failure {
    size_t              struct_size;
    enum forebay_status status;
    char                text[512]; /* one line: what is wrong, what to do */

    /* FOREBAY_CONFIG and FOREBAY_USAGE of forebay_open(): where in the
     * pipeline file */
    char     file[512]; /* pipeline_path; "pipeline" for pipeline_text; "":
                           the error is not in the file */
    uint32_t line;      /* from 1; 0: unknown */
    uint32_t column;    /* from 1; 0: unknown */

    /* FOREBAY_DATA: where in the dataset */
    char     shard[512];  /* the shard or file */
    bool     has_sample;  /* `sample` and `offset` are known */
    uint64_t sample;      /* its number in the dataset */
    uint64_t offset;      /* of the error in `shard`, in bytes */
    char     worker[320]; /* host and endpoint of the worker that reports it */
};

/* ---- log ----------------------------------------------------------------- */

enum forebay_log_level {
    FOREBAY_LOG_ERROR = 0, /* failures that end a stream */
    FOREBAY_LOG_WARN  = 1, /* workers lost or not used, data refused */
    FOREBAY_LOG_INFO  = 2, /* workers found, jobs joined */
    FOREBAY_LOG_DEBUG = 3  /* single messages */
};

/* Send the log of all streams of this process, up to level `most`, to `log`
 * instead of standard error. NULL restores standard error, the initial state
 * (with FOREBAY_LOG_WARN). The environment variable FOREBAY_LOG (error, warn,
 * info, debug), if set to a level, overrides `most`.
 *
 * line:   "WORD text", where WORD is upper-case and never changes; no time, no
 *         newline, at most 1023 bytes; borrowed for the call. At most 100
 *         lines with the same WORD arrive in 10 s; the next one says how many
 *         were dropped. Error and debug lines are not limited.
 * Thread: `log` runs on threads of the caller and of the library, on several
 *         at the same time. No lock of a stream is held, but the stream may
 *         wait until `log` returns, so it must return soon.
 * Inside: `log` must not call a forebay_* function, and must return normally.
 * Blocks: until no thread is inside the previous `log`, which is not called
 *         again. So do not hold a lock that the previous `log` takes. */
void forebay_set_log(
    void (*log)(void *arg, enum forebay_log_level level, const char *line),
    void *arg, enum forebay_log_level most);

/* ---- open ---------------------------------------------------------------- */

enum forebay_dtype {
    FOREBAY_DTYPE_PIPELINE = 0, /* as the pipeline file says */
    FOREBAY_DTYPE_U8       = 1,
    FOREBAY_DTYPE_U16      = 2,
    FOREBAY_DTYPE_I32      = 3,
    FOREBAY_DTYPE_I64      = 4,
    FOREBAY_DTYPE_F16      = 5,
    FOREBAY_DTYPE_BF16     = 6,
    FOREBAY_DTYPE_F32      = 7,
    FOREBAY_DTYPE_U32      = 8,
    FOREBAY_DTYPE_BOOL     = 9 /* only for fields whose values are bits */
};

enum forebay_layout { /* for images and arrays of three dimensions */
    FOREBAY_LAYOUT_PIPELINE      = 0, /* as the pipeline file says */
    FOREBAY_LAYOUT_HWC           = 1, /* shape n, h, w, c */
    FOREBAY_LAYOUT_CHW           = 2, /* shape n, c, h, w */
    FOREBAY_LAYOUT_CHANNELS_LAST = 3, /* shape n, c, h, w over HWC memory */
    FOREBAY_LAYOUT_HW            = 4  /* masks only: shape n, h, w */
};

/* The tensors of a ragged field (its rows vary in length) or of a sparse field.
 * NAME is the field, and [rows, n, ...] the shape of a tensor. `all` is the
 * number of values in all rows of the batch together. */
enum forebay_as {
    FOREBAY_AS_PIPELINE = 0, /* as the pipeline file says */
    FOREBAY_AS_PADDED   = 1, /* NAME [rows, n, ...], NAME.lengths [rows] */
    FOREBAY_AS_RAGGED   = 2, /* NAME [all, ...], NAME.offsets [rows + 1] */
    /* Sparse fields only: */
    FOREBAY_AS_DENSE = 3, /* NAME [rows, ...] */
    FOREBAY_AS_CSR   = 4, /* NAME [all], NAME.offsets [rows + 1],
                             NAME.indices [all] */
    FOREBAY_AS_COO   = 5, /* NAME [all], NAME.indices [1 + dimensions, all] */
    /* Fields with `from: documents` only; a row has L tokens: */
    FOREBAY_AS_CU_SEQLENS = 6, /* NAME [documents of the batch + 1] */
    FOREBAY_AS_POSITIONS  = 7, /* NAME [rows, L]: position in the document */
    FOREBAY_AS_MASK       = 8  /* NAME [rows, L]: 1 if it counts in the loss */
};

enum forebay_pad_to {            /* the row length n of FOREBAY_AS_PADDED */
    FOREBAY_PAD_TO_PIPELINE = 0, /* as the pipeline file says */
    FOREBAY_PAD_TO_MAX      = 1, /* max_length: the same in every batch */
    FOREBAY_PAD_TO_LONGEST  = 2  /* the longest row of the batch */
};

/* An override of the form in which one field is delivered. Begin with
 * forebay_output(): a member left at 0 keeps the pipeline file's choice. In an
 * array, the struct_size of the first override is the stride of all. */
struct forebay_output {
    size_t              struct_size;
    const char         *field;
    enum forebay_dtype  dtype;
    enum forebay_layout layout;
    enum forebay_as     as;
    enum forebay_pad_to pad_to;
    enum forebay_dtype  offsets; /* type: I32 or I64; also of CSR's indices */
    bool                has_pad; /* `pad` is set */
    double              pad;     /* value that fills the ends of short rows */
};

/* An override for `field` (borrowed) that changes nothing yet. */
static inline struct forebay_output forebay_output(const char *field)
{
    struct forebay_output o;
    memset(&o, 0, sizeof(o));
    o.struct_size = sizeof(o);
    o.field       = field;
    return o;
}

/* A directory that workers know by a name. If the pipeline file has a plain
 * path below `directory`, the stream asks workers for "name:rest of the path".
 * Start the workers with the same name (--data name=DIRECTORY). */
struct forebay_root {
    const char *name;
    const char *directory;
};

/* Zero means the default everywhere. Strings and arrays are borrowed for the
 * call of forebay_open() only. */
struct forebay_options {
    size_t struct_size;

    const char *server;        /* "tcp://HOST:PORT" or "HOST:PORT"; a name is
                                  looked up again while the server is silent */
    const char *pipeline_path; /* the pipeline file; NULL: use the next */
    const char *pipeline_text; /* the text of a pipeline file */
    const char *split;         /* NULL: the only split of the pipeline */

    const char *job;   /* name; required when world > 1; default: random */
    uint32_t    rank;  /* 0..world-1 */
    uint32_t    world; /* ranks of the job; 0: one */

    uint64_t    seed; /* only with has_seed; default: the pipeline's */
    bool        has_seed;
    const char *token;  /* resume right after the batch that carried it; the
                           seed must be that of the token */
    uint64_t    steps;  /* end before this step, counted from epoch 0 step 0 */
    uint64_t    epochs; /* end before this epoch, or at `steps` if sooner */

    const char *const           *fields; /* names to deliver; NULL: all */
    size_t                       n_fields;
    const struct forebay_output *outputs;
    size_t                       n_outputs;
    const struct forebay_root   *roots;
    size_t                       n_roots;

    uint64_t window_bytes;    /* limit: requested, not delivered; 0: 256 MiB */
    uint32_t window_batches;  /* limit: requested, not delivered; 0: 16 */
    uint64_t max_held_bytes;  /* limit: delivered, not released; 0: 1 GiB */
    uint32_t decode_threads;  /* 0: by the number of cores, at most 4 */
    int64_t  open_timeout_ns; /* 0: 60 s; includes scanning a large source */

    bool digests;        /* compute digests of samples, steps, the stream */
    bool verify_decoded; /* hash decoded data too, not only received data */

    const char *device; /* "host" (the default), "cuda", "cuda:N"; "auto": a
                           usable GPU if there is one, else host */

    /* Progress while workers scan a source for the first time: shards done,
     * and all shards. Called on the thread that is in forebay_open(). */
    void (*on_scan)(void *arg, uint64_t done, uint64_t total);
    void *on_scan_arg;

    /* Request every audit-th step, counted from epoch 0 step 0, from a second
     * worker too. The stream fails if the two answers differ. 0: never. */
    uint64_t audit;

    /* Called on the thread that is in forebay_open(), about ten times a
     * second while it waits. If it returns true, forebay_open() ends with
     * FOREBAY_INTERRUPTED. For Ctrl-C: let a signal handler set a flag, and
     * return the flag. */
    bool (*give_up)(void *arg);
    void *give_up_arg;

    /* GPU only. fixed_outputs: all batches have the same addresses, for
     * captured CUDA graphs. The caller can hold one batch at a time, and
     * forebay_next() computes its values on the CUDA stream passed to it.
     *
     * allocate: returns memory for tensors: `bytes` on GPU `device`, aligned to
     * 256 bytes; NULL if there is none. allocate is called in forebay_open(),
     * and when more batches are held than usual. deallocate is called when such
     * batches are released, and at the end. Both may run on any thread.
     * allocate may call forebay_stats(), but no other forebay_* function.
     * deallocate may call none, because it also runs during and after
     * forebay_close(). `stream` is a cudaStream_t of the library, with the
     * ordering of cudaMallocAsync() and cudaFreeAsync(): memory is used after
     * earlier work on the stream, and freed after all its uses. (If a CUDA call
     * fails, the end of a use may be unknown. Then the stream of batches ends,
     * and deallocate is not called for that memory.) */
    bool fixed_outputs;
    void *(*allocate)(void *arg, size_t bytes, int32_t device, void *stream);
    void (*deallocate)(void *arg, void *memory, void *stream);
    void *allocate_arg;

    /* GPU only: the caller gives each batch its memory, with
     * forebay_next_into(). Not with fixed_outputs or allocate. Without effect
     * on the host: where device "auto" finds no GPU, call forebay_next(). */
    bool caller_memory;

    /* forebay_open() writes its result here: status, text, and the position of
     * an error. The caller sets struct_size first. NULL: not wanted. */
    struct forebay_failure *failure;

    /* The trainer's key: a key file that `forebay keys add` wrote, or a folder
     * with one. NULL: the variable FOREBAY_KEYS, or no key, for a server without
     * keys. */
    const char *keys;
};

/* Options with every default. */
static inline struct forebay_options forebay_options(void)
{
    struct forebay_options o;
    memset(&o, 0, sizeof(o));
    o.struct_size = sizeof(o);
    return o;
}

/* Open a stream: join the job at the server, find workers, agree on the data.
 *
 * Heap:      glibc then keeps freed blocks of up to 31 MiB for the process, as
 *            after its first large block. mallopt() or MALLOC_MMAP_THRESHOLD_
 *            set another limit.
 * Ownership: *out is the caller's, for forebay_close(); NULL on failure.
 * Blocks:    until workers have opened the source, at most open_timeout_ns.
 * Errors:    FOREBAY_USAGE, FOREBAY_CONFIG, FOREBAY_TIMEOUT (no server, no
 *            worker, or still scanning), FOREBAY_INTERRUPTED (give_up
 *            returned true), FOREBAY_SYSTEM. `error` (may be NULL) then holds
 *            one line that says what is wrong and how to fix it, truncated to
 *            `error_size` bytes including the NUL. */
enum forebay_status forebay_open(const struct forebay_options *options,
    char *error, size_t error_size, struct forebay **out);

/* Leave the job, stop the threads and free the stream; *self_p becomes NULL.
 * Batches not yet released stay usable and must still be released. In a forked
 * child it only clears the pointer. */
void forebay_close(struct forebay **self_p);

/* ---- what was opened ----------------------------------------------------- */

struct forebay_info {
    size_t   struct_size;
    uint64_t samples;         /* in the dataset */
    uint64_t steps_per_epoch; /* the same for every rank */
    uint32_t global_batch;    /* rows in a global batch */
    uint32_t n_fields;        /* tensors in a batch, including `valid` and
                                 those like NAME.lengths */
    uint64_t seed;
    uint64_t first_epoch;    /* epoch of the first batch of this stream */
    uint64_t first_step;     /* step of the first batch in that epoch */
    uint64_t end_step;       /* counted from epoch 0 step 0; UINT64_MAX: none */
    char content_digest[65]; /* hex; of what in the pipeline decides values */
    char data_digest[65];    /* hex; of the dataset */
    char fingerprint[65];    /* hex; of what the workers compute */
    char job[256];
    uint64_t batch_bytes;      /* memory for the tensors of one batch */
    char     first_token[192]; /* resumes at the first batch of this stream */
    char     device[32];       /* of the tensors: "host" or "cuda:N" */
    uint32_t n_classes;        /* named classes; 0: the labels have no names */
};

/* Fill `out`; the caller sets its struct_size first.
 * Errors: FOREBAY_USAGE when struct_size is too small. */
enum forebay_status forebay_info(
    const struct forebay *self, struct forebay_info *out);

/* A tensor that every batch of the stream has. */
struct forebay_field {
    size_t              struct_size;
    const char         *name;   /* as forebay_batch_field_name(); borrowed
                                   until forebay_close() */
    const char         *source; /* the pipeline's field; "" for "valid" */
    DLDataType          dtype;
    int32_t             n_dims;
    int64_t             shape[8];     /* -1: varies from batch to batch */
    enum forebay_layout layout;       /* of a picture; else 0 */
    enum forebay_as     as;           /* of a ragged or sparse field; else 0 */
    int32_t             n_dense_dims; /* 0 unless the field is sparse */
    int64_t             dense_shape[8]; /* of a sparse row as a dense array */
};

/* Describe tensor i, 0 to info.n_fields - 1, in the order of a batch's tensors;
 * the caller sets out->struct_size first.
 * Errors: FOREBAY_USAGE when i is out of range or struct_size is too small. */
enum forebay_status forebay_field(
    const struct forebay *self, uint32_t i, struct forebay_field *out);

/* The name of class `id` of the dataset, 0 to info.n_classes - 1. It is the
 * value of a label where the pipeline or the source names classes: the key
 * `names` of the first field that has it, else a folder for each class, in all
 * splits those of the split train unless the pipeline says otherwise.
 * Borrowed until forebay_close(); NULL when there is none, and in a forked
 * child. */
const char *forebay_class_name(const struct forebay *self, uint32_t id);

/* One line about the calling thread's last error on this stream. If the thread
 * has none, or had one on another stream since, it is about the last error of
 * any thread; "" before the first one and at the stream's end. The text is
 * valid until this thread calls forebay_error() again. */
const char *forebay_error(const struct forebay *self);

/* The error that forebay_error() is about, in parts; the caller sets
 * out->struct_size first. `status` is FOREBAY_OK before the first error and at
 * the stream's end.
 * Errors: FOREBAY_USAGE when struct_size is too small. */
enum forebay_status forebay_failure(
    const struct forebay *self, struct forebay_failure *out);

/* ---- batches ------------------------------------------------------------- */

/* Take the next batch in order.
 *
 * timeout_ns: < 0 waits without a limit, 0 does not wait.
 * stream:     on a GPU, the consumer's cudaStream_t: work submitted to it
 *             after this call sees the values. NULL and 1 are the legacy
 *             default stream of the batch's GPU; 2 is the per-thread default
 *             stream of the calling thread's current GPU. Ignored on the host.
 * Ownership:  *out is the caller's, for forebay_release(); NULL otherwise.
 * Blocks:     at most timeout_ns.
 * Errors:     FOREBAY_END after the last batch.
 *             FOREBAY_TIMEOUT: forebay_error() says what the stream waits for
 *             (such as a worker).
 *             FOREBAY_FULL when max_held_bytes are held, when there is no
 *             memory for one more batch, or with fixed_outputs when one is
 *             held: release a batch and call again.
 *             FOREBAY_INTERRUPTED: see forebay_interrupt().
 *             FOREBAY_USAGE with options.caller_memory.
 *             FOREBAY_DATA, FOREBAY_CONFIG, FOREBAY_SYSTEM (memory, the GPU):
 *             the stream has failed; later calls fail too. */
enum forebay_status forebay_next(struct forebay *self, int64_t timeout_ns,
    void *stream, struct forebay_batch **out);

/* As forebay_next(), with options.caller_memory: compute the tensors of the
 * batch into `memory` on `stream`, as with fixed_outputs.
 *
 * memory:    info.batch_bytes on the stream's GPU, aligned to 256 bytes. Work
 *            that uses it must be on `stream`, or `stream` must wait for it.
 * Ownership: `memory` stays the caller's, also after forebay_release(), which
 *            can be called at once. Without FOREBAY_OK it is not used. A tensor
 *            exported from the batch keeps the batch, but not `memory`.
 * Errors:    as forebay_next(); FOREBAY_USAGE without options.caller_memory. */
enum forebay_status forebay_next_into(struct forebay *self, int64_t timeout_ns,
    void *stream, void *memory, struct forebay_batch **out);

/* With `on`, end the calls of forebay_next() and forebay_next_into() that wait.
 * Until this is called without `on`, they return FOREBAY_INTERRUPTED instead of
 * FOREBAY_TIMEOUT, and do not wait. Batches that are ready are still delivered.
 * It does not end a forebay_seek(). Not for signal handlers: it takes a lock.
 * Blocks: never.
 * Errors: FOREBAY_FORKED. */
enum forebay_status forebay_interrupt(struct forebay *self, bool on);

/* Continue the stream at another position, also after FOREBAY_END. Batches that
 * were not taken are dropped. Connections, counters and the stream's digest
 * stay, and batches that were taken are not affected. A position at or behind
 * info.end_step ends the stream.
 *
 * Blocks: until the receiving thread has changed the position. It does not
 *         wait for the server, a worker or decoding.
 * Errors: FOREBAY_CONFIG: the token belongs to another stream (pipeline, data,
 *         workers' results or seed); forebay_error() says what differs.
 *         FOREBAY_USAGE: it is no token. The error of a stream that failed. */
enum forebay_status forebay_seek(struct forebay *self, const char *token);
/* Check that a token is of this stream, without a change of the position.
 * Blocks: for file I/O, if the token is of other data: forebay_error() says what
 *         changed.
 * Errors: FOREBAY_CONFIG and FOREBAY_USAGE, as forebay_seek(). */
enum forebay_status forebay_check_token(
    struct forebay *self, const char *token);
/* As forebay_seek(), to a step of an epoch.
 * Errors: FOREBAY_USAGE: `step` is not below info.steps_per_epoch, or the epoch
 *         is too large to count its steps. */
enum forebay_status forebay_seek_step(
    struct forebay *self, uint64_t epoch, uint64_t step);

/* Release a batch, in any order, also after forebay_close(); *batch_p becomes
 * NULL. Its memory is reused when every tensor exported from it is deleted too.
 * On a GPU, the reuse also waits for work on one stream: the stream given last,
 * here or later to forebay_batch_await(). It waits for all work that was
 * submitted to that stream before the last release or deletion. If several
 * streams use a batch, make the one given last wait for the others. */
enum forebay_status forebay_release(
    struct forebay_batch **batch_p, void *stream);

/* On a GPU, make `stream` wait for the values too, as forebay_next() does.
 * `stream` becomes the stream given last (see forebay_release()). DLPack's
 * stream numbers (1, 2 or a handle) can be passed unchanged, except -1: then do
 * not call this function.
 * Errors: FOREBAY_SYSTEM. */
enum forebay_status forebay_batch_await(
    struct forebay_batch *batch, void *stream);

/* The epoch of this batch, from 0. */
uint64_t forebay_batch_epoch(const struct forebay_batch *batch);
/* The step of this batch in its epoch, from 0. */
uint64_t forebay_batch_step(const struct forebay_batch *batch);

/* Rows of this rank in this batch; can be 0 with `last: short`. */
uint32_t forebay_batch_rows(const struct forebay_batch *batch);
/* The index in the global batch of row 0 of this batch. */
uint32_t forebay_batch_first_row(const struct forebay_batch *batch);

/* Text that resumes right after this batch, on any rank; borrowed. */
const char *forebay_batch_token(const struct forebay_batch *batch);

/* For each row, the number of the delivered sample; borrowed. For a substituted
 * row it is the number of the substitute. */
const uint64_t *forebay_batch_samples(const struct forebay_batch *batch);
/* For each row, 1, or 0 for a padding row of `last: pad`; borrowed. */
const uint8_t *forebay_batch_valid(const struct forebay_batch *batch);

/* A row whose own sample was refused by its decoder or by an op. */
struct forebay_substitution {
    uint32_t    row;        /* in this rank's batch */
    uint64_t    sample;     /* number of the refused sample */
    uint64_t    substitute; /* number of the sample delivered instead */
    const char *cause;      /* one line; borrowed from the batch */
};

/* The number of substituted rows. */
uint32_t forebay_batch_n_substitutions(const struct forebay_batch *batch);
/* Substitution i, borrowed; NULL when i is out of range. */
const struct forebay_substitution *forebay_batch_substitution(
    const struct forebay_batch *batch, uint32_t i);

/* XXH3-128 digests of the rows, rows x 16 bytes, borrowed; NULL without
 * options.digests. */
const uint8_t *forebay_batch_sample_digests(const struct forebay_batch *batch);
/* XXH3-128 digest of the step, 16 bytes, borrowed; NULL without
 * options.digests. */
const uint8_t *forebay_batch_digest(const struct forebay_batch *batch);

/* ---- tensors ------------------------------------------------------------- */

/* The number of tensors. They are in byte order of the fields' names. The
 * further tensors of a ragged or sparse field, such as NAME.lengths, follow its
 * first. With `last: pad` a bool field "valid" of shape [rows] is last. */
uint32_t forebay_batch_n_fields(const struct forebay_batch *batch);
/* The name of tensor i, borrowed; NULL when i is out of range. */
const char *forebay_batch_field_name(
    const struct forebay_batch *batch, uint32_t i);

/* The index of the tensor called `name`, or -1. */
int32_t forebay_batch_field(
    const struct forebay_batch *batch, const char *name);

/* Tensor i, borrowed until the batch is released; NULL when i is out of range.
 * Its strides are always set. The caller may overwrite the values. */
const DLTensor *forebay_batch_tensor(
    const struct forebay_batch *batch, uint32_t i);

/* The shortest and the longest row of tensor i, in entries, if it is the first
 * tensor of a field whose rows vary in length; both 0 for a batch of no rows.
 * Errors: FOREBAY_USAGE for another tensor. */
enum forebay_status forebay_batch_row_lengths(const struct forebay_batch *batch,
    uint32_t i, uint32_t *shortest, uint32_t *longest);

/* Export tensor i as a DLPack tensor with its own lifetime.
 *
 * max_major: the newest major version of DLPack that the consumer accepts.
 * Ownership: *out is the caller's and keeps the memory, also after release and
 *            close, until its deleter is called (from any thread). On a GPU the
 *            memory is reused after all work that, when the deleter is called,
 *            is on the stream given last to the batch. So give a stream that is
 *            the same on every thread, not cudaStreamPerThread.
 * Errors:    FOREBAY_USAGE when i is out of range or max_major is 0; for 0
 *            call forebay_batch_export_legacy(). */
enum forebay_status forebay_batch_export(const struct forebay_batch *batch,
    uint32_t i, uint32_t max_major, DLManagedTensorVersioned **out);
/* Like forebay_batch_export(), but in the form before version 1.0 of DLPack. */
enum forebay_status forebay_batch_export_legacy(
    const struct forebay_batch *batch, uint32_t i, DLManagedTensor **out);

/* ---- statistics ---------------------------------------------------------- */

enum { FOREBAY_MAX_STAGES = 16 };

/* The busy time of one stage, summed over threads and, for a worker's stages,
 * over the batches delivered. */
struct forebay_stage {
    char    name[24]; /* "worker.transform", "client.expand", ... */
    int64_t busy_ns;
};

struct forebay_stats {
    size_t   struct_size;
    uint64_t steps;      /* delivered */
    uint64_t images;     /* samples delivered: rows without padding */
    uint64_t raw_bytes;  /* of delivered batches, before expansion */
    uint64_t wire_bytes; /* received in chunks, including dropped ones */
    int64_t  wait_ns;    /* spent in forebay_next() waiting for a batch */

    uint64_t hedges;            /* second requests, for slow batches */
    uint64_t rerequests;        /* repeated: LOST, suspect worker, reconnect */
    uint64_t late_chunks;       /* received for requests that were given up */
    uint64_t late_hedge_chunks; /* received in the slower answer of a hedge */
    uint64_t checksum_failures;
    uint64_t protocol_errors; /* messages refused for other causes */
    uint64_t substituted;     /* rows delivered with a substitute */
    uint64_t lost;            /* LOST answers: a worker dropped the request */
    uint64_t busy;            /* BUSY answers: a worker has no capacity now */
    uint64_t suspects;        /* workers that fell silent */
    uint64_t reconnects;
    uint64_t overflow_batches; /* batches in memory beyond the usual slots */

    uint32_t workers_known;
    uint32_t workers_in_use;
    uint32_t workers_left_aside; /* not used: other data or fingerprint */
    uint32_t batches_held;       /* delivered, not released */
    uint64_t held_bytes;         /* of these batches */

    uint32_t             n_stages;
    struct forebay_stage stages[FOREBAY_MAX_STAGES];

    uint64_t audits;         /* steps whose two answers were compared */
    uint64_t audits_skipped; /* due, but no second answer arrived in time */

    uint32_t batches_ready; /* received in full, not taken yet */
};

/* Fill `out`; the caller sets its struct_size first.
 * Errors: FOREBAY_USAGE when struct_size is too small. */
enum forebay_status forebay_stats(
    const struct forebay *self, struct forebay_stats *out);

/* The stream's digest so far: XXH3-128 over the digests of the steps delivered
 * by this stream, in order.
 * Errors: FOREBAY_USAGE without options.digests. */
enum forebay_status forebay_stream_digest(
    const struct forebay *self, uint8_t out[16]);

#ifdef __cplusplus
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
}
#endif

#endif
