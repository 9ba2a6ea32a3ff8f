#include "worker/cpu_placement.h"

#include "common/log.h"
#include "worker/numa.h"

static fby_err confine_to_cpus(const char *list, struct fby_why *why)
{
    cpu_set_t set;
    fby_err   err = fby_cpus_usable(list, &set, why);
    return err == FBY_OK ? fby_cpus_confine(&set, why)
                         : fby_because_in(why, err, "--cpus %s", list);
}

static fby_err confine_to_node(uint32_t number, struct fby_why *why)
{
    struct fby_node node;
    cpu_set_t       allowed;
    fby_err         err = fby_node_find("", number, &node, why);
    if (err != FBY_OK) {
        return fby_because_in(why, err, "--numa %u", number);
    }
    if (fby_cpus_allowed(&allowed) == FBY_OK) {
        CPU_AND(&node.cpus, &node.cpus, &allowed);
    }
    if (CPU_COUNT(&node.cpus) == 0) {
        return fby_because(why, FBY_USAGE,
            "--numa %u: none of its CPUs is allowed here; a cpuset or taskset "
            "leaves %s",
            number, fby_cpus_show(&allowed).text);
    }
    return fby_cpus_confine(&node.cpus, why);
}

fby_err fby_cpu_placement_confine(
    const struct fby_worker_options *options, struct fby_why *why)
{
    if (options->cpus != NULL) {
        return confine_to_cpus(options->cpus, why);
    }
    return options->numa >= 0 ? confine_to_node((uint32_t)options->numa, why)
                              : FBY_OK;
}

void fby_cpu_placement_near_card(const struct fby_worker_options *options)
{
    const char *address =
        options->advertise != NULL ? options->advertise : options->listen;
    char            card[IF_NAMESIZE];
    struct fby_node node;
    struct fby_why  why;
    cpu_set_t       allowed;
    if (options->cpus != NULL || options->numa != FBY_NUMA_AUTO ||
        !fby_numa_card(address, card) || fby_cpus_allowed(&allowed) != FBY_OK ||
        !fby_numa_near("", card, &allowed, &node)) {
        return;
    }
    if (fby_cpus_confine(&node.cpus, &why) == FBY_OK) {
        fby_info("NUMA-NODE",
            "%s is at node %d: what talks to the network runs on its CPUs %s; "
            "--numa %d keeps the whole worker there",
            card, node.number, fby_cpus_show(&node.cpus).text, node.number);
    }
}
