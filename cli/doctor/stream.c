/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - receive batches for a few seconds, as a trainer would, in a job
 * with a random name. The batches come through the public API, forebay.h. */
#include <string.h>

#include "cli/doctor/checks.h"
#include "cli/sample_noun.h"
#include "cli/served.h"
#include "common/clock.h"
#include "common/log.h"
#include "forebay/forebay.h"
#include "pipeline/parse.h"

static const int64_t open_timeout_ns  = 10 * FBY_NS_PER_S;
static const int64_t receive_limit_ns = 3 * FBY_NS_PER_S; /* after opening */

struct stream_check {
    char                 split[FBY_NAME_SIZE]; /* the split to read */
    const char          *noun; /* for a sample, in the verdict */
    struct forebay      *stream;
    int64_t              begun_ns; /* when the check began */
    int64_t              first_ns; /* when the first batch came; 0: not yet */
    int64_t              last_ns;  /* when the latest batch came */
    struct forebay_stats at_first; /* counters at the first batch */
    struct forebay_stats at_end;   /* counters after the last batch */
    char                 error[sizeof(struct fby_error_detail)]; /* "": none */
    bool                 timed_out; /* the error is a timeout */
};

static void read_stats(
    const struct stream_check *self, struct forebay_stats *out)
{
    *out = (struct forebay_stats){.struct_size = sizeof(*out)};
    forebay_stats(self->stream, out);
}

static bool open_stream(struct stream_check *self,
    const struct fby_doctor_options         *options,
    const struct fby_served_roots           *roots)
{
    struct forebay_options stream = forebay_options();
    stream.server                 = options->server;
    stream.keys                   = options->keys;
    stream.job                    = options->job;
    stream.pipeline_path          = options->pipeline;
    stream.split                  = self->split;
    stream.roots                  = roots->roots;
    stream.n_roots                = roots->n_roots;
    stream.open_timeout_ns        = open_timeout_ns;

    struct fby_error_detail why = {{0}};
    enum forebay_status     status =
        forebay_open(&stream, why.text, sizeof(why.text), &self->stream);
    if (status != FOREBAY_OK) {
        fby_served_complete_error(roots, &why);
        memcpy(self->error, why.text, sizeof(self->error));
    }
    self->timed_out = status == FOREBAY_TIMEOUT;
    return status == FOREBAY_OK;
}

static void on_batch(struct stream_check *self, struct forebay_batch **batch)
{
    self->last_ns = fby_now_ns();
    if (self->first_ns == 0) {
        self->first_ns = self->last_ns;
        read_stats(self, &self->at_first);
    }
    forebay_release(batch, NULL);
}

static void receive_batches(struct stream_check *self)
{
    enum forebay_status status   = FOREBAY_OK;
    int64_t             until_ns = fby_now_ns() + receive_limit_ns;
    int64_t             left_ns  = receive_limit_ns;
    while (status == FOREBAY_OK && left_ns > 0) {
        struct forebay_batch *batch = NULL;
        status = forebay_next(self->stream, left_ns, NULL, &batch);
        if (status == FOREBAY_OK) {
            on_batch(self, &batch);
        }
        left_ns = until_ns - fby_now_ns();
    }
    /* The last wait ends with a timeout. This is no error if a batch came. */
    bool timed_out = status == FOREBAY_TIMEOUT && self->first_ns == 0;
    bool failed    = status != FOREBAY_OK && status != FOREBAY_END &&
                  status != FOREBAY_TIMEOUT;
    if (timed_out || failed) {
        const char *text = forebay_error(self->stream);
        strncpy(self->error, text[0] != '\0' ? text : "no batch came in time",
            sizeof(self->error) - 1);
        self->timed_out = timed_out;
    }
    read_stats(self, &self->at_end);
}

static struct fby_verdict judge_result(const struct stream_check *self)
{
    const struct forebay_stats *first = &self->at_first;
    const struct forebay_stats *end   = &self->at_end;

    const struct fby_stream_facts facts = {
        .seconds    = (double)(self->last_ns - self->first_ns) / 1e9,
        .first_s    = (double)(self->first_ns - self->begun_ns) / 1e9,
        .batches    = end->steps,
        .samples    = end->images - first->images,
        .noun       = self->noun,
        .wire_bytes = end->wire_bytes - first->wire_bytes,
        .raw_bytes  = end->raw_bytes - first->raw_bytes,
        .known      = end->workers_known,
        .in_use     = end->workers_in_use,
        .left_aside = end->workers_left_aside,
        .lost       = end->rerequests + end->checksum_failures,
        .error      = self->error[0] != '\0' ? self->error : NULL,
        .timed_out  = self->timed_out,
    };
    return fby_judge_stream(&facts);
}

/* Set the split to read, `train` or else the first of the file, and its noun. */
static fby_err choose_split(
    struct stream_check *self, const char *path, struct fby_error_detail *why)
{
    struct fby_pipeline *pipeline = NULL;
    struct fby_split    *split    = NULL;
    fby_err              err      = fby_pipeline_load(path, &pipeline, why);
    size_t n = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = fby_pipeline_split_name(pipeline, i);
        if (i == 0 || strcmp(name, "train") == 0) {
            strncpy(self->split, name, FBY_NAME_SIZE - 1);
        }
    }
    if (err == FBY_OK) {
        err = fby_pipeline_make_split(pipeline, self->split, &split, why);
    }
    if (err == FBY_OK) {
        self->noun = fby_sample_noun(&split->content);
    }
    fby_split_destroy(&split);
    fby_pipeline_destroy(&pipeline);
    return err;
}

void fby_doctor_stream(const struct fby_doctor_options *options, int pipe_fd)
{
    struct fby_served_roots roots = {0};
    struct fby_error_detail why   = {{0}};
    struct stream_check     self  = {.begun_ns = fby_now_ns()};
    struct fby_verdict      verdict;
    fby_log_init("doctor", FBY_LOG_ERROR); /* the verdict replaces warnings */
    if (choose_split(&self, options->pipeline, &why) != FBY_OK ||
        fby_served_collect_of_server(&roots, &options->data, &why) != FBY_OK) {
        verdict = fby_verdict(FBY_DOCTOR_FAIL, NULL, "%s", why.text);
    } else {
        if (open_stream(&self, options, &roots)) {
            receive_batches(&self);
        }
        verdict = judge_result(&self);
        forebay_close(&self.stream);
    }
    fby_doctor_report(pipe_fd, "stream", verdict);
    fby_served_fini(&roots);
}
