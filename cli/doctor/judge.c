#include "cli/doctor/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/plural.h"

static const uint64_t kib = UINT64_C(1) << 10;
static const uint64_t mib = UINT64_C(1) << 20;
static const uint64_t gib = UINT64_C(1) << 30;

enum { FEW_FILES = 1024, TOO_FEW_FILES = 256 };

static const int64_t coarse_clock_ns    = 1000000;  /* 1 ms */
static const int64_t slow_round_trip_ns = 50000000; /* 50 ms */
static const double  slow_copy          = 2e9;      /* bytes a second */
static const double  slow_expand        = 1e9;
static const double  overlap_share      = 0.5; /* of the shorter time */

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
    enum fby_doctor_state state, const char *format, ...)
{
    struct fby_verdict out = {.state = state};
    va_list            args;
    va_start(args, format);
    (void)vsnprintf(out.finding, sizeof(out.finding), format, args);
    va_end(args);
    return out;
}

static void advise(struct fby_verdict *verdict, const char *advice)
{
    snprintf(verdict->advice, sizeof(verdict->advice), "%s", advice);
}

struct size_text {
    char text[32];
};

static struct size_text show_size(uint64_t bytes)
{
    struct size_text out;
    if (bytes == UINT64_MAX) {
        snprintf(out.text, sizeof(out.text), "no limit");
    } else if (bytes >= gib) {
        snprintf(out.text, sizeof(out.text), "%.1f GiB",
            (double)bytes / (double)gib);
    } else if (bytes >= mib) {
        snprintf(out.text, sizeof(out.text), "%.0f MiB",
            (double)bytes / (double)mib);
    } else {
        snprintf(out.text, sizeof(out.text), "%.0f KiB",
            (double)bytes / (double)kib);
    }
    return out;
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* ---- The machine --------------------------------------------------------- */

struct fby_verdict fby_judge_cpus(const struct fby_cpu_facts *facts)
{
    uint32_t usable =
        facts->allowed < facts->quota ? facts->allowed : facts->quota;
    bool bound  = facts->quota < facts->allowed;
    bool masked = facts->online > facts->allowed;

    struct fby_verdict out = fby_verdict(FBY_DOCTOR_OK,
        "%u of %s may be used%s%s", usable,
        fby_plural(facts->online > 0 ? facts->online : facts->allowed, "CPU")
            .text,
        masked ? "; affinity keeps this process off the others" : "",
        bound ? "; the cgroup's quota bounds it" : "");
    if (usable < 2) {
        out.state = FBY_DOCTOR_WARN;
        advise(&out, "give it 2 CPUs or more: decoding and the trainer share "
                     "this one");
    } else if (bound || masked) {
        out.state = FBY_DOCTOR_NOTE;
        advise(&out, bound ? "raise cpu.max (a container's --cpus) if more was "
                             "meant"
                           : "see taskset -p, or the container's cpuset, if "
                             "more was meant");
    }
    return out;
}

struct fby_verdict fby_judge_simd(enum fby_simd used, enum fby_simd best)
{
    if (used != best) {
        struct fby_verdict out =
            fby_verdict(FBY_DOCTOR_WARN, "%s is used, though the CPU has %s",
                fby_simd_name(used), fby_simd_name(best));
        advise(&out, "unset FOREBAY_SIMD");
        return out;
    }
    if (best == FBY_SIMD_PORTABLE) {
        return fby_verdict(FBY_DOCTOR_NOTE,
            "portable code is used: the CPU has no AVX2; several times slower");
    }
    return fby_verdict(
        FBY_DOCTOR_OK, "%s is used, the best of this CPU", fby_simd_name(used));
}

struct fby_verdict fby_judge_numa(
    uint32_t nodes, const struct fby_card_facts *cards, uint32_t n)
{
    if (nodes == 0) {
        return fby_verdict(
            FBY_DOCTOR_NOTE, "the system does not tell of NUMA nodes");
    }
    if (nodes == 1) {
        return fby_verdict(FBY_DOCTOR_OK, "one node: all memory is near");
    }
    if (n == 0) {
        return fby_verdict(FBY_DOCTOR_OK,
            "%u nodes; no network card is nearer to some of the CPUs", nodes);
    }
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_NOTE, "%u nodes", nodes);
    for (uint32_t i = 0; i < n; i++) {
        size_t used = strlen(out.finding);
        snprintf(out.finding + used, sizeof(out.finding) - used,
            "; card %s is on node %d (CPUs %s)", cards[i].card, cards[i].node,
            cards[i].near);
    }
    advise(&out, "let a worker's --listen name the card's address, or give "
                 "--numa, so that it works near it");
    return out;
}

struct fby_verdict fby_judge_memory(const struct fby_memory_facts *facts)
{
    if (facts->total == 0) {
        return fby_verdict(
            FBY_DOCTOR_NOTE, "the system does not tell of its memory");
    }
    bool     bound  = facts->limit < facts->total;
    uint64_t usable = bound ? facts->limit : facts->total;

    struct fby_verdict out =
        fby_verdict(FBY_DOCTOR_OK, "%s, %s of it available",
            show_size(facts->total).text, show_size(facts->available).text);
    if (bound) {
        size_t used = strlen(out.finding);
        snprintf(out.finding + used, sizeof(out.finding) - used,
            "; the cgroup allows %s", show_size(facts->limit).text);
    }
    if (usable < 2 * gib || facts->available < gib) {
        out.state = FBY_DOCTOR_WARN;
        advise(&out, "a worker takes 1 GiB (--memory), a client up to 1.25 GiB "
                     "(--window): make these smaller, or free or allow more");
    }
    return out;
}

struct fby_verdict fby_judge_memlock(uint64_t bytes)
{
    struct fby_verdict out = fby_verdict(
        FBY_DOCTOR_OK, "memory that may be locked: %s", show_size(bytes).text);
    if (bytes < gib) {
        out.state = FBY_DOCTOR_NOTE;
        advise(&out, "where memory is pinned for a GPU or a network card: "
                     "ulimit -l unlimited (a container's --ulimit memlock=-1)");
    }
    return out;
}

struct fby_verdict fby_judge_shm(uint64_t bytes)
{
    struct fby_verdict out =
        bytes > 0 ? fby_verdict(
                        FBY_DOCTOR_OK, "/dev/shm has %s", show_size(bytes).text)
                  : fby_verdict(FBY_DOCTOR_NOTE, "there is no /dev/shm");
    if (bytes < gib) {
        out.state = FBY_DOCTOR_NOTE;
        advise(&out, "Forebay needs none; a framework's own loader and NCCL "
                     "do: a container's --shm-size");
    }
    return out;
}

struct fby_verdict fby_judge_huge_pages(const char *setting)
{
    if (strcmp(setting, "always") == 0 || strcmp(setting, "madvise") == 0) {
        return fby_verdict(FBY_DOCTOR_OK,
            "transparent huge pages: %s; batches lie in them", setting);
    }
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_NOTE,
        "transparent huge pages: %s; batches lie in small pages",
        setting[0] != '\0' ? setting : "none");
    if (setting[0] != '\0') {
        advise(&out, "as root: echo madvise > "
                     "/sys/kernel/mm/transparent_hugepage/enabled");
    }
    return out;
}

struct fby_verdict fby_judge_files(uint64_t files)
{
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_OK,
        files == UINT64_MAX ? "files open at once: no limit"
                            : "files open at once: %llu",
        (unsigned long long)files);
    if (files < FEW_FILES) {
        out.state = files < TOO_FEW_FILES ? FBY_DOCTOR_FAIL : FBY_DOCTOR_WARN;
        advise(&out, "raise the hard limit, ulimit -Hn: shards and connections "
                     "take one each");
    }
    return out;
}

struct fby_verdict fby_judge_clock(const struct fby_clock_facts *facts)
{
    const char *wall = !facts->known         ? "not known to be synchronised"
                       : facts->synchronised ? "synchronised"
                                             : "not synchronised";

    struct fby_verdict out =
        fby_verdict(FBY_DOCTOR_OK, "monotonic to %lld ns; the wall clock is %s",
            (long long)facts->resolution_ns, wall);
    if (facts->resolution_ns >= coarse_clock_ns) {
        out.state = FBY_DOCTOR_WARN;
        advise(&out, "see /sys/devices/system/clocksource: times of a batch "
                     "cannot be told at that resolution");
    } else if (!facts->known || !facts->synchronised) {
        out.state = FBY_DOCTOR_NOTE;
        advise(&out, "only the times in logs of several hosts need it: chrony "
                     "or systemd-timesyncd");
    }
    return out;
}

struct fby_verdict fby_judge_copy(double bytes_per_s)
{
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_OK,
        "memory is copied at %.1f GB/s by one thread", bytes_per_s / 1e9);
    if (bytes_per_s < slow_copy) {
        out.state = FBY_DOCTOR_WARN;
        advise(&out, "that is slow: look for other load on its memory");
    }
    return out;
}

struct fby_verdict fby_judge_expand(double bytes_per_s)
{
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_OK,
        "pixels become f32 at %.1f GB/s of tensors (%.0f pictures/s of "
        "224 x 224) by one thread",
        bytes_per_s / 1e9, bytes_per_s / (4.0 * 3 * 224 * 224));
    if (bytes_per_s < slow_expand) {
        out.state = FBY_DOCTOR_WARN;
        advise(&out,
            "that is slow: see simd above, and look for a build without "
            "optimisation");
    }
    return out;
}

/* In sequence both take the sum of their times. If they overlap, they take the
 * longer time and only a share of the shorter one. */
static bool overlaps(const struct fby_gpu_facts *facts)
{
    bool   copies  = facts->copy_ns > facts->expand_ns;
    double longer  = copies ? facts->copy_ns : facts->expand_ns;
    double shorter = copies ? facts->expand_ns : facts->copy_ns;
    return facts->both_ns < longer + overlap_share * shorter;
}

struct fby_verdict fby_judge_gpu(const struct fby_gpu_facts *facts)
{
    if (facts->error != NULL) {
        struct fby_verdict out =
            fby_verdict(FBY_DOCTOR_FAIL, "%s: %s", facts->name, facts->error);
        advise(&out, "see what else runs on it (nvidia-smi), and its driver's "
                     "log (dmesg)");
        return out;
    }
    bool               overlap = overlaps(facts);
    struct fby_verdict out =
        fby_verdict(overlap ? FBY_DOCTOR_OK : FBY_DOCTOR_WARN,
            "%s (sm_%d%d, %.0f GiB, a driver for CUDA %d.%d): pinned copy "
            "%.1f GB/s, expand %.0f GB/s, %s at the same time",
            facts->name, facts->major, facts->minor,
            (double)facts->bytes / (double)(UINT64_C(1) << 30),
            facts->driver / 1000, facts->driver % 1000 / 10,
            facts->copied / facts->copy_ns, facts->expanded / facts->expand_ns,
            overlap ? "both" : "but not both");
    if (!overlap) {
        advise(&out, "batches wait for each other: does another process use it "
                     "(nvidia-smi), or is CUDA_LAUNCH_BLOCKING set?");
    }
    return out;
}

/* ---- Sources ------------------------------------------------------------- */

struct fby_verdict fby_judge_source(const struct fby_source_facts *facts)
{
    if (!facts->named && facts->error == 0) {
        return fby_verdict(FBY_DOCTOR_OK, "split %s: %s can be read",
            facts->split, facts->place);
    }
    struct fby_verdict out =
        facts->named
            ? fby_verdict(FBY_DOCTOR_NOTE,
                  "split %s: no --data says where %s is, so it was not looked "
                  "at",
                  facts->split, facts->place)
            : fby_verdict(facts->served ? FBY_DOCTOR_NOTE : FBY_DOCTOR_FAIL,
                  "split %s: cannot read %s: %s", facts->split, facts->place,
                  strerror(facts->error));
    if (facts->served) {
        advise(&out, "the workers' machines need it, not this one");
    } else {
        advise(&out, facts->named ? "give --data NAME=DIR"
                                  : "correct the path in the pipeline or its "
                                    "permissions");
    }
    return out;
}

struct fby_verdict fby_judge_data(const struct fby_data_facts *facts)
{
    if (facts->error != NULL) {
        struct fby_verdict out =
            fby_verdict(facts->served ? FBY_DOCTOR_NOTE : FBY_DOCTOR_FAIL,
                "split %s: %s", facts->split, facts->error);
        advise(&out, facts->served
                         ? "the workers' machines need it, not this one"
                         : "fix or replace what it names, or correct the "
                           "pipeline");
        return out;
    }
    if (facts->whole) {
        return fby_verdict(FBY_DOCTOR_OK, "split %s: %s in %s", facts->split,
            fby_plural(facts->samples, "sample").text,
            fby_plural(facts->shards, "shard").text);
    }
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_NOTE,
        "split %s: nothing wrong in %" PRIu64 " of %" PRIu64
        " parts, the others were not looked at",
        facts->split, facts->done, facts->total);
    advise(&out, "forebay index looks at all");
    return out;
}

struct fby_verdict fby_judge_cache(const struct fby_cache_facts *facts)
{
    if (facts->error != 0) {
        struct fby_verdict out =
            fby_verdict(FBY_DOCTOR_WARN, "cannot write manifests to %s: %s",
                facts->directory, strerror(facts->error));
        advise(&out, "set FOREBAY_CACHE_DIR, or every start looks at all data "
                     "anew");
        return out;
    }
    struct fby_verdict out =
        fby_verdict(FBY_DOCTOR_OK, "manifests go to %s, which has %s free",
            facts->directory, show_size(facts->free_bytes).text);
    if (facts->free_bytes < 64 * mib) {
        out.state = FBY_DOCTOR_WARN;
        advise(&out, "free some room there, or set FOREBAY_CACHE_DIR");
    }
    return out;
}

/* ---- Server and workers -------------------------------------------------- */

struct fby_verdict fby_judge_unresolved(const char *why)
{
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_FAIL, "%s", why);
    advise(
        &out, "correct --server, or ask the administrator of the name service");
    return out;
}

/* No connection, a refusal or no answer; `expected`: "server" or "worker". */
static struct fby_verdict judge_failure(
    const struct fby_answer_facts *facts, const char *expected)
{
    struct fby_verdict out = {.state = FBY_DOCTOR_FAIL};
    if (facts->error != 0) {
        out = fby_verdict(FBY_DOCTOR_FAIL, "%s: cannot connect: %s",
            facts->name, strerror(facts->error));
        advise(&out, facts->error == ECONNREFUSED
                         ? "nothing listens there: start it, and compare the "
                           "port with its --listen"
                         : "check the address, the route and firewalls "
                           "between the machines");
    } else if (facts->answer == FBY_ANSWER_REFUSED) {
        out = fby_verdict(
            FBY_DOCTOR_FAIL, "%s: it refused: %s", facts->name, facts->text);
        advise(&out, "a trainer is refused there too: end others, or give it "
                     "more --memory");
    } else {
        out = fby_verdict(FBY_DOCTOR_FAIL,
            "%s: connected, but no answer in time", facts->name);
        snprintf(out.advice, sizeof(out.advice),
            "see whether it is a Forebay %s of this version, and whether it is "
            "stopped or overloaded",
            expected);
    }
    return out;
}

static void judge_round_trip(
    const struct fby_answer_facts *facts, struct fby_verdict *out)
{
    if (facts->round_trip_ns > slow_round_trip_ns) {
        out->state = FBY_DOCTOR_WARN;
        advise(out, "that is far away, or something is overloaded: expect "
                    "slow starts, and give clients a larger --window");
    }
}

struct fby_verdict fby_judge_server(
    const struct fby_answer_facts *facts, uint64_t workers)
{
    if (facts->error != 0 || facts->answer != FBY_ANSWER_GIVEN) {
        return judge_failure(facts, "server");
    }
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_OK,
        "%s: connected in %.2f ms, round trip %.2f ms; it knows %s",
        facts->name, ms(facts->connect_ns), ms(facts->round_trip_ns),
        workers > 0 ? fby_plural(workers, "worker").text : "no worker");
    judge_round_trip(facts, &out);
    if (workers == 0) {
        out.state = FBY_DOCTOR_FAIL;
        advise(&out, "start workers: forebay worker --server ADDR --data "
                     "NAME=DIR; what they say when they cannot register tells "
                     "why");
    }
    return out;
}

struct fby_verdict fby_judge_worker(const struct fby_answer_facts *facts)
{
    if (facts->error != 0 || facts->answer != FBY_ANSWER_GIVEN) {
        return judge_failure(facts, "worker");
    }
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_OK,
        "%s: protocol %u, connected in %.2f ms, round trip %.2f ms",
        facts->name, facts->version, ms(facts->connect_ns),
        ms(facts->round_trip_ns));
    judge_round_trip(facts, &out);
    return out;
}

struct fby_verdict fby_judge_exposure(
    uint32_t open, uint32_t n, const char *first)
{
    if (open == 0) {
        return fby_verdict(
            FBY_DOCTOR_OK, "all that listens is on loopback alone");
    }
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_WARN,
        "%u of %s listen beyond loopback without keys, as %s", open,
        fby_plural(n, "address").text, first);
    advise(&out, "anyone who can reach them can read the data and register "
                 "workers: keep them in a trusted network");
    return out;
}

struct fby_verdict fby_judge_stream(const struct fby_stream_facts *facts)
{
    if (facts->error != NULL) {
        struct fby_verdict failed =
            fby_verdict(FBY_DOCTOR_FAIL, "%s", facts->error);
        advise(&failed,
            facts->timed_out
                ? "see the server and its workers above; where they are still "
                  "looking at the data, try again, or run forebay index there "
                  "first"
                : "correct what it names: the options, the pipeline or the "
                  "data");
        return failed;
    }
    if (facts->batches < 2 || facts->seconds <= 0) {
        return fby_verdict(FBY_DOCTOR_NOTE,
            "%s came, the first after %.1f s: too few to say how fast",
            fby_plural(facts->batches, "batch").text, facts->first_s);
    }
    double             s   = facts->seconds;
    struct fby_verdict out = fby_verdict(FBY_DOCTOR_OK,
        "%.0f images/s, %.1f MB/s on the wire (%.1f MB/s raw) in %.1f s, the "
        "first batch after %.1f s; %u of %s in use",
        (double)facts->images / s, (double)facts->wire_bytes / 1e6 / s,
        (double)facts->raw_bytes / 1e6 / s, s, facts->first_s, facts->in_use,
        fby_plural(facts->known, "worker").text);
    if (facts->left_aside > 0 || facts->lost > 0) {
        out.state = FBY_DOCTOR_WARN;
        advise(&out, facts->left_aside > 0
                         ? "workers with other data or another build were left "
                           "aside: make them the same"
                         : "batches had to be asked for again: see which "
                           "worker fails above");
    } else if (facts->in_use < facts->known) {
        out.state = FBY_DOCTOR_NOTE;
        advise(&out, "the others did not answer, or were not needed");
    }
    return out;
}
