/* SPDX-License-Identifier: Apache-2.0 */
#include "common/file_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/limits.h"
#include "common/log.h"

/* Returns 0, or the errno of opening a file. */
static int try_to_open(void)
{
    int fd = open("/", O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    close(fd);
    return 0;
}

void fby_file_watch_tick(struct fby_file_watch *self, int64_t now_ns)
{
    if (now_ns < self->check_ns) {
        return;
    }
    self->check_ns = now_ns + FBY_NS_PER_S;
    int error      = try_to_open();
    if ((error != EMFILE && error != ENFILE) || now_ns < self->log_ns) {
        return;
    }
    self->log_ns = now_ns + 60 * FBY_NS_PER_S;
    if (error == EMFILE) {
        fby_error("FILES-USED-UP",
            "this process has reached its limit of %u open files and "
            "connections; new connections wait; raise it (ulimit -n, "
            "LimitNOFILE=)",
            fby_limits_max_files());
    } else {
        fby_error("FILES-USED-UP",
            "the system has reached its limit of open files; new connections "
            "wait; raise it (sysctl fs.file-max)");
    }
}
