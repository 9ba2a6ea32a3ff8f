/* SPDX-License-Identifier: Apache-2.0 */
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
#include "common/cgroup.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/cpus.h"
#include "common/hash.h"
#include "common/simd.h"
#include "forebay/forebay.h"

/* QUOTED(x) is the value of the macro x as a string. */
#define QUOTED_NAME(x) #x
#define QUOTED(x)      QUOTED_NAME(x)
#ifdef LIBJPEG_TURBO_VERSION
#define JPEG_VERSION "libjpeg-turbo " QUOTED(LIBJPEG_TURBO_VERSION)
#else
#define JPEG_VERSION "libjpeg " QUOTED(JPEG_LIB_VERSION)
#endif

enum { MAX_CARDS = 4 }; /* network cards in the report */

static struct fby_verdict check_versions(void)
{
    struct fby_hash_version hash = fby_hash_version(); /* number 802: 0.8.2 */
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

static struct fby_verdict check_kernel(void)
{
    struct utsname name;
    if (uname(&name) != 0) {
        return fby_verdict(FBY_DOCTOR_NOTE, NULL, "%s", strerror(errno));
    }
    return fby_verdict(FBY_DOCTOR_OK, NULL, "%.64s %.64s on %.64s",
        name.sysname, name.release, name.machine);
}

void fby_doctor_versions(const struct fby_doctor_options *options, int pipe_fd)
{
    (void)options;
    fby_doctor_report(pipe_fd, "versions", check_versions());
    fby_doctor_report(pipe_fd, "kernel", check_kernel());
    fby_doctor_report(
        pipe_fd, "simd", fby_judge_simd(fby_simd_level(), fby_simd_of_cpu()));
}

static struct fby_verdict check_cpus(const char *root)
{
    cpu_set_t allowed;
    if (fby_cpus_read_allowed(&allowed) != FBY_OK) {
        return fby_verdict(FBY_DOCTOR_NOTE, "set --threads of each worker",
            "the usable CPUs are unknown: more than %d exist", CPU_SETSIZE);
    }
    const struct fby_cpu_facts facts = {.online = fby_read_cpus_online(root),
        .allowed                                = (uint32_t)CPU_COUNT(&allowed),
        .quota                                  = fby_cgroup_cores(root)};
    return fby_judge_cpus(&facts);
}

static struct fby_verdict check_numa(const char *root)
{
    struct fby_card_facts cards[MAX_CARDS];
    uint32_t              n = fby_read_network_cards(root, cards, MAX_CARDS);
    return fby_judge_numa(fby_read_numa_nodes(root), cards, n);
}

static struct fby_verdict check_memory(const char *root)
{
    const struct fby_memory_facts facts = {
        .total     = fby_read_meminfo(root, "MemTotal"),
        .available = fby_read_meminfo(root, "MemAvailable"),
        .limit     = fby_cgroup_memory(root),
    };
    return fby_judge_memory(&facts);
}

static struct rlimit read_limits(int resource)
{
    struct rlimit limits = {RLIM_INFINITY, RLIM_INFINITY};
    (void)getrlimit((__rlimit_resource_t)resource, &limits);
    return limits;
}

static uint64_t limit_value(rlim_t limit)
{
    return limit == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit;
}

static struct fby_verdict check_shm(const char *root)
{
    char           path[PATH_MAX];
    struct statvfs about;
    snprintf(path, sizeof(path), "%s/dev/shm", root);
    return fby_judge_shm(statvfs(path, &about) == 0
                             ? (uint64_t)about.f_blocks * about.f_frsize
                             : 0);
}

static struct fby_verdict check_huge_pages(const char *root)
{
    char setting[16];
    fby_read_huge_pages(root, setting);
    return fby_judge_huge_pages(setting);
}

static struct fby_verdict check_clocks(void)
{
    struct timespec        resolution = {0};
    struct timex           wall       = {0};
    int                    state      = adjtimex(&wall); /* only reads */
    struct fby_clock_facts facts      = {
             .known        = state >= 0,
             .synchronised = state >= 0 && state != TIME_ERROR &&
                             (wall.status & STA_UNSYNC) == 0,
    };
    if (clock_getres(CLOCK_MONOTONIC, &resolution) == 0) {
        facts.resolution_ns =
            (int64_t)resolution.tv_sec * FBY_NS_PER_S + resolution.tv_nsec;
    }
    return fby_judge_clock(&facts);
}

void fby_doctor_machine(const struct fby_doctor_options *options, int pipe_fd)
{
    const char *root = options->root;
    fby_doctor_report(pipe_fd, "cpus", check_cpus(root));
    fby_doctor_report(pipe_fd, "numa", check_numa(root));
    fby_doctor_report(pipe_fd, "memory", check_memory(root));
    fby_doctor_report(pipe_fd, "memlock",
        fby_judge_memlock(limit_value(read_limits(RLIMIT_MEMLOCK).rlim_cur)));
    fby_doctor_report(pipe_fd, "shm", check_shm(root));
    fby_doctor_report(pipe_fd, "huge-pages", check_huge_pages(root));
    /* main() raises the soft limit of open files to the hard one. */
    fby_doctor_report(pipe_fd, "files",
        fby_judge_files(limit_value(read_limits(RLIMIT_NOFILE).rlim_max)));
    fby_doctor_report(pipe_fd, "clock", check_clocks());
}
