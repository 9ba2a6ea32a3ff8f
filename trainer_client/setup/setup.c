/* SPDX-License-Identifier: Apache-2.0 */
/* setup.c - resolve the options step by step, and plan the tensors' memory. */
#include "trainer_client/setup/setup.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cores.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/user_cache.h"
#include "common/utf8.h"
#include "pipeline/canon.h"
#include "pipeline/device_ops.h"
#include "pipeline/location.h"
#include "pipeline/plan/order.h"
#include "proto/ids.h"
#include "trainer_client/expand/documents.h"
#include "trainer_client/expand/segments.h"
#include "trainer_client/gpu/device_name.h"
#include "trainer_client/setup/options.h"

enum { DEFAULT_DECODE_THREADS = 4, MAX_ROOTS = 256 };

/* ---- pipeline ------------------------------------------------------------ */

static fby_err load_pipeline(const struct forebay_options *o,
    struct fby_pipeline **out, struct fby_error_detail *why)
{
    char folder[FBY_PATH_SIZE];
    if ((o->pipeline_path == NULL) == (o->pipeline_text == NULL)) {
        return fby_error_set(
            why, FBY_USAGE, "give either pipeline_path or pipeline_text");
    }
    if (o->pipeline_path != NULL) {
        return fby_pipeline_load(o->pipeline_path, out, why);
    }
    if (getcwd(folder, sizeof(folder)) == NULL) {
        return fby_error_set(why, FBY_SYS, "no current directory");
    }
    const struct fby_pipeline_text text = {
        .text   = o->pipeline_text,
        .size   = strlen(o->pipeline_text),
        .name   = FBY_PIPELINE_TEXT_NAME,
        .folder = folder,
    };
    return fby_pipeline_parse(&text, out, why);
}

static fby_err resolve_pipeline(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    struct fby_pipeline *pipeline = NULL;
    fby_err              err      = load_pipeline(o, &pipeline, why);
    if (err != FBY_OK) {
        return err;
    }
    err = fby_pipeline_make_split(pipeline, o->split, &self->split, why);
    if (err == FBY_OK) {
        self->seed = o->has_seed ? o->seed : fby_pipeline_seed(pipeline);
        fby_content_encode(&self->split->content, &self->content);
        self->content_digest =
            fby_digest_of(self->content.data, self->content.size);
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

/* Write the options' roots as NAME=DIRECTORY. The caller frees the texts. */
static void write_roots(const struct forebay_options *o, char **texts)
{
    for (size_t i = 0; i < o->n_roots; i++) {
        const struct forebay_root *root = &o->roots[i];
        size_t size = strlen(root->name) + strlen(root->directory) + 2;
        texts[i]    = fby_zalloc(size);
        snprintf(texts[i], size, "%s=%s", root->name, root->directory);
    }
}

/* Express a location as a path below a named root, unless it is one, or "". */
static fby_err find_root(const struct fby_location *location,
    const struct forebay_options *o, struct fby_location *out,
    struct fby_error_detail *why)
{
    char *texts[MAX_ROOTS];
    if (location->pattern[0] == '\0' ||
        fby_location_is_named(location->pattern)) {
        *out = *location;
        return FBY_OK;
    }
    if (o->n_roots > MAX_ROOTS) {
        return fby_error_set(why, FBY_USAGE, "more than %d roots", MAX_ROOTS);
    }
    write_roots(o, texts);
    fby_err err = fby_location_find_root(
        location, (const char *const *)texts, o->n_roots, out, why);
    for (size_t i = 0; i < o->n_roots; i++) {
        free(texts[i]);
    }
    return err;
}

static fby_err resolve_location(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    FBY_TRY(find_root(&self->split->location, o, &self->location, why));
    fby_err err = find_root(&self->split->classes, o, &self->classes, why);
    return err == FBY_OK ? FBY_OK
                         : fby_split_prefix_classes(self->split, err, why);
}

/* ---- rank, job and token ------------------------------------------------- */

static fby_err resolve_rank(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    self->world = o->world == 0 ? 1 : o->world;
    self->rank  = o->rank;
    if (self->rank >= self->world) {
        return fby_error_set(why, FBY_USAGE, "rank %u is not below world %u",
            self->rank, self->world);
    }
    if (self->world > 1 && o->job == NULL) {
        return fby_error_set(
            why, FBY_USAGE, "ranks find each other by their job: set job");
    }
    size_t job_bytes = o->job != NULL ? strlen(o->job) : 0;
    if (o->job != NULL && (job_bytes == 0 || job_bytes > 255 ||
                              !fby_is_utf8(o->job, job_bytes))) {
        return fby_error_set(
            why, FBY_USAGE, "job: a name of 1 to 255 bytes of UTF-8");
    }
    struct fby_id_text id = fby_id_text(fby_id_random()); /* default job */
    snprintf(
        self->job, sizeof(self->job), "%s", o->job != NULL ? o->job : id.text);
    const struct fby_content *content = &self->split->content;
    fby_err                   err =
        fby_order_check_world(content->global_batch, self->world, why);
    return err == FBY_OK ? fby_content_check_world(content, self->world, why)
                         : err;
}

static fby_err resolve_token(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    char token_hex[17]; /* the first 8 bytes of the digest */
    char split_hex[17];
    self->steps  = o->steps;
    self->epochs = o->epochs;
    if (o->token == NULL) {
        return FBY_OK;
    }
    fby_err err = fby_token_decode(o->token, &self->token, why);
    if (err != FBY_OK) {
        return err;
    }
    if (!fby_digest_equal(&self->token.content, &self->content_digest)) {
        return fby_error_set(why, FBY_CONFIG,
            "the token is of content %s, the pipeline's split is %s: use "
            "the file and split that the token was taken from, or start "
            "without a token",
            fby_hex(self->token.content.bytes, 8, token_hex),
            fby_hex(self->content_digest.bytes, 8, split_hex));
    }
    if (o->has_seed && o->seed != self->token.seed) {
        return fby_error_set(why, FBY_USAGE,
            "seed %llu, but the token has seed %llu; leave the seed out",
            (unsigned long long)o->seed, (unsigned long long)self->token.seed);
    }
    if (self->seed != self->token.seed) { /* that of the pipeline file */
        return fby_error_set(why, FBY_CONFIG,
            "the pipeline has seed: %llu, but the token has seed %llu: restore "
            "the seed in the file, or if the run began with another seed than "
            "the file's, give %llu as the seed again",
            (unsigned long long)self->seed,
            (unsigned long long)self->token.seed,
            (unsigned long long)self->token.seed);
    }
    self->has_token = true;
    return FBY_OK;
}

/* ---- fields -------------------------------------------------------------- */

static uint64_t align_up(uint64_t size)
{
    return (size + FBY_SLOT_ALIGN - 1) / FBY_SLOT_ALIGN * FBY_SLOT_ALIGN;
}

/* Append the tensors of field `i` to the output slot. */
static void assign_offsets(struct fby_setup *self, uint32_t i)
{
    const struct fby_expansion *plan = &self->expansions[i];
    self->n_tensors += plan->n_tensors;
    self->out_offset[i] = self->out_bytes;
    if (!fby_expansion_is_ragged(plan)) {
        self->out_bytes += align_up(plan->out_bytes * self->max_rows);
        return;
    }
    for (uint32_t k = 0; k < plan->n_tensors; k++) {
        const struct fby_tensor_plan *tensor = &plan->tensors[k];
        self->tensor_offset[i][k]            = self->out_bytes;
        self->out_bytes += align_up(
            tensor->row_bytes * self->max_rows + tensor->bytes_after_rows);
    }
}

/* Check that offsets of i32 can count the entries of the largest batch. */
static fby_err check_offset_width(
    const struct fby_setup *self, uint32_t i, struct fby_error_detail *why)
{
    const struct fby_expansion *plan        = &self->expansions[i];
    enum fby_type               type        = plan->offset_type;
    uint64_t                    max_entries = plan->max_length; /* of a row */
    if (plan->kind == FBY_EXPAND_CU_SEQLENS) {
        type        = plan->to; /* the tensor itself has offsets, of tokens */
        max_entries = plan->shape.dims[0];
    } else if (plan->kind != FBY_EXPAND_RAGGED &&
               plan->kind != FBY_EXPAND_CSR) {
        return FBY_OK; /* no tensor has offsets */
    }
    max_entries *= self->max_rows;
    if (type != FBY_I32 || max_entries <= INT32_MAX) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "field %s: a batch may have %llu entries, more than offsets of i32 "
        "reach; ask for i64",
        plan->name, (unsigned long long)max_entries);
}

static fby_err plan_expansions(
    struct fby_setup *self, struct fby_error_detail *why)
{
    const struct fby_content  *content  = &self->split->content;
    const struct fby_delivery *delivery = &self->split->delivery;
    self->max_rows                      = content->global_batch / self->world;
    self->expansions = fby_zalloc(self->n_fields * sizeof(*self->expansions));
    for (uint32_t i = 0; i < self->n_fields; i++) {
        uint32_t                        index = self->content_index[i];
        const struct fby_field_content *mixed_by =
            fby_mixing_field_of_label(content, index);
        fby_err err = fby_expansion_init(&self->expansions[i],
            &content->fields[index], &delivery->fields[index], why);
        if (err == FBY_OK && mixed_by != NULL) {
            err = fby_expansion_set_mix(
                &self->expansions[i], &content->fields[index], mixed_by, why);
        }
        if (err == FBY_OK) {
            err = check_offset_width(self, i, why);
        }
        if (err != FBY_OK) {
            return err;
        }
        fby_expansion_set_max_rows(&self->expansions[i], self->max_rows);
        assign_offsets(self, i);
    }
    self->out_offset[self->n_fields] = self->out_bytes;
    self->out_bytes += align_up(self->max_rows); /* `valid`: 1 byte a row */
    return fby_layout_of_content(
        content, self->selected, self->max_rows, &self->layout, why);
}

static fby_err resolve_fields(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    struct fby_split *split  = self->split;
    uint64_t          wanted = 0;
    fby_err err = fby_options_select_fields(o, &split->content, &wanted, why);
    if (err == FBY_OK) {
        err = fby_options_apply_outputs(
            o, &split->content, &split->delivery, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    for (uint32_t i = 0; i < split->content.n_fields; i++) {
        if ((wanted >> i & 1) != 0) {
            self->content_index[self->n_fields++] = i;
        }
    }
    self->selected = self->n_fields < split->content.n_fields ? wanted : 0;
    return plan_expansions(self, why);
}

/* ---- device and limits --------------------------------------------------- */

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
    return value != 0 ? value : fallback;
}

static void assign_work_offsets(struct fby_setup *self)
{
    self->arena_bytes = align_up(self->arena_bytes);
    for (uint32_t i = 0; i < self->n_fields; i++) {
        if (fby_segments_needs_gather(&self->expansions[i])) {
            self->work_offset[i] = self->arena_bytes + self->work_bytes;
            self->work_bytes +=
                align_up(fby_segments_gathered_bytes(&self->expansions[i]) *
                         self->max_rows);
        }
    }
}

/* The most bytes that a field puts into the arena: its chunks as received, a
 * table of documents, or a tensor that the host expanded. */
static uint64_t arena_field_bytes(const struct fby_setup *self, uint32_t i)
{
    const struct fby_expansion *plan = &self->expansions[i];
    if (fby_segments_can_expand(plan)) {
        return self->layout.fields[i].raw_bytes;
    }
    if (fby_segments_accept_table(plan, self->max_rows)) {
        return fby_documents_table_bytes(plan, self->max_rows);
    }
    return plan->out_bytes * self->max_rows + plan->tensors[0].bytes_after_rows;
}

/* The size of the arena: the fields at multiples of FBY_SEGMENT_ALIGN, `valid`,
 * and the list of segments. */
static uint64_t needed_arena_bytes(const struct fby_setup *self)
{
    const struct fby_raw_layout *layout = &self->layout;
    uint64_t                     bytes = align_up(self->max_rows); /* `valid` */
    for (uint32_t i = 0; i < self->n_fields; i++) {
        const struct fby_expansion *plan = &self->expansions[i];
        uint64_t factors = fby_segments_write_factors(plan, NULL);
        bytes += align_up(arena_field_bytes(self, i)) +
                 align_up(factors * sizeof(float)) +
                 (uint64_t)layout->fields[i].n_chunks * FBY_SEGMENT_ALIGN;
        /* the ops plan, and for each row its draws and its sum of greys */
        if (plan->ops_field != NULL) {
            bytes += align_up(sizeof(struct fby_ops_plan)) +
                     align_up(sizeof(struct fby_ops_row) * self->max_rows) +
                     align_up(sizeof(uint64_t) * self->max_rows);
        }
    }
    return bytes + fby_segments_max_bytes(
                       layout, self->expansions, align_up(self->max_rows));
}

static fby_err resolve_device(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    const char             *name    = o->device != NULL ? o->device : "host";
    bool                    is_auto = strcmp(name, "auto") == 0;
    struct fby_error_detail reason  = {""};
    self->device                    = fby_device_named(is_auto ? "host" : name);
    if (self->device != NULL && !is_auto) {
        return FBY_OK;
    }
    fby_err err = fby_gpu_find_device(
        fby_cuda(), is_auto ? "cuda" : name, &self->gpu, &reason);
    if (err != FBY_OK && is_auto) { /* FBY_USAGE: there is no GPU */
        (err == FBY_USAGE ? fby_info : fby_warn)(
            "DEVICE-HOST", "%s", reason.text);
        return FBY_OK;
    }
    if (err != FBY_OK) {
        return fby_error_set(why, err, "%s", reason.text);
    }
    if (o->allocate != NULL && o->deallocate == NULL) {
        return fby_error_set(
            why, FBY_USAGE, "allocate is given, but no deallocate");
    }
    if (o->caller_memory && (o->fixed_outputs || o->allocate != NULL)) {
        return fby_error_set(why, FBY_USAGE,
            "caller_memory excludes fixed_outputs and allocate: leave them "
            "out");
    }
    self->device        = fby_device_named("host"); /* for work on the host */
    self->cuda          = fby_cuda();
    self->auto_device   = is_auto;
    self->fixed_outputs = o->fixed_outputs;
    self->caller_memory = o->caller_memory;
    self->tensor_allocator = (struct fby_gpu_upload_memory){
        .allocate = o->allocate,
        .free     = o->deallocate,
        .arg      = o->allocate_arg,
    };
    return FBY_OK;
}

static fby_err resolve_limits(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    self->window_bytes   = or_default(o->window_bytes, UINT64_C(256) << 20);
    self->window_batches = (uint32_t)or_default(o->window_batches, 16);
    self->max_held_bytes = or_default(o->max_held_bytes, UINT64_C(1) << 30);
    uint32_t cores       = fby_usable_cores();
    self->decode_threads = (uint32_t)or_default(o->decode_threads,
        cores < DEFAULT_DECODE_THREADS ? cores : DEFAULT_DECODE_THREADS);
    self->open_timeout_ns =
        o->open_timeout_ns > 0 ? o->open_timeout_ns : 60 * FBY_NS_PER_S;
    self->open_timeout_ns = /* so that now + timeout cannot overflow */
        fby_earlier_ns(self->open_timeout_ns, INT64_MAX / 2);
    self->digests        = o->digests;
    self->verify_decoded = o->verify_decoded;
    self->audit          = o->audit;
    if (self->decode_threads > 256 || self->window_batches > 4096) {
        return fby_error_set(why, FBY_USAGE,
            "at most 256 decode_threads and 4096 window_batches");
    }
    if (self->layout.raw_bytes > self->window_bytes) {
        return fby_error_set(why, FBY_CONFIG,
            "a batch has %llu bytes, window_bytes is %llu; raise it or make "
            "the batch smaller",
            (unsigned long long)self->layout.raw_bytes,
            (unsigned long long)self->window_bytes);
    }
    if (self->out_bytes > self->max_held_bytes) {
        return fby_error_set(why, FBY_CONFIG,
            "a batch expands to %llu bytes, max_held_bytes is %llu; raise it",
            (unsigned long long)self->out_bytes,
            (unsigned long long)self->max_held_bytes);
    }
    if (self->cuda != NULL) {
        self->arena_bytes = needed_arena_bytes(self);
        assign_work_offsets(self);
    }
    return FBY_OK;
}

void fby_setup_fall_back_to_host(struct fby_setup *self)
{
    self->cuda             = NULL;
    self->arena_bytes      = 0;
    self->work_bytes       = 0;
    self->fixed_outputs    = false;
    self->caller_memory    = false;
    self->tensor_allocator = (struct fby_gpu_upload_memory){0};
}

/* FOREBAY_KEYS is read here, on the application's thread. */
static fby_err resolve_keys(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    const char *keys = fby_key_path_of_trainer(o->keys);
    if (keys == NULL) {
        return FBY_OK;
    }
    fby_err err    = fby_key_file_load(keys, FBY_ROLE_TRAINER, &self->key, why);
    self->has_keys = err == FBY_OK;
    return fby_error_prefix(why, err, "keys");
}

typedef fby_err resolve_fn(struct fby_setup *self,
    const struct forebay_options *options, struct fby_error_detail *why);

static fby_err resolve_server(struct fby_setup *self,
    const struct forebay_options *o, struct fby_error_detail *why)
{
    if (o->server == NULL) {
        return fby_error_set(
            why, FBY_USAGE, "server: where to find workers, HOST:PORT");
    }
    bool is_name = false; /* the receiver looks it up */
    return fby_endpoint_check(o->server, self->server, &is_name, why);
}

fby_err fby_setup_init(struct fby_setup *out,
    const struct forebay_options *options, struct fby_error_detail *why)
{
    /* In this order, because most of them need the results of earlier ones. */
    static resolve_fn *const resolvers[] = {resolve_pipeline, resolve_location,
        resolve_rank, resolve_token, resolve_fields, resolve_device,
        resolve_limits, resolve_server, resolve_keys};
    const size_t n_resolvers = sizeof(resolvers) / sizeof(resolvers[0]);
    fby_err      err         = FBY_OK;
    /* Here, because the thread of the application may change its environment. */
    (void)fby_user_cache_dir(out->cache_dir, sizeof(out->cache_dir));
    for (size_t i = 0; i < n_resolvers && err == FBY_OK; i++) {
        err = resolvers[i](out, options, why);
    }
    return err;
}

void fby_setup_fini(struct fby_setup *self)
{
    sodium_memzero(&self->key, sizeof(self->key));
    fby_split_destroy(&self->split);
    fby_buffer_fini(&self->content);
    free(self->expansions);
    self->expansions = NULL;
}

uint32_t fby_setup_max_batches(const struct fby_setup *self)
{
    uint64_t n_fit = self->window_bytes / self->layout.raw_bytes;
    return n_fit < self->window_batches ? (uint32_t)n_fit
                                        : self->window_batches;
}

bool fby_setup_uploads_as_received(const struct fby_setup *self, uint32_t field)
{
    return self->cuda != NULL && !self->digests && !self->verify_decoded &&
           self->expansions[field].kind != FBY_EXPAND_MIX &&
           fby_segments_can_expand(&self->expansions[field]);
}

uint64_t fby_setup_ragged_bits(const struct fby_setup *self)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < self->n_fields; i++) {
        bits |= (uint64_t)fby_expansion_is_ragged(&self->expansions[i]) << i;
    }
    return bits;
}

struct fby_data_name fby_setup_data_name(const struct fby_setup *self)
{
    struct fby_data_name name;
    const char          *pattern  = self->split->location.pattern;
    size_t               size     = strlen(pattern);
    bool                 is_whole = size > 0 && pattern[size - 1] == ':';
    snprintf(name.text, sizeof(name.text), "%.*s",
        (int)(is_whole ? size - 1 : size), pattern);
    return name;
}

bool fby_setup_is_direct(const struct fby_setup *self, uint32_t field)
{
    return self->cuda == NULL &&
           self->expansions[field].kind == FBY_EXPAND_COPY;
}

bool fby_setup_expands_by_chunk(const struct fby_setup *self, uint32_t field)
{
    bool reads_raw_pixels = self->digests || self->verify_decoded;
    return self->cuda == NULL && !reads_raw_pixels &&
           self->expansions[field].kind == FBY_EXPAND_AFFINE &&
           self->layout.fields[field].rows_per_chunk > 0;
}
