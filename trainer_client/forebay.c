/* SPDX-License-Identifier: Apache-2.0 */
/* forebay.c - the functions of the public header that take a stream (struct
 * forebay). A parameter `void *stream` is a CUDA stream. */
#include "forebay/forebay.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/process_id.h"
#include "pipeline/yaml.h"
#include "trainer_client/batch/batch_pool.h"
#include "trainer_client/batch/make_batch.h"
#include "trainer_client/batch/ready_queue.h"
#include "trainer_client/receive/receiver.h"
#include "trainer_client/setup/options.h"
#include "trainer_client/setup/setup.h"

#define PUBLIC __attribute__((visibility("default")))

struct forebay {                    /* one stream of batches */
    pid_t                   pid;    /* only this process may use the stream */
    struct fby_tensor      *fields; /* the tensors of every batch */
    uint32_t                n_fields;
    struct fby_setup        setup;
    struct fby_ready_queue *ready_queue;
    struct fby_batch_pool  *batch_pool;
    struct fby_receiver    *receiver;
};

PUBLIC const char *forebay_status_text(enum forebay_status status)
{
    static const char *const text[] = {
        [FOREBAY_OK]      = "ok",
        [FOREBAY_END]     = "the stream has ended",
        [FOREBAY_TIMEOUT] = "nothing yet",
        [FOREBAY_USAGE]   = "the call or an option is not allowed",
        [FOREBAY_CONFIG]  = "pipeline, token, job or data do not fit together",
        [FOREBAY_DATA]    = "a sample or shard cannot be delivered",
        [FOREBAY_FULL]    = "the caller holds too many batches",
        [FOREBAY_FORKED]  = "a child process used its parent's stream",
        [FOREBAY_SYSTEM]  = "the operating system refused something",
        [FOREBAY_INTERRUPTED] = "the caller ended the wait",
    };
    size_t i = (size_t)status;
    return i < sizeof(text) / sizeof(text[0]) ? text[i] : "unknown status";
}

PUBLIC const char *forebay_version(void)
{
    return FBY_VERSION;
}

/* ---- log ----------------------------------------------------------------- */

_Static_assert((int)FOREBAY_LOG_ERROR == (int)FBY_LOG_ERROR &&
                   (int)FOREBAY_LOG_WARN == (int)FBY_LOG_WARN &&
                   (int)FOREBAY_LOG_INFO == (int)FBY_LOG_INFO &&
                   (int)FOREBAY_LOG_DEBUG == (int)FBY_LOG_DEBUG,
    "public and internal levels have the same numbers");

struct log_target { /* the caller's function for log lines */
    void (*log)(void *arg, enum forebay_log_level level, const char *line);
    void *arg;
};

static void forward_line(void *arg, enum fby_log_level level, const char *line)
{
    const struct log_target *target = arg;
    target->log(target->arg, (enum forebay_log_level)level, line);
}

PUBLIC void forebay_set_log(
    void (*log)(void *arg, enum forebay_log_level level, const char *line),
    void *arg, enum forebay_log_level most)
{
    struct log_target *target = NULL;
    if (log != NULL) {
        target  = fby_zalloc(sizeof(*target));
        *target = (struct log_target){log, arg};
    }
    struct log_target *previous = fby_log_redirect(
        (enum fby_log_level)most, target != NULL ? forward_line : NULL, target);
    free(previous);
}

/* ---- structs of the caller ----------------------------------------------- */

/* Copy `source` to the caller's struct, which may be shorter or longer. Both
 * begin with their size, which the caller has set. Members that the library
 * does not know become zero. */
static enum forebay_status copy_sized_struct(
    void *out, const void *source, size_t source_size)
{
    const size_t head     = sizeof(size_t); /* struct_size; not changed */
    size_t       out_size = 0;
    memcpy(&out_size, out, head);
    if (out_size < head) {
        return FOREBAY_USAGE;
    }
    size_t copied = out_size < source_size ? out_size : source_size;
    memset((uint8_t *)out + head, 0, out_size - head);
    memcpy(
        (uint8_t *)out + head, (const uint8_t *)source + head, copied - head);
    return FOREBAY_OK;
}

static struct forebay_failure failure_of(
    enum forebay_status status, const struct fby_error_detail *why)
{
    struct forebay_failure failure = {.status = status};
    snprintf(failure.text, sizeof(failure.text), "%s", why->text);
    return failure;
}

/* ---- open and close ------------------------------------------------------ */

static enum forebay_status status_of(fby_err err)
{
    switch (err) {
    case FBY_OK:
        return FOREBAY_OK;
    case FBY_USAGE:
    case FBY_NOT_FOUND:
        return FOREBAY_USAGE;
    case FBY_SYS:
    case FBY_FULL:
        return FOREBAY_SYSTEM;
    case FBY_TIMEOUT:
    case FBY_AGAIN:
        return FOREBAY_TIMEOUT;
    case FBY_BAD_SAMPLE:
        return FOREBAY_DATA;
    case FBY_STALE:
    case FBY_PROTO:
    case FBY_GONE:
    case FBY_CONFIG:
    case FBY_IO:
        return FOREBAY_CONFIG;
    }
    return FOREBAY_SYSTEM;
}

static bool is_own_process(const struct forebay *self)
{
    return self->pid == fby_process_id();
}

/* Create the upload of batches to the GPU; *out stays NULL without a GPU. */
static fby_err open_upload(const struct fby_setup *setup,
    struct fby_gpu_upload **out, struct fby_error_detail *why)
{
    uint64_t max_outs = setup->max_held_bytes / setup->out_bytes;
    const struct fby_gpu_upload_config config = {
        .cuda        = setup->cuda,
        .device      = setup->gpu,
        .n_arenas    = fby_setup_max_batches(setup) + 1, /* 1: for a hedge */
        .arena_bytes = setup->arena_bytes,
        .work_bytes  = setup->work_bytes,
        .n_outs =
            max_outs < FBY_OUTPUT_SLOTS ? (uint32_t)max_outs : FBY_OUTPUT_SLOTS,
        .out_bytes     = setup->out_bytes,
        .fixed_address = setup->fixed_outputs,
        .caller_memory = setup->caller_memory,
        .memory        = setup->tensor_allocator,
    };
    return setup->cuda != NULL ? fby_gpu_upload_create(&config, out, why)
                               : FBY_OK;
}

/* With device "auto", fall back to the host when the GPU cannot be used. */
static fby_err open_device(struct fby_setup *setup, struct fby_gpu_upload **out,
    struct fby_error_detail *why)
{
    fby_err err = open_upload(setup, out, why);
    if (err != FBY_OK && setup->auto_device) {
        fby_warn("DEVICE-HOST", "the GPU cannot be used: %s", why->text);
        fby_setup_fall_back_to_host(setup);
        return FBY_OK;
    }
    return err;
}

static fby_err open_receiver(struct forebay *self, struct fby_error_detail *why)
{
    const struct fby_setup *setup  = &self->setup;
    struct fby_gpu_upload  *upload = NULL;
    fby_err                 err    = open_device(&self->setup, &upload, why);
    if (err != FBY_OK) {
        return err;
    }
    const struct fby_batch_pool_config config = {
        .device         = setup->device,
        .upload         = upload,
        .out_bytes      = setup->out_bytes,
        .max_rows       = setup->max_rows,
        .ragged         = fby_setup_ragged_bits(setup),
        .max_held_bytes = setup->max_held_bytes,
        .caller_memory  = setup->caller_memory,
    };
    err = fby_batch_pool_create(&config, &self->batch_pool);
    if (err != FBY_OK) {
        return fby_error_set(why, err, "no file descriptor is left");
    }
    const struct fby_receiver_parts parts = {.setup = setup,
        .upload                                     = upload,
        .ready_queue                                = self->ready_queue,
        .batch_pool                                 = self->batch_pool};
    return fby_receiver_create(&parts, &self->receiver, why);
}

/* Create all parts of the stream, and wait until its dataset is chosen. */
static enum forebay_status open_stream(struct forebay *self,
    const struct forebay_options *given, struct fby_error_detail *why)
{
    struct forebay_options options; /* `given`, with defaults */
    int64_t                start_ns = fby_now_ns();
    self->ready_queue               = fby_zalloc(sizeof(*self->ready_queue));
    fby_err err                     = fby_ready_queue_init(self->ready_queue);
    if (err == FBY_OK) {
        err = fby_options_read(given, &options, why);
    }
    if (err == FBY_OK) {
        err = fby_codec_self_test(why);
    }
    if (err == FBY_OK) {
        err = fby_setup_init(&self->setup, &options, why);
    }
    if (err == FBY_OK) {
        err = open_receiver(self, why);
    }
    if (err != FBY_OK) {
        return status_of(err);
    }
    self->fields   = fby_zalloc(FBY_MAX_TENSORS * sizeof(*self->fields));
    self->n_fields = fby_describe_fields(&self->setup, self->fields);
    enum forebay_status status = fby_ready_queue_wait_open(self->ready_queue,
        &options, start_ns + self->setup.open_timeout_ns, why);
    if (status == FOREBAY_OK && self->setup.rank == 0) {
        fby_receiver_store_shard_list(self->receiver);
    }
    if (status == FOREBAY_TIMEOUT) {
        (void)fby_error_prefix(why, FBY_TIMEOUT, "not open after %.1f s",
            (double)self->setup.open_timeout_ns / (double)FBY_NS_PER_S);
    }
    return status;
}

/* Fill options->failure, if the caller wants it and its version knows it. */
static void report_open_failure(const struct forebay_options *options,
    enum forebay_status status, const struct fby_error_detail *why)
{
    const size_t end =
        offsetof(struct forebay_options, failure) + sizeof(void *);
    if (options->struct_size < end || options->failure == NULL) {
        return;
    }
    struct forebay_failure failure = failure_of(status, why);
    struct fby_source_pos  pos;
    const char *file = options->pipeline_path != NULL ? options->pipeline_path
                                                      : FBY_PIPELINE_TEXT_NAME;
    if (fby_yaml_error_pos(why, file, &pos)) {
        snprintf(failure.file, sizeof(failure.file), "%s", file);
        failure.line   = (uint32_t)pos.line;
        failure.column = (uint32_t)pos.column;
    }
    (void)copy_sized_struct(options->failure, &failure, sizeof(failure));
}

PUBLIC enum forebay_status forebay_open(const struct forebay_options *options,
    char *error, size_t error_size, struct forebay **out)
{
    struct fby_error_detail why  = {""};
    struct forebay         *self = fby_zalloc(sizeof(*self));
    self->pid                    = fby_process_id();
    enum forebay_status status   = open_stream(self, options, &why);
    if (status != FOREBAY_OK) {
        forebay_close(&self); /* sets self to NULL */
    }
    *out = self;
    if (status != FOREBAY_OK && why.text[0] == '\0') {
        (void)fby_error_set(&why, FBY_SYS, "%s", forebay_status_text(status));
    }
    if (error != NULL && error_size > 0) {
        snprintf(error, error_size, "%s", why.text);
    }
    report_open_failure(options, status, &why);
    return status;
}

PUBLIC void forebay_close(struct forebay **self_p)
{
    struct forebay *self = *self_p;
    *self_p              = NULL;
    if (self == NULL || !is_own_process(self)) {
        return; /* a forked child leaves its parent's stream as it is */
    }
    fby_receiver_destroy(&self->receiver);
    fby_ready_queue_fini(self->ready_queue);
    free(self->ready_queue);
    fby_batch_pool_release(&self->batch_pool);
    free(self->fields);
    fby_setup_fini(&self->setup);
    free(self);
}

/* ---- information and statistics ------------------------------------------ */

PUBLIC enum forebay_status forebay_info(
    const struct forebay *self, struct forebay_info *out)
{
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    pthread_mutex_lock(&self->ready_queue->lock);
    enum forebay_status status = copy_sized_struct(
        out, &self->ready_queue->info, sizeof(self->ready_queue->info));
    pthread_mutex_unlock(&self->ready_queue->lock);
    return status;
}

PUBLIC const char *forebay_error(const struct forebay *self)
{
    static _Thread_local struct fby_call_error copy;
    if (!is_own_process(self)) {
        return forebay_status_text(FOREBAY_FORKED);
    }
    fby_ready_queue_last_error(self->ready_queue, &copy);
    return copy.why.text;
}

PUBLIC enum forebay_status forebay_failure(
    const struct forebay *self, struct forebay_failure *out)
{
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    struct fby_ready_queue *queue = self->ready_queue;
    struct fby_call_error   error;
    fby_ready_queue_last_error(queue, &error);
    struct forebay_failure failure = failure_of(error.status, &error.why);
    if (failure.status == FOREBAY_DATA) {
        pthread_mutex_lock(&queue->lock); /* bad_sample never changes again */
        const struct fby_failed_sample *bad = &queue->bad_sample;
        failure.has_sample                  = bad->has_sample;
        failure.sample                      = bad->sample;
        failure.offset                      = bad->offset;
        memcpy(failure.shard, bad->shard, sizeof(failure.shard));
        memcpy(failure.worker, bad->worker, sizeof(failure.worker));
        pthread_mutex_unlock(&queue->lock);
    }
    return copy_sized_struct(out, &failure, sizeof(failure));
}

_Static_assert((int)FOREBAY_LAYOUT_HW == (int)FBY_LAYOUT_HW &&
                   (int)FOREBAY_AS_MASK == (int)FBY_AS_MASK,
    "public and internal layouts and forms have the same numbers");

/* Describe a dense row of field `i` of the setup, which is sparse. */
static void set_dense_shape(
    struct forebay_field *field, const struct fby_setup *setup, uint32_t i)
{
    const struct fby_field_content *content =
        &setup->split->content.fields[setup->content_index[i]];
    const struct fby_shape *shape = &content->as.sparse.shape;
    field->n_dense_dims           = (int32_t)shape->n_dims;
    for (uint32_t d = 0; d < shape->n_dims; d++) {
        field->dense_shape[d] = shape->dims[d];
    }
}

PUBLIC enum forebay_status forebay_field(
    const struct forebay *self, uint32_t i, struct forebay_field *out)
{
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    if (i >= self->n_fields) {
        return FOREBAY_USAGE;
    }
    const struct fby_tensor *tensor = &self->fields[i];
    struct forebay_field     field  = {
             .name   = tensor->name,
             .source = "",
             .dtype  = tensor->view.dtype,
             .n_dims = tensor->view.ndim,
    };
    memcpy(field.shape, tensor->shape, sizeof(tensor->shape));
    if (tensor->field != FBY_NO_FIELD) {
        const struct fby_setup     *setup = &self->setup;
        const struct fby_expansion *plan  = &setup->expansions[tensor->field];
        const struct fby_field_delivery *delivery =
            &setup->split->delivery.fields[setup->content_index[tensor->field]];
        bool has_layout =
            tensor->is_first &&
            (tensor->view.ndim == 4 || plan->layout == FBY_LAYOUT_HW);
        field.source = plan->name;
        field.layout = has_layout ? (enum forebay_layout)plan->layout : 0;
        field.as =
            fby_expansion_is_ragged(plan) ? (enum forebay_as)delivery->as : 0;
        if (plan->index_bytes > 0) {
            set_dense_shape(&field, setup, tensor->field);
        }
    }
    return copy_sized_struct(out, &field, sizeof(field));
}

PUBLIC const char *forebay_class_name(const struct forebay *self, uint32_t id)
{
    return is_own_process(self) ? fby_receiver_class_name(self->receiver, id)
                                : NULL;
}

PUBLIC enum forebay_status forebay_stats(
    const struct forebay *self, struct forebay_stats *out)
{
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    struct fby_batch_pool_counts counts =
        fby_batch_pool_counts(self->batch_pool);
    pthread_mutex_lock(&self->ready_queue->lock);
    struct forebay_stats stats    = self->ready_queue->stats;
    uint32_t             n_queued = self->ready_queue->n_batches;
    pthread_mutex_unlock(&self->ready_queue->lock);
    stats.batches_held     = counts.held;
    stats.held_bytes       = counts.held * self->setup.out_bytes;
    stats.overflow_batches = counts.overflow;
    stats.batches_ready += n_queued;
    return copy_sized_struct(out, &stats, sizeof(stats));
}

PUBLIC enum forebay_status forebay_stream_digest(
    const struct forebay *self, uint8_t out[16])
{
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    if (!self->setup.digests) {
        return FOREBAY_USAGE;
    }
    pthread_mutex_lock(&self->ready_queue->lock);
    struct fby_checksum sum = fby_checksum_end(&self->ready_queue->digest);
    pthread_mutex_unlock(&self->ready_queue->lock);
    memcpy(out, sum.bytes, sizeof(sum.bytes));
    return FOREBAY_OK;
}

PUBLIC enum forebay_status forebay_interrupt(struct forebay *self, bool on)
{
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    fby_ready_queue_interrupt(self->ready_queue, on);
    return FOREBAY_OK;
}

PUBLIC enum forebay_status forebay_seek_step(
    struct forebay *self, uint64_t epoch, uint64_t step)
{
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    return fby_ready_queue_seek(
        self->ready_queue, (struct fby_stream_position){epoch, step});
}

/* Compare a token with that of the stream's first batch, which differs only in
 * the position. Errors: FBY_CONFIG. */
static fby_err check_same_stream(const struct fby_token *token,
    const struct fby_token *own, struct fby_error_detail *why)
{
    const struct {
        const char       *what;
        struct fby_digest theirs, ours;
    } digests[] = {
        {"pipeline", token->content, own->content},
        {"data", token->data, own->data},
        {"fingerprint of the workers", token->fingerprint, own->fingerprint},
    };
    for (size_t i = 0; i < sizeof(digests) / sizeof(digests[0]); i++) {
        char theirs[17]; /* the first 8 bytes of the digest */
        char ours[17];
        if (!fby_digest_equal(&digests[i].theirs, &digests[i].ours)) {
            return fby_error_set(why, FBY_CONFIG,
                "the token belongs to another stream: its %s is %s, this "
                "stream's is %s",
                digests[i].what, fby_hex(digests[i].theirs.bytes, 8, theirs),
                fby_hex(digests[i].ours.bytes, 8, ours));
        }
    }
    if (token->seed != own->seed) {
        return fby_error_set(why, FBY_CONFIG,
            "the token belongs to another stream: its seed is %llu, this "
            "stream's is %llu",
            (unsigned long long)token->seed, (unsigned long long)own->seed);
    }
    return FBY_OK;
}

static fby_err read_token(struct forebay *self, const char *text,
    struct fby_token *out, struct fby_error_detail *why)
{
    struct fby_token own;
    FBY_TRY(fby_token_decode(self->ready_queue->info.first_token, &own, why));
    FBY_TRY(fby_token_decode(text, out, why));
    fby_err err = check_same_stream(out, &own, why);
    if (fby_digest_equal(&out->content, &own.content) &&
        !fby_digest_equal(&out->data, &own.data)) {
        fby_receiver_describe_data_change(self->receiver, &out->data, why);
    }
    return err;
}

/* Read a token of this stream. An error is that of the calling thread. */
static enum forebay_status check_token(
    struct forebay *self, const char *text, struct fby_token *out)
{
    struct fby_error_detail why = {""};
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    fby_err err = read_token(self, text, out, &why);
    return err == FBY_OK ? FOREBAY_OK
                         : fby_ready_queue_set_error(
                               self->ready_queue, status_of(err), &why);
}

PUBLIC enum forebay_status forebay_check_token(
    struct forebay *self, const char *token)
{
    struct fby_token read;
    return check_token(self, token, &read);
}

PUBLIC enum forebay_status forebay_seek(struct forebay *self, const char *token)
{
    struct fby_token    to     = {0};
    enum forebay_status status = check_token(self, token, &to);
    return status == FOREBAY_OK ? forebay_seek_step(self, to.epoch, to.step)
                                : status;
}

/* Record a wrong use of the stream. Returns FOREBAY_USAGE. */
static enum forebay_status refuse_usage(struct forebay *self, const char *text)
{
    struct fby_error_detail why = {""};
    (void)fby_error_set(&why, FBY_USAGE, "%s", text);
    return fby_ready_queue_set_error(self->ready_queue, FOREBAY_USAGE, &why);
}

/* The caller has checked that this process may use the stream. */
static enum forebay_status take_next(struct forebay *self, int64_t timeout_ns,
    const struct fby_consumer *consumer, struct forebay_batch **out)
{
    const struct fby_cuda *cuda = self->setup.cuda;
    if (cuda != NULL) {
        cuda->begin_range("forebay next");
    }
    enum forebay_status status = fby_ready_queue_next(
        self->ready_queue, self->batch_pool, timeout_ns, consumer, out);
    if (cuda != NULL) {
        cuda->end_range();
    }
    return status;
}

PUBLIC enum forebay_status forebay_next(struct forebay *self,
    int64_t timeout_ns, void *stream, struct forebay_batch **out)
{
    const struct fby_consumer consumer = {.stream = stream};
    *out                               = NULL;
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    if (self->setup.caller_memory) {
        return refuse_usage(
            self, "with caller_memory call forebay_next_into()");
    }
    return take_next(self, timeout_ns, &consumer, out);
}

PUBLIC enum forebay_status forebay_next_into(struct forebay *self,
    int64_t timeout_ns, void *stream, void *memory, struct forebay_batch **out)
{
    const struct fby_consumer consumer = {.stream = stream, .memory = memory};
    *out                               = NULL;
    if (!is_own_process(self)) {
        return FOREBAY_FORKED;
    }
    if (!self->setup.caller_memory) {
        return refuse_usage(
            self, "forebay_next_into() needs a GPU, and options.caller_memory");
    }
    if (memory == NULL) {
        return refuse_usage(self, "forebay_next_into(): memory is NULL");
    }
    return take_next(self, timeout_ns, &consumer, out);
}
