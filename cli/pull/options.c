#include "cli/pull/options.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum option_key {
    KEY_PIPELINE = 'p',
    KEY_SPLIT    = 's',
    KEY_WORKERS  = 'w',
    KEY_MEMORY   = 'm',
    KEY_SERVER   = 0x100,
    KEY_THREADS,
    KEY_CPUS,
    KEY_NICE,
    KEY_STEPS,
    KEY_EPOCHS,
    KEY_SEED,
    KEY_JOB,
    KEY_RANK,
    KEY_WORLD,
    KEY_RESUME,
    KEY_STEP_MS,
    KEY_TOKEN_EVERY,
    KEY_TOKEN_FILE,
    KEY_DIGESTS,
    KEY_DATA,
    KEY_FIELD,
    KEY_WINDOW,
    KEY_DEVICE,
    KEY_AUDIT,
    KEY_OPEN_TIMEOUT,
    KEY_VERIFY,
    KEY_JSON
};

enum { DEFAULT_WORKERS = 2 }; /* of an embedded cluster */

static const struct argp_option options[] = {
    {"pipeline", KEY_PIPELINE, "FILE", 0, "The pipeline file (required)", 0},
    {"split", KEY_SPLIT, "NAME", 0,
        "The split (default: the only one, or train)", 0},
    {"server", KEY_SERVER, "ADDR", 0,
        "Use a running cluster (tcp://HOST:PORT) instead of an own one", 0},
    {"workers", KEY_WORKERS, "N", 0,
        "Own workers: how many processes (default 2)", 0},
    {"threads", KEY_THREADS, "N", 0,
        "Own workers: threads of each (default: the cores shared out)", 0},
    {"memory", KEY_MEMORY, "SIZE", 0,
        "Own workers: memory of each for samples and batches, as 512M or 2G "
        "(default 1G)",
        0},
    {"cpus", KEY_CPUS, "LIST", 0,
        "Own workers: run on these CPUs alone, as 0-3,8 (default: all allowed)",
        0},
    {"nice", KEY_NICE, "N", 0,
        "Own workers: nice value of the threads that compute, 0 to 19 (default "
        "5)",
        0},
    {"data", KEY_DATA, "NAME=DIR", 0,
        "A root that the workers of --server have: a plain path below DIR is "
        "requested as NAME:path (repeatable)",
        0},
    {NULL, 0, NULL, 0, "The stream:", 1},
    {"epochs", KEY_EPOCHS, "N", 0, "End after N epochs in all (default 1)", 1},
    {"steps", KEY_STEPS, "N", 0,
        "End after N steps in all, counted from epoch 0 step 0", 1},
    {"seed", KEY_SEED, "X", 0, "Another seed than the file's", 1},
    {"field", KEY_FIELD, "NAME", 0, "Only this field (repeatable)", 1},
    {"step-ms", KEY_STEP_MS, "X", 0,
        "Hold each batch for X ms, as training would", 1},
    {"window", KEY_WINDOW, "SIZE", 0,
        "Bytes asked for ahead, as 512M or 2G (default 256M)", 1},
    {"device", KEY_DEVICE, "NAME", 0,
        "Where tensors are made: host, cuda, cuda:N, or auto: a GPU if one can "
        "be used (default host); beyond host, digests only with --digests",
        1},
    {"audit", KEY_AUDIT, "N", 0,
        "Ask a second worker for every N-th step too, and fail where the two "
        "make different values; with one worker all are skipped (default 0: "
        "never)",
        1},
    {"open-timeout-ms", KEY_OPEN_TIMEOUT, "X", 0,
        "Give up opening after X ms (default 60000)", 1},
    {NULL, 0, NULL, 0, "Ranks, and resuming:", 2},
    {"job", KEY_JOB, "ID", 0, "The job, the same for all its ranks", 2},
    {"rank", KEY_RANK, "R", 0, "This rank, from 0 (default 0)", 2},
    {"world", KEY_WORLD, "W", 0, "How many ranks there are (default 1)", 2},
    {"resume", KEY_RESUME, "TOKEN|@FILE", 0,
        "Go on right after the batch that carried this token", 2},
    {"token-file", KEY_TOKEN_FILE, "FILE", 0, "Keep the token in FILE", 2},
    {"token-every", KEY_TOKEN_EVERY, "N", 0,
        "Renew FILE every N steps (default 1)", 2},
    {NULL, 0, NULL, 0, "Output:", 3},
    {"digests", KEY_DIGESTS, "FILE", 0,
        "Write a line a step: epoch, step, first row, rows, the batch's "
        "digest, then SAMPLE:DIGEST of each row",
        3},
    {"verify", KEY_VERIFY, NULL, 0,
        "Also hash every chunk once it is decompressed", 3},
    {"json", KEY_JSON, NULL, 0, "Print one JSON object instead of a table", 3},
    {0},
};

struct given_option {
    const char *name;
    bool        given;
};

/* Refuse options of embedded workers together with --server. */
static void check_own_workers(
    struct argp_state *state, const struct fby_pull_options *o)
{
    const struct given_option all[] = {
        {"--workers", o->workers > 0},
        {"--threads", o->threads > 0},
        {"--memory", o->memory != NULL},
        {"--cpus", o->cpus != NULL},
        {"--nice", o->nice != NULL},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (o->server != NULL && all[i].given) {
            argp_error(state,
                "%s is for workers of pull's own; those of --server have what "
                "they were started with",
                all[i].name);
        }
    }
}

static void check_options(
    struct argp_state *state, const struct fby_pull_options *o)
{
    if (o->pipeline == NULL) {
        argp_error(state, "--pipeline FILE is required; 'forebay init DIR' "
                          "writes one");
    }
    check_own_workers(state, o);
    if (o->world > 1 && o->job == NULL) {
        argp_error(state,
            "--world %" PRIu64 " needs --job ID, the same for "
            "all ranks",
            o->world);
    }
    if (o->world > 1 && o->server == NULL) {
        argp_error(state,
            "--world %" PRIu64 " needs --server ADDR: ranks of "
            "one job share a cluster ('forebay up')",
            o->world);
    }
    if (o->rank >= o->world) {
        argp_error(state, "--rank %" PRIu64 " is not below --world %" PRIu64,
            o->rank, o->world);
    }
    if (o->resume != NULL && o->steps == 0 && o->epochs == 0) {
        argp_error(state, "--resume needs --epochs or --steps: totals, "
                          "counted from epoch 0 step 0");
    }
    if (o->resume != NULL && o->has_seed) {
        argp_error(state, "--seed and --resume exclude each other: the token "
                          "holds the seed");
    }
}

static bool parse_amount(int key, const char *arg, struct argp_state *state,
    struct fby_pull_options *o)
{
    switch (key) {
    case KEY_WORKERS:
        o->workers = fby_option_u64(state, "--workers", arg, 1, 256);
        return true;
    case KEY_THREADS:
        o->threads = fby_option_u64(state, "--threads", arg, 1, 1024);
        return true;
    case KEY_MEMORY:
        o->memory = fby_option_size_text(state, "--memory", arg);
        return true;
    case KEY_CPUS:
        o->n_cpus = fby_option_cpus(state, "--cpus", arg);
        o->cpus   = arg;
        return true;
    case KEY_NICE:
        (void)fby_option_u64(state, "--nice", arg, 0, 19);
        o->nice = arg;
        return true;
    case KEY_STEPS:
        o->steps = fby_option_u64(state, "--steps", arg, 1, INT64_MAX);
        return true;
    case KEY_EPOCHS:
        o->epochs = fby_option_u64(state, "--epochs", arg, 1, UINT32_MAX);
        return true;
    case KEY_SEED:
        o->seed     = fby_option_u64(state, "--seed", arg, 0, UINT64_MAX);
        o->has_seed = true;
        return true;
    case KEY_RANK:
        o->rank = fby_option_u64(state, "--rank", arg, 0, 65535);
        return true;
    case KEY_WORLD:
        o->world = fby_option_u64(state, "--world", arg, 1, 65536);
        return true;
    case KEY_TOKEN_EVERY:
        o->token_every =
            fby_option_u64(state, "--token-every", arg, 1, UINT32_MAX);
        return true;
    case KEY_AUDIT:
        o->audit = fby_option_u64(state, "--audit", arg, 0, INT64_MAX);
        return true;
    case KEY_STEP_MS:
        o->step_ns = fby_option_ms(state, "--step-ms", arg);
        return true;
    case KEY_OPEN_TIMEOUT:
        o->open_timeout_ns = fby_option_ms(state, "--open-timeout-ms", arg);
        return true;
    case KEY_WINDOW:
        o->window_bytes = fby_option_size(state, "--window", arg);
        return true;
    default:
        return false;
    }
}

static bool is_device(const char *name)
{
    bool numbered = strncmp(name, "cuda:", 5) == 0 && name[5] != '\0';
    return strcmp(name, "host") == 0 || strcmp(name, "auto") == 0 ||
           strcmp(name, "cuda") == 0 ||
           (numbered && name[5 + strspn(name + 5, "0123456789")] == '\0');
}

static const char *parse_device(struct argp_state *state, const char *arg)
{
    if (!is_device(arg)) {
        argp_error(
            state, "--device '%s': there are host, cuda, cuda:N and auto", arg);
    }
    return arg;
}

static bool parse_name(
    int key, char *arg, struct argp_state *state, struct fby_pull_options *o)
{
    switch (key) {
    case KEY_PIPELINE:
        o->pipeline = arg;
        return true;
    case KEY_SPLIT:
        o->split = arg;
        return true;
    case KEY_SERVER:
        o->server = arg;
        return true;
    case KEY_JOB:
        o->job = arg;
        return true;
    case KEY_RESUME:
        o->resume = arg;
        return true;
    case KEY_TOKEN_FILE:
        o->token_file = arg;
        return true;
    case KEY_DIGESTS:
        o->digests = arg;
        return true;
    case KEY_DEVICE:
        o->device = parse_device(state, arg);
        return true;
    case KEY_DATA:
        fby_words_add(&o->data, arg);
        return true;
    case KEY_FIELD:
        fby_words_add(&o->fields, arg);
        return true;
    case KEY_VERIFY:
        o->verify = true;
        return true;
    case KEY_JSON:
        o->json = true;
        return true;
    default:
        return false;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fby_pull_options *o = state->input;
    if (key == ARGP_KEY_END) {
        check_options(state, o);
        return 0;
    }
    if (key == ARGP_KEY_ARG) {
        fby_option_unexpected(state, arg, "--pipeline");
        return 0;
    }
    if (parse_name(key, arg, state, o) || parse_amount(key, arg, state, o)) {
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {options, parse_option, NULL,
    "Take batches as a trainer would, and say how fast they came.\v"
    "Examples:\n"
    "  forebay pull --pipeline p.yaml\n"
    "  forebay pull --pipeline p.yaml --workers 4 --epochs 3 --json\n"
    "  forebay pull --pipeline p.yaml --token-file t --epochs 9\n"
    "  forebay pull --pipeline p.yaml --resume @t --epochs 9\n"
    "  forebay pull --pipeline p.yaml --device cuda --steps 500\n"
    "  forebay pull --pipeline p.yaml --server tcp://host:7070 \\\n"
    "      --job run1 --rank 0 --world 2\n"
    "Without --server it runs a server and workers of its own for as long as\n"
    "it lasts. A run of few steps is mostly start: --steps 500 tells how\n"
    "fast. Ctrl-C ends it with the token to go on from (exit code 130).",
    NULL, NULL, NULL};

void fby_pull_parse(int argc, char **argv, struct fby_pull_options *out)
{
    *out = (struct fby_pull_options){.world = 1, .token_every = 1};
    fby_option_parse(&argp, argc, argv, out);
    if (out->workers == 0) {
        out->workers = DEFAULT_WORKERS;
    }
}
