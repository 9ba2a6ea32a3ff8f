/* SPDX-License-Identifier: Apache-2.0 */
/* service_manager.h - tell a service manager, such as systemd, that this process
 * is ready, alive, or stopping.
 *
 * The manager names a datagram socket in NOTIFY_SOCKET, and in WATCHDOG_USEC the
 * time after which it ends a process from which it has not heard (sd_notify(3),
 * sd_watchdog_enabled(3)). Without these variables nothing is sent. Failures are
 * ignored: the manager judges by what arrives. Thread: one. */
#ifndef FBY_COMMON_SERVICE_MANAGER_H
#define FBY_COMMON_SERVICE_MANAGER_H

#include <stdint.h>

struct fby_service_manager {
    int     fd;        /* -1: there is no manager */
    int64_t period_ns; /* of messages that this process is alive; 0: none */
    int64_t due_ns;    /* of the next one */
};

/* Read the variables. Ownership: fby_service_manager_close. */
struct fby_service_manager fby_service_manager_open(void);
void fby_service_manager_close(struct fby_service_manager *self);

/* Remove the variables from the environment, so that processes that this one
 * starts do not speak to its manager. No other thread may run. */
void fby_service_manager_hide(void);

/* Send `state`, lines such as "READY=1\nSTATUS=...". Blocks: never. */
void fby_service_manager_tell(
    const struct fby_service_manager *self, const char *state);

/* Say that the process is alive, when that is due: four times as often as the
 * manager expects, but only as often as this is called. Loops call it every 0.5
 * to 1 s, so the manager must wait for at least 2 s. */
void fby_service_manager_tick(struct fby_service_manager *self, int64_t now_ns);

#endif
