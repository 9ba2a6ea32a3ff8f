/* forebay.h - a stream of training batches, made by workers elsewhere.
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
 * Batches come in order, each exactly once, and are the same whichever
 * workers made them. Every batch carries the token to resume right after it.
 *
 * Threads: unless a call says otherwise, it may come from any thread, also at
 * the same time as others on the same object. forebay_close() alone must come
 * when no other call on that stream is under way.
 * Fork: a child process may not use what its parent opened: calls on a stream,
 * and those that release or export a batch, answer FOREBAY_FORKED (or NULL)
 * there and touch nothing. What a batch holds can be read.
 * Pointers: NULL only where a call says so; a NULL stream or batch behind
 * self_p or batch_p is passed over.
 * Compatibility: structs that a caller fills or receives begin with
 * struct_size; a library newer or older than the caller reads or writes only
 * what both know, and refuses an option it does not know unless it is zero. */
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
#ifdef __GNUC__ /* functions with a struct's name hide its constructor */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#endif

struct forebay;       /* an open stream */
struct forebay_batch; /* one batch of it */

enum forebay_status {
    FOREBAY_OK      = 0,
    FOREBAY_END     = 1, /* the stream's end, not an error */
    FOREBAY_TIMEOUT = 2, /* nothing yet; call again */
    FOREBAY_USAGE   = 3, /* the call or an option is not allowed */
    FOREBAY_CONFIG  = 4, /* pipeline, token, job or data do not fit together */
    FOREBAY_DATA    = 5, /* a sample or shard cannot be delivered */
    FOREBAY_FULL    = 6, /* the caller holds too many batches */
    FOREBAY_FORKED  = 7, /* a child process used its parent's stream */
    FOREBAY_SYSTEM  = 8, /* the operating system refused something */
    FOREBAY_INTERRUPTED = 9 /* forebay_open() was given up by its caller */
};

/* Static text, never NULL. */
const char *forebay_status_text(enum forebay_status status);

/* The library's version, "1.2.3". */
const char *forebay_version(void);

/* ---- log ----------------------------------------------------------------- */

enum forebay_log_level {
    FOREBAY_LOG_ERROR = 0, /* what ends a stream */
    FOREBAY_LOG_WARN  = 1, /* workers lost or left aside, data refused */
    FOREBAY_LOG_INFO  = 2, /* workers found, jobs joined */
    FOREBAY_LOG_DEBUG = 3  /* single messages */
};

/* What the library logs of all streams of this process, up to the level `most`,
 * goes to `log` instead of standard error; with `log` NULL, as before the first
 * call with FOREBAY_LOG_WARN, to standard error. A level that FOREBAY_LOG of
 * the environment names (error, warn, info, debug) counts instead of `most`.
 *
 * line:   "WORD text", where WORD is upper-case and stays the same; no time,
 *         no newline, at most 1023 bytes; borrowed for the call. Of one word at
 *         most 100 come in 10 s, errors and debug lines apart; the next says
 *         how many were left out.
 * Thread: whichever has something to say, a caller's or ours; several at the
 *         same time. No lock of a stream is held, but batches may wait for the
 *         thread: return soon.
 * Inside: `log` calls nothing of forebay_*, and leaves by returning only.
 * After:  once this call has returned, nobody is in the `log` set before, nor
 *         will be: it waits for those who are. So hold no lock that it
 *         takes. */
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
    FOREBAY_DTYPE_BOOL     = 9 /* of bits */
};

enum forebay_layout { /* of images, and of arrays of three dimensions */
    FOREBAY_LAYOUT_PIPELINE      = 0,
    FOREBAY_LAYOUT_HWC           = 1, /* shape n, h, w, c */
    FOREBAY_LAYOUT_CHW           = 2, /* shape n, c, h, w */
    FOREBAY_LAYOUT_CHANNELS_LAST = 3  /* shape n, c, h, w over HWC memory */
};

enum forebay_as { /* of fields whose rows vary in length, or are sparse */
    FOREBAY_AS_PIPELINE = 0,
    FOREBAY_AS_PADDED   = 1, /* NAME [rows, n, ...], NAME.lengths [rows] */
    FOREBAY_AS_RAGGED   = 2, /* NAME [all, ...], NAME.offsets [rows + 1] */
    /* Of sparse fields: */
    FOREBAY_AS_DENSE = 3, /* NAME [rows, ...] */
    FOREBAY_AS_CSR   = 4, /* NAME [all], NAME.offsets [rows + 1],
                             NAME.indices [all] */
    FOREBAY_AS_COO   = 5, /* NAME [all], NAME.indices [1 + dimensions, all] */
    /* Of lengths of documents (from: documents), with L tokens in a row: */
    FOREBAY_AS_CU_SEQLENS = 6, /* NAME [documents of the batch + 1] */
    FOREBAY_AS_POSITIONS  = 7, /* NAME [rows, L] */
    FOREBAY_AS_MASK       = 8  /* NAME [rows, L] */
};

enum forebay_pad_to { /* the n of padded ones */
    FOREBAY_PAD_TO_PIPELINE = 0,
    FOREBAY_PAD_TO_MAX      = 1, /* max_length: the same in every batch */
    FOREBAY_PAD_TO_LONGEST  = 2  /* the longest row of the batch */
};

/* Another form for one field than the pipeline file says. Begin with
 * forebay_output(): what is left at 0 is as the pipeline says. An array of
 * them has the stride of its first element's struct_size. */
struct forebay_output {
    size_t              struct_size;
    const char         *field;
    enum forebay_dtype  dtype;
    enum forebay_layout layout;
    enum forebay_as     as;
    enum forebay_pad_to pad_to;
    enum forebay_dtype  offsets; /* I32 or I64; of csr indices too */
    bool                has_pad;
    double              pad; /* with has_pad: what rows are padded with */
};

static inline struct forebay_output forebay_output(const char *field)
{
    struct forebay_output o;
    memset(&o, 0, sizeof(o));
    o.struct_size = sizeof(o);
    o.field       = field;
    return o;
}

/* A plain path of the pipeline below `directory` is asked for as "name:rest";
 * the workers were started with the same root (--data name=DIRECTORY). */
struct forebay_root {
    const char *name;
    const char *directory;
};

/* Zero means the default everywhere. Strings and arrays are borrowed for the
 * call of forebay_open() only. */
struct forebay_options {
    size_t struct_size;

    const char *server;        /* "tcp://HOST:PORT" or "HOST:PORT" */
    const char *pipeline_path; /* either the file, */
    const char *pipeline_text; /* or its text */
    const char *split;         /* may be NULL when there is only one */

    const char *job;   /* required when world > 1; default: random */
    uint32_t    rank;  /* 0..world-1 */
    uint32_t    world; /* 0: 1 */

    uint64_t    seed; /* with has_seed; default: the pipeline's */
    bool        has_seed;
    const char *token;  /* resume right after the batch that carried it */
    uint64_t    steps;  /* end before this step, counted from epoch 0 step 0 */
    uint64_t    epochs; /* end before this epoch; the first reached counts */

    const char *const           *fields; /* only these; NULL: all */
    size_t                       n_fields;
    const struct forebay_output *outputs;
    size_t                       n_outputs;
    const struct forebay_root   *roots;
    size_t                       n_roots;

    uint64_t window_bytes;    /* asked for but not delivered; 256 MiB */
    uint32_t window_batches;  /* 16 */
    uint64_t max_held_bytes;  /* delivered, not released; 1 GiB */
    uint32_t decode_threads;  /* 0: by the cores, at most 4 */
    int64_t  open_timeout_ns; /* 60 s; scanning a large source counts */

    bool digests;        /* digests of samples, steps and the stream */
    bool verify_decoded; /* hash decoded bytes too, not only payloads */

    const char *device; /* "host" (the default), "cuda", "cuda:N"; "auto": a
                           GPU if there is one that can be used, else host */

    /* Called on the thread that is in forebay_open(), while workers look at
     * a source for the first time: shards done of shards in all. */
    void (*on_scan)(void *arg, uint64_t done, uint64_t total);
    void *on_scan_arg;

    /* Every audit-th step from epoch 0 step 0 is asked of a second worker too,
     * and fails the stream where the two give different values. 0: none. */
    uint64_t audit;

    /* Called on the thread that is in forebay_open(), about ten times a
     * second while it waits: true ends it with FOREBAY_INTERRUPTED. For
     * Ctrl-C: a signal handler sets a flag, this looks at it. */
    bool (*give_up)(void *arg);
    void *give_up_arg;

    /* On a GPU. fixed_outputs: all batches have the same addresses, for graphs
     * that were captured with them; one batch at a time is handed out, and
     * forebay_next() makes its values on the stream it is given. allocate:
     * tensors lie in memory of the caller's, `bytes` on `device` that begin at
     * a multiple of 256; NULL where there are none. It is asked in
     * forebay_open(), and when more batches are held than usual; deallocate
     * takes back when those are released, and at the end. Both may be called
     * on any thread; of forebay_* they may call forebay_stats() alone, and
     * deallocate none, for it also comes while the stream is closed, or after.
     * `stream` is one of ours (a cudaStream_t), whose order holds, as for
     * cudaMallocAsync() and cudaFreeAsync(): memory is used after what is on
     * it, and given back after all that used it. (Where a call of CUDA fails
     * so that nobody can tell when that is, which ends the stream, it is not
     * given back.) */
    bool fixed_outputs;
    void *(*allocate)(void *arg, size_t bytes, int32_t device, void *stream);
    void (*deallocate)(void *arg, void *memory, void *stream);
    void *allocate_arg;
};

/* Options with every default. */
static inline struct forebay_options forebay_options(void)
{
    struct forebay_options o;
    memset(&o, 0, sizeof(o));
    o.struct_size = sizeof(o);
    return o;
}

/* Join the job at the server, find workers, agree on the data.
 *
 * Ownership: *out is the caller's, for forebay_close(); NULL on failure.
 * Blocks:    until workers have opened the source, at most open_timeout_ns.
 * Errors:    FOREBAY_USAGE, FOREBAY_CONFIG, FOREBAY_TIMEOUT (no server, no
 *            worker, or still scanning), FOREBAY_INTERRUPTED (give_up
 *            said so), FOREBAY_SYSTEM; `error` (may be
 *            NULL) then says in one line what is wrong and what would be
 *            right, cut to `error_size` with its NUL. */
enum forebay_status forebay_open(const struct forebay_options *options,
    char *error, size_t error_size, struct forebay **out);

/* Leave the job, stop the threads and forget the stream; *self_p becomes NULL.
 * Batches not yet released stay usable, and are released as ever. In a forked
 * child it only clears the pointer. */
void forebay_close(struct forebay **self_p);

/* ---- what was opened ----------------------------------------------------- */

struct forebay_info {
    size_t   struct_size;
    uint64_t samples;         /* of the data set */
    uint64_t steps_per_epoch; /* the same for every rank */
    uint32_t global_batch;    /* rows of a global batch */
    uint32_t n_fields;        /* tensors of a batch, `valid` included, and
                                 those like NAME.lengths */
    uint64_t seed;
    uint64_t first_epoch; /* of the first batch of this stream */
    uint64_t first_step;
    uint64_t end_step;           /* from epoch 0 step 0; UINT64_MAX: none */
    char     content_digest[65]; /* hex */
    char     data_digest[65];    /* hex */
    char     fingerprint[65];    /* hex */
    char     job[256];
};

enum forebay_status forebay_info(
    const struct forebay *self, struct forebay_info *out);

/* What went wrong last on this stream, one line; "" before, and at its end. It
 * is the calling thread's copy: valid until this thread asks again. */
const char *forebay_error(const struct forebay *self);

/* ---- batches ------------------------------------------------------------- */

/* The next batch in order.
 *
 * timeout_ns: < 0 waits for ever, 0 only looks.
 * stream:     on a GPU, the consumer's cudaStream_t: what it is told to do
 *             after this call sees the values. NULL is the legacy default
 *             stream of the GPU that the batch lies on, 1 too; 2 is the calling
 *             thread's, of the GPU that it has chosen. Not looked at on the
 *             host.
 * Ownership:  *out is the caller's, for forebay_release(); NULL otherwise.
 * Blocks:     at most timeout_ns.
 * Errors:     FOREBAY_END after the last batch; FOREBAY_TIMEOUT, where
 *             forebay_error() says what it waits for (no worker there, ...);
 *             FOREBAY_FULL when max_held_bytes are held, or there is no memory
 *             for more than are held, or with fixed_outputs one is: release,
 *             call again; FOREBAY_DATA, FOREBAY_CONFIG, FOREBAY_SYSTEM (memory,
 *             the GPU): the stream has failed for good. */
enum forebay_status forebay_next(struct forebay *self, int64_t timeout_ns,
    void *stream, struct forebay_batch **out);

/* Give a batch back, in any order, also after forebay_close(); *batch_p
 * becomes NULL. Its memory is reused once every tensor exported from it is
 * deleted too, and, on a GPU, once the stream given last (here, or after it to
 * forebay_batch_await()) has passed the point where the last of them went. If
 * several streams use a batch, that one must wait for the others first. */
enum forebay_status forebay_release(
    struct forebay_batch **batch_p, void *stream);

/* On a GPU, have another stream wait for the values too, as forebay_next() did;
 * it counts as the stream given last. DLPack's stream numbers are streams as
 * they are (1, 2, or a handle), but for -1: then leave this call out.
 * Errors: FOREBAY_SYSTEM. */
enum forebay_status forebay_batch_await(
    struct forebay_batch *batch, void *stream);

uint64_t forebay_batch_epoch(const struct forebay_batch *batch);
uint64_t forebay_batch_step(const struct forebay_batch *batch);

/* Rows of this rank in this batch (0 is possible with `last: short`), and
 * the row of the global batch that its row 0 is. */
uint32_t forebay_batch_rows(const struct forebay_batch *batch);
uint32_t forebay_batch_first_row(const struct forebay_batch *batch);

/* Text that resumes right after this batch, on any rank; borrowed. */
const char *forebay_batch_token(const struct forebay_batch *batch);

/* Per row: the number of the sample delivered (the substitute's where one
 * stands in); 1 or 0: not a filling row of `last: pad`. Borrowed. */
const uint64_t *forebay_batch_samples(const struct forebay_batch *batch);
const uint8_t  *forebay_batch_valid(const struct forebay_batch *batch);

/* A row whose own sample its decoder or an op refused. */
struct forebay_substitution {
    uint32_t    row;        /* of this rank's batch */
    uint64_t    sample;     /* refused */
    uint64_t    substitute; /* delivered in its place */
    const char *cause;      /* one line; borrowed from the batch */
};

uint32_t forebay_batch_n_substitutions(const struct forebay_batch *batch);
/* Element i < n; borrowed. NULL when there is none. */
const struct forebay_substitution *forebay_batch_substitution(
    const struct forebay_batch *batch, uint32_t i);

/* XXH3-128 digests of 16 bytes, only with options.digests, else NULL: of each
 * row (rows x 16 bytes), and of the step. Borrowed. */
const uint8_t *forebay_batch_sample_digests(const struct forebay_batch *batch);
const uint8_t *forebay_batch_digest(const struct forebay_batch *batch);

/* ---- tensors ------------------------------------------------------------- */

/* Fields in byte order of their names. A field whose rows vary in length has
 * further tensors, such as NAME.lengths, which follow it. With `last: pad` a
 * bool field "valid" of shape [rows] is the last. */
uint32_t    forebay_batch_n_fields(const struct forebay_batch *batch);
const char *forebay_batch_field_name(
    const struct forebay_batch *batch, uint32_t i);

/* The position of a field, or -1. */
int32_t forebay_batch_field(
    const struct forebay_batch *batch, const char *name);

/* The tensor, borrowed until the batch is released. Strides are always set.
 * The caller may overwrite the values. NULL when there is no field i. */
const DLTensor *forebay_batch_tensor(
    const struct forebay_batch *batch, uint32_t i);

/* The same as a DLPack tensor of its own life: it keeps the memory until its
 * deleter is called (from any thread), past release and close. On a GPU the
 * deleter takes the memory back after what is then on the stream given last
 * to the batch: give one that is the same on every thread, not
 * cudaStreamPerThread.
 * `max_major`: the newest major version of DLPack the consumer takes.
 * Errors: FOREBAY_USAGE, also when max_major is 0: export the legacy one. */
enum forebay_status forebay_batch_export(const struct forebay_batch *batch,
    uint32_t i, uint32_t max_major, DLManagedTensorVersioned **out);
enum forebay_status forebay_batch_export_legacy(
    const struct forebay_batch *batch, uint32_t i, DLManagedTensor **out);

/* ---- statistics ---------------------------------------------------------- */

enum { FOREBAY_MAX_STAGES = 16 };

/* Where the time went: summed over threads and, for a worker's stages, over
 * the batches delivered. */
struct forebay_stage {
    char    name[24]; /* "worker.transform", "client.expand", ... */
    int64_t busy_ns;
};

struct forebay_stats {
    size_t   struct_size;
    uint64_t steps;      /* delivered */
    uint64_t images;     /* rows delivered */
    uint64_t raw_bytes;  /* delivered batches before expansion */
    uint64_t wire_bytes; /* received in chunks, dropped ones included */
    int64_t  wait_ns;    /* in forebay_next() until a batch was there */

    uint64_t hedges;
    uint64_t rerequests;        /* asked again: lost, suspect, reconnect */
    uint64_t late_chunks;       /* of requests no longer wanted, no hedges */
    uint64_t late_hedge_chunks; /* of the slower answer of a hedge */
    uint64_t checksum_failures;
    uint64_t protocol_errors; /* other messages refused */
    uint64_t substituted;     /* rows */
    uint64_t lost;            /* LOST answers */
    uint64_t busy;            /* BUSY answers */
    uint64_t suspects;        /* workers that fell silent */
    uint64_t reconnects;
    uint64_t overflow_batches; /* beyond the output slots */

    uint32_t workers_known;
    uint32_t workers_in_use;
    uint32_t workers_left_aside; /* of other data or fingerprint */
    uint32_t batches_held;       /* delivered, not released */
    uint64_t held_bytes;

    uint32_t             n_stages;
    struct forebay_stage stages[FOREBAY_MAX_STAGES];

    uint64_t audits;         /* steps of which two answers were compared */
    uint64_t audits_skipped; /* due, but without a second answer in time */
};

/* Fill `out` (its struct_size set by the caller). */
enum forebay_status forebay_stats(
    const struct forebay *self, struct forebay_stats *out);

/* The stream's digest so far: XXH3-128 over the digests of the steps delivered
 * by this stream, in order. Only with options.digests. */
enum forebay_status forebay_stream_digest(
    const struct forebay *self, uint8_t out[16]);

#ifdef __cplusplus
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
}
#endif

#endif
