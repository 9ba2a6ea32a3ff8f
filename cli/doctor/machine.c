/* machine.c - check versions, CPUs, memory, limits and clocks. */
#include <errno.h>
#include <limits.h>
#include <lz4.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <zmq.h>

#include <jpeglib.h>

#include "cli/doctor/checks.h"
#include "cli/doctor/read.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/cpus.h"
#include "common/hash.h"
#include "common/simd.h"
#include "forebay/forebay.h"

#define WORDS_OF(x) #x
#define WORDS(x)    WORDS_OF(x)
#ifdef LIBJPEG_TURBO_VERSION
#define JPEG_VERSION "libjpeg-turbo " WORDS(LIBJPEG_TURBO_VERSION)
#else
#define JPEG_VERSION "libjpeg " WORDS(JPEG_LIB_VERSION)
#endif

enum { MAX_CARDS = 4 };

/* ---- Versions ------------------------------------------------------------ */

static struct fby_verdict versions(void)
{
    struct fby_hash_version hash = fby_hash_version();
    int                     zmq[3];
    zmq_version(&zmq[0], &zmq[1], &zmq[2]);
    return fby_verdict(FBY_DOCTOR_OK, NULL,
        "forebay %s, libzmq %d.%d.%d, %s, lz4 %s, xxhash %u.%u.%u (%s), "
        "libsodium %s",
        forebay_version(), zmq[0], zmq[1], zmq[2], JPEG_VERSION,
        LZ4_versionString(), hash.number / 10000, hash.number / 100 % 100,
        hash.number % 100,
        hash.dispatches ? "its kernels chosen for this CPU"
                        : "one kernel for all CPUs",
        sodium_version_string());
}

static struct fby_verdict kernel(void)
{
    struct utsname name;
    if (uname(&name) != 0) {
        return fby_verdict(FBY_DOCTOR_NOTE, NULL, "%s", strerror(errno));
    }
    return fby_verdict(FBY_DOCTOR_OK, NULL, "%.64s %.64s on %.64s",
        name.sysname, name.release, name.machine);
}

void fby_doctor_versions(const struct fby_doctor_options *options, int out)
{
    (void)options;
    fby_doctor_report(out, "versions", versions());
    fby_doctor_report(out, "kernel", kernel());
    fby_doctor_report(
        out, "simd", fby_judge_simd(fby_simd_level(), fby_simd_of_cpu()));
}

/* ---- The machine --------------------------------------------------------- */

static struct fby_verdict cpus(const char *root)
{
    struct fby_cpu_facts facts = {
        .online = fby_read_cpus_online(root), .quota = fby_cgroup_cores(root)};
    cpu_set_t allowed;
    facts.allowed = fby_cpus_allowed(&allowed) == FBY_OK
                        ? (uint32_t)CPU_COUNT(&allowed)
                        : CPU_SETSIZE;
    return fby_judge_cpus(&facts);
}

static struct fby_verdict numa(const char *root)
{
    struct fby_card_facts cards[MAX_CARDS];
    uint32_t              n = fby_read_cards(root, cards, MAX_CARDS);
    return fby_judge_numa(fby_read_nodes(root), cards, n);
}

static struct fby_verdict memory(const char *root)
{
    const struct fby_memory_facts facts = {
        .total     = fby_read_meminfo(root, "MemTotal"),
        .available = fby_read_meminfo(root, "MemAvailable"),
        .limit     = fby_read_memory_limit(root),
    };
    return fby_judge_memory(&facts);
}

/* `hard`: the hard limit, to which main() raises the soft one. */
static uint64_t limit_of(int resource, bool hard)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0) {
        return UINT64_MAX;
    }
    rlim_t value = hard ? limit.rlim_max : limit.rlim_cur;
    return value == RLIM_INFINITY ? UINT64_MAX : (uint64_t)value;
}

static struct fby_verdict shm(const char *root)
{
    char           path[PATH_MAX];
    struct statvfs about;
    snprintf(path, sizeof(path), "%s/dev/shm", root);
    return fby_judge_shm(statvfs(path, &about) == 0
                             ? (uint64_t)about.f_blocks * about.f_frsize
                             : 0);
}

static struct fby_verdict huge_pages(const char *root)
{
    char setting[16];
    fby_read_huge_pages(root, setting);
    return fby_judge_huge_pages(setting);
}

static struct fby_verdict clocks(void)
{
    struct timespec        step  = {0};
    struct timex           wall  = {0};
    int                    state = adjtimex(&wall);
    struct fby_clock_facts facts = {
        .known        = state >= 0,
        .synchronised = state >= 0 && state != TIME_ERROR &&
                        (wall.status & STA_UNSYNC) == 0,
    };
    if (clock_getres(CLOCK_MONOTONIC, &step) == 0) {
        facts.resolution_ns =
            (int64_t)step.tv_sec * FBY_NS_PER_S + step.tv_nsec;
    }
    return fby_judge_clock(&facts);
}

void fby_doctor_machine(const struct fby_doctor_options *options, int out)
{
    const char *root = options->root;
    fby_doctor_report(out, "cpus", cpus(root));
    fby_doctor_report(out, "numa", numa(root));
    fby_doctor_report(out, "memory", memory(root));
    fby_doctor_report(
        out, "memlock", fby_judge_memlock(limit_of(RLIMIT_MEMLOCK, false)));
    fby_doctor_report(out, "shm", shm(root));
    fby_doctor_report(out, "huge-pages", huge_pages(root));
    fby_doctor_report(
        out, "files", fby_judge_files(limit_of(RLIMIT_NOFILE, true)));
    fby_doctor_report(out, "clock", clocks());
}
