/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.h - counts the open file descriptors of this process. */
#ifndef FBY_TESTS_DESCRIPTORS_H
#define FBY_TESTS_DESCRIPTORS_H

#include <fcntl.h>

static inline unsigned open_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++) {
        n += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    }
    return n;
}

#endif
