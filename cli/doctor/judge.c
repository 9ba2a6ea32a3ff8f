/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - the thresholds and texts of the verdicts of `forebay doctor`. */
#include "cli/doctor/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/plural.h"

static const uint64_t mib = UINT64_C(1) << 20;
static const uint64_t gib = UINT64_C(1) << 30;

enum { WARN_BELOW_FILES = 1024, FAIL_BELOW_FILES = 256 };

static const int64_t coarse_clock_ns    = 1000000;  /* 1 ms */
static const int64_t slow_round_trip_ns = 50000000; /* 50 ms */
static const double  slow_copy_per_s    = 2e9;      /* bytes */
static const double  slow_expand_per_s  = 1e9;      /* bytes of tensors */
static const double  picture_bytes      = 4.0 * 3 * 224 * 224; /* of f32 RGB */

static const char served_elsewhere[] =
    "the workers' machines need it, not this one";

const char *fby_doctor_state_name(enum fby_doctor_state state)
{
    static const char *const names[] = {
        [FBY_DOCTOR_OK]   = "ok",
        [FBY_DOCTOR_NOTE] = "note",
        [FBY_DOCTOR_WARN] = "warn",
        [FBY_DOCTOR_FAIL] = "FAIL",
    };
    return names[state];
}

struct fby_verdict fby_verdict(
    enum fby_doctor_state state, const char *advice, const char *format, ...)
{
    struct fby_verdict out = {.state = state};
    va_list            args;
    va_start(args, format);
    (void)vsnprintf(out.finding, sizeof(out.finding), format, args);
    va_end(args);
    snprintf(
        out.advice, sizeof(out.advice), "%s", advice != NULL ? advice : "");
    return out;
}

struct size_text {
    char text[32];
};

static struct size_text format_size(uint64_t bytes)
{
    struct size_text out = {"no limit"};
    if (bytes != UINT64_MAX && bytes >= gib) {
        snprintf(out.text, sizeof(out.text), "%.1f GiB",
            (double)bytes / (double)gib);
    } else if (bytes != UINT64_MAX) {
        bool large = bytes >= mib;
        snprintf(out.text, sizeof(out.text), large ? "%.0f MiB" : "%.0f KiB",
            (double)bytes / (large ? (double)mib : 1024.0));
    }
    return out;
}

static double to_ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* ---- The machine --------------------------------------------------------- */

struct fby_verdict fby_judge_cpus(const struct fby_cpu_facts *facts)
{
    bool     by_quota = facts->quota < facts->allowed;
    bool     by_mask  = facts->online > facts->allowed;
    uint32_t usable   = by_quota ? facts->quota : facts->allowed;
    uint32_t existing = facts->online > 0 ? facts->online : facts->allowed;

    enum fby_doctor_state state  = FBY_DOCTOR_OK;
    const char           *advice = NULL;
    if (usable < 2) {
        state  = FBY_DOCTOR_WARN;
        advice = "give this process 2 CPUs or more: decoding and the trainer "
                 "share one";
    } else if (by_quota || by_mask) {
        state  = FBY_DOCTOR_NOTE;
        advice = by_quota
                     ? "raise cpu.max (a container's --cpus) if more CPUs "
                       "were intended"
                     : "see taskset -p, or the container's cpuset, if more "
                       "CPUs were intended";
    }
    return fby_verdict(state, advice, "%u of %s may be used%s%s", usable,
        fby_plural(existing, "CPU").text,
        by_mask ? "; affinity keeps this process off the others" : "",
        by_quota ? "; the cgroup's quota bounds it" : "");
}

struct fby_verdict fby_judge_simd(enum fby_simd used, enum fby_simd best)
{
    if (used != best) {
        return fby_verdict(FBY_DOCTOR_WARN, "unset FOREBAY_SIMD",
            "%s is used, though the CPU has %s", fby_simd_name(used),
            fby_simd_name(best));
    }
    if (best == FBY_SIMD_PORTABLE) {
        return fby_verdict(FBY_DOCTOR_NOTE, NULL,
            "portable code is used: the CPU has no AVX2; several times slower");
    }
    return fby_verdict(FBY_DOCTOR_OK, NULL, "%s is used, the best of this CPU",
        fby_simd_name(used));
}

struct fby_verdict fby_judge_numa(
    uint32_t nodes, const struct fby_card_facts *cards, uint32_t n)
{
    if (nodes == 0) {
        return fby_verdict(
            FBY_DOCTOR_NOTE, NULL, "the system does not report NUMA nodes");
    }
    if (nodes == 1) {
        return fby_verdict(
            FBY_DOCTOR_OK, NULL, "one node: all memory is local");
    }
    if (n == 0) {
        return fby_verdict(FBY_DOCTOR_OK, NULL,
            "%u nodes; no network card is nearer to some of the CPUs", nodes);
    }
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_NOTE,
        "give a worker --listen with the card's address, or --numa, so that it "
        "runs near the card",
        "%u nodes", nodes);
    for (uint32_t i = 0; i < n; i++) {
        size_t used = strlen(out.finding);
        snprintf(out.finding + used, sizeof(out.finding) - used,
            "; card %s is on node %d (CPUs %s)", cards[i].card, cards[i].node,
            cards[i].cpus);
    }
    return out;
}

struct fby_verdict fby_judge_memory(const struct fby_memory_facts *facts)
{
    if (facts->total == 0) {
        return fby_verdict(
            FBY_DOCTOR_NOTE, NULL, "the system does not report its memory");
    }
    bool     limited = facts->limit < facts->total;
    uint64_t usable  = limited ? facts->limit : facts->total;
    bool     little  = usable < 2 * gib || facts->available < gib;
    return fby_verdict(little ? FBY_DOCTOR_WARN : FBY_DOCTOR_OK,
        little ? "a worker takes 1 GiB, or half of the cgroup's limit if that "
                 "is less (--memory), a client up to 1.25 GiB (--window): make "
                 "these smaller, free memory, or allow more"
               : NULL,
        "%s, %s of it available%s%s", format_size(facts->total).text,
        format_size(facts->available).text,
        limited ? "; the cgroup allows " : "",
        limited ? format_size(facts->limit).text : "");
}

struct fby_verdict fby_judge_memlock(uint64_t bytes)
{
    bool little = bytes < gib;
    return fby_verdict(little ? FBY_DOCTOR_NOTE : FBY_DOCTOR_OK,
        little ? "raise it if memory is pinned for a GPU or a network card: "
                 "ulimit -l unlimited (a container's --ulimit memlock=-1)"
               : NULL,
        "memory that may be locked: %s", format_size(bytes).text);
}

struct fby_verdict fby_judge_shm(uint64_t bytes)
{
    bool little = bytes < gib;
    return fby_verdict(little ? FBY_DOCTOR_NOTE : FBY_DOCTOR_OK,
        little ? "Forebay needs none, but PyTorch's DataLoader and NCCL do: "
                 "raise a container's --shm-size"
               : NULL,
        bytes > 0 ? "/dev/shm has %s" : "there is no /dev/shm",
        format_size(bytes).text);
}

struct fby_verdict fby_judge_huge_pages(const char *setting)
{
    bool known = setting[0] != '\0';
    if (strcmp(setting, "always") == 0 || strcmp(setting, "madvise") == 0) {
        return fby_verdict(FBY_DOCTOR_OK, NULL,
            "transparent huge pages: %s; batches use them", setting);
    }
    return fby_verdict(FBY_DOCTOR_NOTE,
        known ? "as root: echo madvise > "
                "/sys/kernel/mm/transparent_hugepage/enabled"
              : NULL,
        "transparent huge pages: %s; batches use small pages",
        known ? setting : "none");
}

struct fby_verdict fby_judge_files(uint64_t files)
{
    bool few = files < WARN_BELOW_FILES;
    return fby_verdict(files < FAIL_BELOW_FILES ? FBY_DOCTOR_FAIL
                       : few                    ? FBY_DOCTOR_WARN
                                                : FBY_DOCTOR_OK,
        few ? "raise the hard limit, ulimit -Hn: shards and connections take "
              "one each"
            : NULL,
        files == UINT64_MAX ? "files open at once: no limit"
                            : "files open at once: %llu",
        (unsigned long long)files);
}

struct fby_verdict fby_judge_clock(const struct fby_clock_facts *facts)
{
    const char *wall_clock = !facts->known ? "not known to be synchronised"
                             : facts->synchronised ? "synchronised"
                                                   : "not synchronised";

    enum fby_doctor_state state  = FBY_DOCTOR_OK;
    const char           *advice = NULL;
    if (facts->resolution_ns >= coarse_clock_ns) {
        state  = FBY_DOCTOR_WARN;
        advice = "see /sys/devices/system/clocksource: the times of a batch "
                 "cannot be measured at that resolution";
    } else if (!facts->known || !facts->synchronised) {
        state  = FBY_DOCTOR_NOTE;
        advice = "to compare logs of several hosts, synchronise it: chrony or "
                 "systemd-timesyncd";
    }
    return fby_verdict(state, advice,
        "the monotonic clock has steps of %lld ns; the wall clock is %s",
        (long long)facts->resolution_ns, wall_clock);
}

struct fby_verdict fby_judge_copy_speed(double bytes_per_s)
{
    bool slow = bytes_per_s < slow_copy_per_s;
    return fby_verdict(slow ? FBY_DOCTOR_WARN : FBY_DOCTOR_OK,
        slow ? "that is slow: look for other load on the memory" : NULL,
        "memory is copied at %.1f GB/s by one thread", bytes_per_s / 1e9);
}

struct fby_verdict fby_judge_expand_speed(double bytes_per_s)
{
    bool slow = bytes_per_s < slow_expand_per_s;
    return fby_verdict(slow ? FBY_DOCTOR_WARN : FBY_DOCTOR_OK,
        slow ? "that is slow: see simd above, and look for a build without "
               "optimisation"
             : NULL,
        "pixels become f32 at %.1f GB/s of tensors (%.0f pictures/s of 224 x "
        "224) by one thread",
        bytes_per_s / 1e9, bytes_per_s / picture_bytes);
}

/* One after the other, both take longer + shorter; with full overlap only the
 * longer time. The limit is the middle. */
static bool did_overlap(const struct fby_gpu_facts *facts)
{
    bool   copy_is_longer = facts->copy_ns > facts->expand_ns;
    double longer         = copy_is_longer ? facts->copy_ns : facts->expand_ns;
    double shorter        = copy_is_longer ? facts->expand_ns : facts->copy_ns;
    return facts->both_ns < longer + shorter / 2;
}

struct fby_verdict fby_judge_gpu(const struct fby_gpu_facts *facts)
{
    if (facts->error != NULL) {
        return fby_verdict(FBY_DOCTOR_FAIL,
            "see what else runs on the GPU (nvidia-smi), and the log of its "
            "driver (dmesg)",
            "%s: %s", facts->name, facts->error);
    }
    bool overlap = did_overlap(facts);
    int  minor   = facts->driver % 1000 / 10; /* 13020 is 13.2 */
    return fby_verdict(overlap ? FBY_DOCTOR_OK : FBY_DOCTOR_WARN,
        overlap ? NULL
                : "batches wait for each other: does another process use the "
                  "GPU (nvidia-smi), or is CUDA_LAUNCH_BLOCKING set?",
        "%s (sm_%d%d, %.0f GiB, a driver for CUDA %d.%d): pinned copy %.1f "
        "GB/s, expand %.0f GB/s, %s at the same time",
        facts->name, facts->major, facts->minor,
        (double)facts->bytes / (double)gib, facts->driver / 1000, minor,
        facts->copied / facts->copy_ns, /* bytes per ns are GB/s */
        facts->expanded / facts->expand_ns, overlap ? "both" : "but not both");
}

/* ---- Sources ------------------------------------------------------------- */

struct fby_verdict fby_judge_source(const struct fby_source_facts *facts)
{
    if (facts->unknown_root) {
        return fby_verdict(FBY_DOCTOR_NOTE,
            facts->served ? served_elsewhere : "give --data NAME=DIR",
            "split %s: no --data gives the directory of %s, so it was not "
            "checked",
            facts->split, facts->path);
    }
    if (facts->error == 0) {
        return fby_verdict(FBY_DOCTOR_OK, NULL, "split %s: %s can be read",
            facts->split, facts->path);
    }
    return fby_verdict(facts->served ? FBY_DOCTOR_NOTE : FBY_DOCTOR_FAIL,
        facts->served ? served_elsewhere
                      : "correct the path in the pipeline or its permissions",
        "split %s: cannot read %s: %s", facts->split, facts->path,
        strerror(facts->error));
}

struct fby_verdict fby_judge_data(const struct fby_data_facts *facts)
{
    if (facts->error != NULL) {
        return fby_verdict(facts->served ? FBY_DOCTOR_NOTE : FBY_DOCTOR_FAIL,
            facts->served
                ? served_elsewhere
                : "fix or replace what it names, or correct the pipeline",
            "split %s: %s", facts->split, facts->error);
    }
    if (facts->whole) {
        return fby_verdict(FBY_DOCTOR_OK, NULL, "split %s: %s in %s",
            facts->split, fby_plural(facts->samples, "sample").text,
            fby_plural(facts->shards, "shard").text);
    }
    return fby_verdict(FBY_DOCTOR_NOTE, "forebay index checks all parts",
        "split %s: no error in %" PRIu64 " of %" PRIu64
        " parts; the others were not checked",
        facts->split, facts->done, facts->total);
}

struct fby_verdict fby_judge_cache(const struct fby_cache_facts *facts)
{
    bool little = facts->free_bytes < 64 * mib;
    if (facts->error != 0) {
        return fby_verdict(FBY_DOCTOR_WARN,
            "set FOREBAY_CACHE_DIR, or every start reads all data again",
            "cannot write manifests to %s: %s", facts->directory,
            strerror(facts->error));
    }
    return fby_verdict(little ? FBY_DOCTOR_WARN : FBY_DOCTOR_OK,
        little ? "free some room there, or set FOREBAY_CACHE_DIR" : NULL,
        "manifests go to %s, which has %s free", facts->directory,
        format_size(facts->free_bytes).text);
}

/* ---- Server and workers -------------------------------------------------- */

struct fby_verdict fby_judge_unresolved(const char *why)
{
    return fby_verdict(FBY_DOCTOR_FAIL,
        "correct --server, or ask the administrator of the name service", "%s",
        why);
}

/* The verdict on a peer that could not be reached, refused or did not answer.
 * `expected` is "server" or "worker". */
static struct fby_verdict judge_failure(
    const struct fby_answer_facts *facts, const char *expected)
{
    char advice[160];
    if (facts->error != 0) {
        return fby_verdict(FBY_DOCTOR_FAIL,
            facts->error == ECONNREFUSED
                ? "no process listens there: start it, and compare the port "
                  "with its --listen"
                : "check the address, the route and firewalls between the "
                  "machines",
            "%s: cannot connect: %s", facts->name, strerror(facts->error));
    }
    if (facts->answer == FBY_ANSWER_KEY_REFUSED) {
        return fby_verdict(FBY_DOCTOR_FAIL,
            "use a key that the server admits (forebay keys list DIR), and "
            "--job with a name that it permits",
            "%s: refused: %s", facts->name, facts->text);
    }
    if (facts->answer == FBY_ANSWER_REFUSED) {
        return fby_verdict(FBY_DOCTOR_FAIL,
            "trainers are refused, too: end some of them, or give a worker "
            "more --memory",
            "%s: refused: %s", facts->name, facts->text);
    }
    snprintf(advice, sizeof(advice),
        "see whether it is a Forebay %s of this version, whether it is "
        "stopped or overloaded, and %s",
        expected,
        facts->has_keys ? "whether the key file is of this server"
                        : "whether it has keys (--keys)");
    return fby_verdict(FBY_DOCTOR_FAIL, advice,
        "%s: connected, but no answer in time", facts->name);
}

/* The advice for a slow round trip; NULL: the round trip is not slow. */
static const char *advice_if_slow(const struct fby_answer_facts *facts)
{
    return facts->round_trip_ns > slow_round_trip_ns
               ? "the machine is far away or overloaded: expect slow starts, "
                 "and give clients a larger --window"
               : NULL;
}

struct fby_verdict fby_judge_server(
    const struct fby_answer_facts *facts, uint64_t workers)
{
    if (facts->error != 0 || facts->answer != FBY_ANSWER_GIVEN) {
        return judge_failure(facts, "server");
    }
    const char           *advice = advice_if_slow(facts);
    enum fby_doctor_state state =
        advice != NULL ? FBY_DOCTOR_WARN : FBY_DOCTOR_OK;
    if (workers == 0) {
        state  = FBY_DOCTOR_FAIL;
        advice = "start workers: forebay worker --server ADDR --data NAME=DIR; "
                 "if they cannot register, their messages give the cause";
    }
    return fby_verdict(state, advice,
        "%s: connected in %.2f ms, round trip %.2f ms; it knows %s",
        facts->name, to_ms(facts->connect_ns), to_ms(facts->round_trip_ns),
        workers > 0 ? fby_plural(workers, "worker").text : "no worker");
}

/* The advice for a worker that answered; NULL: there is nothing to do. */
static const char *advice_for_worker(const struct fby_answer_facts *facts)
{
    return facts->is_elsewhere
               ? "only this host reaches its loopback address: start it with "
                 "--listen and an address of its own host"
               : advice_if_slow(facts);
}

struct fby_verdict fby_judge_worker(const struct fby_answer_facts *facts)
{
    bool failed = facts->error != 0 || facts->answer != FBY_ANSWER_GIVEN;
    if (failed && facts->is_elsewhere) {
        return fby_verdict(FBY_DOCTOR_FAIL,
            "start it with --listen and an address of its own host, which "
            "trainers reach",
            "%s: a loopback address, perhaps of another host: no other host "
            "reaches this worker",
            facts->name);
    }
    if (failed) {
        return judge_failure(facts, "worker");
    }
    const char *advice     = advice_for_worker(facts);
    char        admits[48] = "requires a ticket of its server";
    if (!facts->has_keys) {
        snprintf(admits, sizeof(admits), "protocol %u", facts->version);
    }
    return fby_verdict(advice != NULL ? FBY_DOCTOR_WARN : FBY_DOCTOR_OK, advice,
        "%s: %s, connected in %.2f ms, round trip %.2f ms", facts->name, admits,
        to_ms(facts->connect_ns), to_ms(facts->round_trip_ns));
}

struct fby_verdict fby_judge_exposure(
    bool has_keys, uint32_t exposed, uint32_t n, const char *first)
{
    if (has_keys) {
        return fby_verdict(FBY_DOCTOR_OK, NULL, "the cluster has keys");
    }
    if (exposed == 0) {
        return fby_verdict(
            FBY_DOCTOR_OK, NULL, "all addresses are on loopback");
    }
    return fby_verdict(FBY_DOCTOR_WARN,
        "anyone who can reach them can read the data and register workers "
        "(--insecure): keep them in a trusted network",
        "%u of %s listen beyond loopback without keys, as %s", exposed,
        fby_plural(n, "address").text, first);
}

struct fby_verdict fby_judge_stream(const struct fby_stream_facts *facts)
{
    double seconds = facts->seconds;
    if (facts->error != NULL) {
        return fby_verdict(FBY_DOCTOR_FAIL,
            facts->timed_out ? "see the server and its workers above; where "
                               "they are still looking at the data, try again, "
                               "or run forebay index there first"
                             : "correct what it names: the options, the "
                               "pipeline or the data",
            "%s", facts->error);
    }
    if (facts->batches < 2 || seconds <= 0) {
        return fby_verdict(FBY_DOCTOR_NOTE, NULL,
            "%s came, the first after %.1f s: too few to say how fast",
            fby_plural(facts->batches, "batch").text, facts->first_s);
    }
    enum fby_doctor_state state  = FBY_DOCTOR_OK;
    const char           *advice = NULL;
    if (facts->left_aside > 0 || facts->lost > 0) {
        state  = FBY_DOCTOR_WARN;
        advice = facts->left_aside > 0
                     ? "workers with other data or another build were not "
                       "used: make them the same"
                     : "batches had to be requested again: see which worker "
                       "fails above";
    } else if (facts->in_use < facts->known) {
        state  = FBY_DOCTOR_NOTE;
        advice = "the others did not answer, or were not needed";
    }
    return fby_verdict(state, advice,
        "%.0f %ss/s, %.1f MB/s on the wire (%.1f MB/s raw) in %.1f s, the "
        "first batch after %.1f s; %u of %s in use",
        (double)facts->samples / seconds, facts->noun,
        (double)facts->wire_bytes / 1e6 / seconds,
        (double)facts->raw_bytes / 1e6 / seconds, seconds, facts->first_s,
        facts->in_use, fby_plural(facts->known, "worker").text);
}
