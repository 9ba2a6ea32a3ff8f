/* behaviour.c - try everything once, hash what comes out.
 *
 * The trials are fixed: the built-in files through the decoder, these pictures
 * through each op with fixed parameters and draws, fixed texts through the
 * other decoders. A refusal is a result like any other. */
#include "worker/transform/behaviour.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/plan/draw.h"
#include "worker/transform/field.h"
#include "worker/transform/probes.h"
#include "worker/transform/workshop.h"

enum {
    N_DECODERS = 5, /* numbers 1 to 4 */
    N_OPS      = FBY_N_COSTS,
    DRAWS      = 2 /* a picture and op */
};

/* ---- what is hashed ---- */

void fby_behaviour_add(
    struct fby_digest_state *hash, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    fby_store_le(bytes, value, width);
    fby_digest_add(hash, bytes, width);
}

/* One byte for the outcome. Want of memory is none: it ends the trial. */
static fby_err add_outcome(struct fby_digest_state *hash, fby_err err)
{
    if (err != FBY_OK && err != FBY_BAD_SAMPLE) {
        return err;
    }
    fby_behaviour_add(hash, err != FBY_OK, 1);
    return FBY_OK;
}

static void add_picture(
    struct fby_digest_state *hash, const struct fby_image *image)
{
    fby_behaviour_add(hash, image->width, 4);
    fby_behaviour_add(hash, image->height, 4);
    for (uint32_t y = 0; y < image->height; y++) {
        fby_digest_add(hash, image->pixels + y * image->stride,
            (size_t)image->width * FBY_RGB);
    }
}

/* ---- the decoder of pictures ---- */

static fby_err try_file(struct fby_transform *transform,
    struct fby_digest_state *hash, struct fby_jpeg_file file)
{
    struct fby_image picture = {0};
    fby_err err = fby_jpeg_decode(&file, &transform->made[0], &picture, NULL);
    fby_err broken = add_outcome(hash, err);
    if (err == FBY_OK) {
        add_picture(hash, &picture);
    }
    return broken;
}

/* Each file whole, then cut in half. */
static fby_err try_rgb8(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < fby_n_probes && err == FBY_OK; i++) {
        struct fby_jpeg_file half = {
            fby_probes[i].bytes, fby_probes[i].size / 2};
        err = try_file(transform, hash, fby_probes[i]);
        if (err == FBY_OK) {
            err = try_file(transform, hash, half);
        }
    }
    return err;
}

/* ---- the other decoders ---- */

static const char *const label_texts[] = {"0", " 7\n", "255", "256", "65535",
    "65536", "4294967295", "4294967296", "007", "-1", "1.0", "", "1 2", "x"};

static const char *const number_texts[] = {"{\"k\":0}", "{\"k\":-1}",
    "{\"k\":255}", "{\"k\":256}", "{\"k\":65504}", "{\"k\":65520}",
    "{\"k\":70000}", "{\"k\":16777217}", "{\"k\":2147483648}",
    "{\"k\":9223372036854775807}", "{\"k\":3.0}", "{\"k\":0.1}", "{\"k\":-0.0}",
    "{\"k\":1e-7}", "{\"k\":1e-40}", "{\"k\":1e39}", "{\"k\":0.333251953125}",
    "{\"k\":\"1\"}", "{\"j\":1}", "[1]", "{"};

static fby_err try_text(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_content *field,
    const char *text)
{
    uint8_t              value[8] = {0};
    struct fby_field_job job      = {
             .field = field, .bytes = (const uint8_t *)text, .size = strlen(text)};
    fby_err err    = fby_field_write(transform, &job, value, NULL);
    fby_err broken = err == FBY_USAGE ? FBY_OK : add_outcome(hash, err);
    if (err == FBY_OK) {
        fby_digest_add(hash, value, fby_field_bytes(field));
    }
    return broken;
}

struct texts {
    const char *const *at;
    size_t             n;
};

static struct texts texts_for(enum fby_decode decode)
{
    if (decode == FBY_DECODE_LABEL) {
        return (struct texts){
            label_texts, sizeof(label_texts) / sizeof(label_texts[0])};
    }
    return (struct texts){
        number_texts, sizeof(number_texts) / sizeof(number_texts[0])};
}

/* Each text in each wire type, as a scalar. */
static fby_err try_texts(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_decode decode)
{
    struct texts              texts = texts_for(decode);
    struct fby_field_content *field = calloc(1, sizeof(*field));
    fby_err                   err   = field == NULL ? FBY_FULL : FBY_OK;
    for (int type = FBY_U8; err == FBY_OK && type <= FBY_U32; type++) {
        *field = (struct fby_field_content){.decode = decode,
            .json_key                               = "k",
            .wire_type                              = (enum fby_type)type};
        for (size_t i = 0; i < texts.n && err == FBY_OK; i++) {
            err = try_text(transform, hash, field, texts.at[i]);
        }
    }
    free(field);
    return err;
}

/* ---- ops ---- */

/* Parameters an op is tried with, in the order of its schema. */
struct trial {
    enum fby_op_id   op;
    struct fby_value params[3];
};

static const struct trial trials[] = {
    {FBY_OP_RANDOM_RESIZED_CROP,
        {{.n = 2, .i = {24, 20}}, {.n = 2, .real = true, .r = {0.08, 1}},
            {.n = 2, .real = true, .r = {0.75, 1.25}}}},
    {FBY_OP_RESIZE, {{.n = 1, .i = {20}}, {.n = 0}}},
    {FBY_OP_RESIZE, {{.n = 0}, {.n = 2, .i = {30, 61}}}},
    {FBY_OP_CENTER_CROP, {{.n = 2, .i = {16, 19}}}},
    {FBY_OP_RANDOM_CROP, {{.n = 2, .i = {16, 19}}}},
    {FBY_OP_HORIZONTAL_FLIP, {{.n = 1, .real = true, .r = {0.5}}}},
};

static void add_plan(
    struct fby_digest_state *hash, const struct fby_op_plan *plan)
{
    const uint32_t numbers[] = {
        plan->x, plan->y, plan->w, plan->h, plan->out_w, plan->out_h};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        fby_behaviour_add(hash, numbers[i], 4);
    }
    fby_behaviour_add(hash, plan->flip, 1);
}

/* A bench to try ops on. */
struct bench {
    struct fby_transform *transform;
    struct fby_scratch    picture;
    struct fby_scratch    result;
};

/* The op on one built-in picture; `sample` names the draws. */
static fby_err try_op_on(struct bench *bench, struct fby_digest_state *hash,
    const struct fby_op_use *use, uint64_t sample)
{
    struct fby_image picture = {0};
    fby_err          err     = fby_jpeg_decode(
                     &fby_probes[sample / DRAWS], &bench->picture, &picture, NULL);
    if (err != FBY_OK) {
        return add_outcome(hash, err);
    }
    struct fby_op_plan plan;
    struct fby_shape   shape = {3, {picture.height, picture.width, FBY_RGB}};
    struct fby_draw    draw =
        fby_draw_begin(1, 0, sample, "fingerprint", use->op->name, 0);
    err            = use->op->plan(use, &draw, shape, &plan, NULL);
    fby_err broken = add_outcome(hash, err);
    if (err != FBY_OK) {
        return broken;
    }
    add_plan(hash, &plan);
    struct fby_image  result = {0};
    struct fby_op_run run    = {use, &plan, 1};
    err = fby_image_in(&bench->result, plan.out_w, plan.out_h, &result);
    if (err == FBY_OK) {
        err = fby_transform_run(bench->transform, &run, picture, result, NULL);
    }
    if (err == FBY_OK) {
        add_picture(hash, &result);
    }
    return err;
}

static fby_err try_op(
    struct bench *bench, struct fby_digest_state *hash, const struct fby_op *op)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        struct fby_op_use use = {.op = op};
        memcpy(use.params, trials[i].params, sizeof(trials[i].params));
        uint64_t n = trials[i].op == op->id ? fby_n_probes * DRAWS : 0;
        for (uint64_t sample = 0; sample < n && err == FBY_OK; sample++) {
            err = try_op_on(bench, hash, &use, sample);
        }
    }
    return err;
}

/* ---- all of it, once a process ---- */

struct behaviour {
    bool              known;
    struct fby_digest hash;
};

static struct { /* guarded by `lock` */
    pthread_mutex_t  lock;
    bool             ready;
    struct behaviour decoders[N_DECODERS];
    struct behaviour ops[N_OPS];
} tried = {.lock = PTHREAD_MUTEX_INITIALIZER};

static fby_err try_decoder(struct fby_transform *transform,
    enum fby_decode decode, struct behaviour *out)
{
    struct fby_digest_state hash;
    fby_err                 err = FBY_OK;
    fby_digest_begin(&hash);
    if (decode == FBY_DECODE_RGB8) {
        err = try_rgb8(transform, &hash);
    } else if (decode != FBY_DECODE_BYTES) {
        err = try_texts(transform, &hash, decode);
    }
    *out = (struct behaviour){err == FBY_OK, fby_digest_end(&hash)};
    return err;
}

static bool has_trial(uint32_t op_id)
{
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        if (trials[i].op == op_id) {
            return fby_transform_knows(op_id);
        }
    }
    return false;
}

static fby_err try_ops(struct bench *bench)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < fby_n_ops && err == FBY_OK; i++) {
        struct fby_digest_state hash;
        if (has_trial(fby_ops[i]->id)) {
            fby_digest_begin(&hash);
            err = try_op(bench, &hash, fby_ops[i]);
            tried.ops[fby_ops[i]->id] =
                (struct behaviour){true, fby_digest_end(&hash)};
        }
    }
    return err;
}

static fby_err try_all(void)
{
    struct bench bench = {.transform = fby_transform_create(NULL)};
    fby_err      err   = FBY_OK;
    for (int i = FBY_DECODE_RGB8; i < N_DECODERS && err == FBY_OK; i++) {
        err = try_decoder(
            bench.transform, (enum fby_decode)i, &tried.decoders[i]);
    }
    if (err == FBY_OK) {
        err = try_ops(&bench);
    }
    fby_scratch_fini(&bench.picture);
    fby_scratch_fini(&bench.result);
    fby_transform_destroy(&bench.transform);
    return err;
}

fby_err fby_behaviours_try(void)
{
    fby_err err = FBY_OK;
    pthread_mutex_lock(&tried.lock);
    if (!tried.ready) {
        err         = try_all();
        tried.ready = err == FBY_OK;
    }
    pthread_mutex_unlock(&tried.lock);
    return err;
}

/* What was tried does not change any more; who asks has called try. */
const struct fby_digest *fby_behaviour_of_decoder(enum fby_decode decode)
{
    unsigned i = (unsigned)decode;
    return i < N_DECODERS && tried.decoders[i].known ? &tried.decoders[i].hash
                                                     : NULL;
}

const struct fby_digest *fby_behaviour_of_op(uint32_t op_id)
{
    return op_id < N_OPS && tried.ops[op_id].known ? &tried.ops[op_id].hash
                                                   : NULL;
}
