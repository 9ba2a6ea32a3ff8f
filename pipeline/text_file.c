/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Append at most `max_bytes`. Returns false if errno says why. */
static bool append_up_to(int fd, size_t max_bytes, struct fby_buffer *out)
{
    size_t size = 0;
    while (size < max_bytes) {
        uint8_t bytes[16384];
        size_t  wanted =
            max_bytes - size < sizeof(bytes) ? max_bytes - size : sizeof(bytes);
        ssize_t n = read(fd, bytes, wanted);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n == 0;
        }
        fby_put_bytes(out, bytes, (size_t)n);
        size += (size_t)n;
    }
    return true;
}

static fby_err read_file(int fd, const char *path, size_t max_bytes,
    struct fby_buffer *out, struct fby_error_detail *why)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return fby_error_set(why, FBY_CONFIG, "%s is not a file", path);
    }
    if ((uint64_t)st.st_size > max_bytes) {
        return fby_error_set(
            why, FBY_CONFIG, "%s has more than %zu bytes", path, max_bytes);
    }
    return append_up_to(fd, (size_t)st.st_size, out)
               ? FBY_OK
               : fby_error_set(
                     why, FBY_CONFIG, "%s: %s", path, strerror(errno));
}

fby_err fby_text_file_read(const char *path, size_t max_bytes,
    struct fby_buffer *out, struct fby_error_detail *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return fby_error_set(why, FBY_CONFIG, "%s: %s", path, strerror(errno));
    }
    fby_err err = read_file(fd, path, max_bytes, out, why);
    close(fd);
    return err;
}
