/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pull/options.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_WORKERS = 2 }; /* of an embedded cluster */

#define VALUE(kind, member) FBY_VALUE(kind, struct fby_pull_options, member)
#define NUMBER(member, min, max) \
    FBY_RANGE(FBY_NUMBER, struct fby_pull_options, member, min, max)

static const struct fby_option options[] = {
    {"pipeline", 'p', "FILE", "The pipeline file (required)",
        FBY_REQUIRED(FBY_TEXT, struct fby_pull_options, stream.pipeline_path,
            FBY_WHY_PIPELINE)},
    {"split", 's', "NAME", "The split (default: the only one, or train)",
        VALUE(FBY_TEXT, stream.split)},
    {"server", 0, "ADDR",
        "Use a running cluster (tcp://HOST:PORT) instead of starting one",
        VALUE(FBY_TEXT, stream.server)},
    {"keys", 0, "PATH",
        "The trainer's key for --server: a key file, or a folder with one "
        "(default: the variable FOREBAY_KEYS)",
        VALUE(FBY_TEXT, stream.keys)},
    {"workers", 'w', "N", "Own workers: how many processes (default 2)",
        NUMBER(cluster.workers, 1, 256)},
    {"threads", 0, "N",
        "Own workers: threads of each (default: an equal share of the cores)",
        NUMBER(cluster.threads, 1, 1024)},
    {"memory", 'm', "SIZE",
        "Own workers: memory of each for samples and batches, as 512M or 2G "
        "(default: of half of the cgroup's limit an equal share, at most 1G)",
        VALUE(FBY_SIZE_AS_TEXT, cluster.memory)},
    {"cpus", 0, "LIST",
        "Own workers: run only on these CPUs, as 0-3,8 (default: all allowed)",
        VALUE(FBY_CPUS_AS_TEXT, cluster.cpus)},
    {"nice", 0, "N",
        "Own workers: nice value of the threads that compute, 0 to 19 (default "
        "5)",
        FBY_RANGE(
            FBY_NUMBER_AS_TEXT, struct fby_pull_options, cluster.nice, 0, 19)},
    {"data", 0, "NAME=DIR",
        "A root of the workers of --server: a path below DIR, which may be "
        "missing here, is asked for as NAME:path (repeatable)",
        VALUE(FBY_WORDS, data)},
    {.help = "The stream:"},
    {"epochs", 0, "N", "End after N epochs in all (default 1)",
        NUMBER(stream.epochs, 1, UINT32_MAX)},
    {"steps", 0, "N", "End after N steps in all, counted from epoch 0 step 0",
        NUMBER(stream.steps, 1, INT64_MAX)},
    {"seed", 0, "X", "Use this seed, not that of the pipeline file",
        VALUE(FBY_SEED, seed)},
    {"field", 0, "NAME", "Only this field (repeatable)",
        VALUE(FBY_WORDS, fields)},
    {"step-ms", 0, "X", "Hold each batch for X ms, as training would",
        VALUE(FBY_MS, hold_ns)},
    {"window", 0, "SIZE", "Bytes requested ahead, as 512M or 2G (default 256M)",
        VALUE(FBY_SIZE, stream.window_bytes)},
    {"device", 0, "NAME",
        "Where tensors are made: host, cuda, cuda:N, or auto: a GPU if one can "
        "be used (default host); on a GPU, digests only with --digests",
        VALUE(FBY_TEXT, stream.device)},
    {"audit", 0, "N",
        "Request every N-th step from a second worker too, and fail if the two "
        "make different values; with one worker all are skipped (default 0: "
        "never)",
        NUMBER(stream.audit, 0, INT64_MAX)},
    {"open-timeout-ms", 0, "X", "Give up opening after X ms (default 60000)",
        VALUE(FBY_MS, stream.open_timeout_ns)},
    {.help = "Ranks, and resuming:"},
    {"job", 0, "ID", "The job, the same for all its ranks",
        VALUE(FBY_TEXT, stream.job)},
    {"rank", 0, "R", "This rank, from 0 (default 0)",
        NUMBER(stream.rank, 0, 65535)},
    {"world", 0, "W", "How many ranks there are (default 1)",
        NUMBER(stream.world, 1, 65536)},
    {"resume", 0, "TOKEN|@FILE",
        "Resume right after the batch that carried this token",
        VALUE(FBY_TEXT, resume)},
    {"token-file", 0, "FILE", "Write the newest token to FILE",
        VALUE(FBY_TEXT, token_path)},
    {"token-every", 0, "N", "Replace FILE every N steps (default 1)",
        NUMBER(token_every, 1, UINT32_MAX)},
    {.help = "Output:"},
    {"digests", 0, "FILE",
        "Write one line per step: epoch, step, first row, rows, the batch's "
        "digest, then SAMPLE:DIGEST of each row",
        VALUE(FBY_TEXT, digests_path)},
    {"verify", 0, NULL, "Also hash every chunk once it is decompressed",
        VALUE(FBY_FLAG, stream.verify_decoded)},
    {"json", 0, NULL, "Print one JSON object instead of a table",
        VALUE(FBY_FLAG, json)},
    {0},
};

/* With --server, refuse the options of own workers; name the first given. */
static void refuse_worker_options_with_server(
    const struct argp_state *state, const struct fby_pull_options *o)
{
    const char *given = o->cluster.workers > 0      ? "workers"
                        : o->cluster.threads > 0    ? "threads"
                        : o->cluster.memory != NULL ? "memory"
                        : o->cluster.cpus != NULL   ? "cpus"
                        : o->cluster.nice != NULL   ? "nice"
                                                    : NULL;
    if (o->stream.server != NULL && given != NULL) {
        argp_error(state,
            "--%s is for workers that pull starts; --server starts none",
            given);
    }
}

static bool is_device_name(const char *name)
{
    static const char prefix[]    = "cuda:";
    const size_t      length      = sizeof(prefix) - 1;
    bool              is_prefixed = strncmp(name, prefix, length) == 0;
    const char       *number      = is_prefixed ? name + length : "";
    return strcmp(name, "host") == 0 || strcmp(name, "auto") == 0 ||
           strcmp(name, "cuda") == 0 ||
           (number[0] != '\0' && number[strspn(number, "0123456789")] == '\0');
}

static void check_ranks(
    const struct argp_state *state, const struct forebay_options *stream)
{
    if (stream->world > 1 && stream->job == NULL) {
        argp_error(state,
            "--world %" PRIu32 " needs --job ID, the same for all ranks",
            stream->world);
    }
    if (stream->world > 1 && stream->server == NULL) {
        argp_error(state,
            "--world %" PRIu32 " needs --server ADDR: ranks of "
            "one job share a cluster ('forebay up')",
            stream->world);
    }
    if (stream->rank >= stream->world) {
        argp_error(state, "--rank %" PRIu32 " is not below --world %" PRIu32,
            stream->rank, stream->world);
    }
}

static void derive_values(struct fby_pull_options *o)
{
    struct forebay_options *stream = &o->stream;
    stream->seed                   = o->seed.value;
    stream->has_seed               = o->seed.given;
    stream->fields                 = (const char *const *)o->fields.items;
    stream->n_fields               = o->fields.n;
    if (stream->steps == 0 && stream->epochs == 0) {
        stream->epochs = 1;
    }
    stream->max_held_bytes = UINT64_MAX; /* pull holds one batch at a time */
    /* Digests need unpacked values. With a GPU the CPU would unpack values only
     * for the digests, so digests are made only with --digests. */
    stream->digests =
        strcmp(stream->device, "host") == 0 || o->digests_path != NULL;
    if (o->cluster.workers == 0) { /* --workers was not given */
        o->cluster.workers = DEFAULT_WORKERS;
    }
}

static void finish_options(const struct argp_state *state, void *values)
{
    struct fby_pull_options *o = values;
    refuse_worker_options_with_server(state, o);
    if (o->stream.keys != NULL && o->stream.server == NULL) {
        argp_error(state,
            "--keys needs --server; the workers that pull starts have keys of "
            "their own");
    }
    check_ranks(state, &o->stream);
    if (!is_device_name(o->stream.device)) {
        argp_error(state,
            "--device '%s': there are host, cuda, cuda:N and auto",
            o->stream.device);
    }
    if (o->resume != NULL && o->stream.steps == 0 && o->stream.epochs == 0) {
        argp_error(state, "--resume needs --epochs or --steps: totals, "
                          "counted from epoch 0 step 0");
    }
    derive_values(o);
}

static const char about[] =
    "Receive batches as a trainer would, and report how fast they came.\v"
    "Examples:\n"
    "  forebay pull --pipeline p.yaml\n"
    "  forebay pull --pipeline p.yaml --workers 4 --epochs 3 --json\n"
    "  forebay pull --pipeline p.yaml --token-file t --epochs 9\n"
    "  forebay pull --pipeline p.yaml --resume @t --epochs 9\n"
    "  forebay pull --pipeline p.yaml --device cuda --steps 500\n"
    "  forebay pull --pipeline p.yaml --server tcp://host:7070 \\\n"
    "      --job run1 --rank 0 --world 2\n"
    "Without --server it starts a server and workers of its own, and stops\n"
    "them at the end. A short run consists mostly of the start: use --steps\n"
    "500 to measure the rate. Ctrl-C ends it and prints the token to resume\n"
    "from (exit code 130).";

static const struct fby_usage usage = {
    .options = options, .finish = finish_options, .help = about};

void fby_pull_parse(int argc, char **argv, struct fby_pull_options *out)
{
    *out = (struct fby_pull_options){
        .stream = forebay_options(), .token_every = 1};
    out->stream.world  = 1;
    out->stream.device = "host";
    fby_usage_parse(&usage, argc, argv, out);
}
