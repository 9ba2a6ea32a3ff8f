/* token_file.c - what the three readers share, and flat files. */
#include "worker/source/token_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

fby_err fby_token_file_bytes(const struct fby_token_file *file, uint64_t at,
    void *out, size_t bytes, struct fby_why *why)
{
    if (at > file->size || bytes > file->size - at) {
        return fby_because(why, FBY_CONFIG,
            "it ends at byte %" PRIu64
            ", and its header goes on to byte %" PRIu64
            ": cut short, or not of this format",
            file->size, at + bytes);
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(
            file->fd, (uint8_t *)out + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return fby_because(why, FBY_IO, "cannot read: %s",
                n == 0 ? "it became shorter" : strerror(errno));
        }
        done += (size_t)n;
    }
    return atomic_load(file->stop) ? FBY_GONE : FBY_OK;
}

const char *fby_token_type_name(enum fby_type type)
{
    static const char *const names[] = {
        [FBY_U8]  = "u8",
        [FBY_U16] = "u16",
        [FBY_I32] = "i32",
        [FBY_I64] = "i64",
        [FBY_U32] = "u32",
    };
    const char *name = type <= FBY_U32 ? names[type] : NULL;
    return name != NULL ? name : "of no type";
}

fby_err fby_token_file_type(
    enum fby_type found, struct fby_sequences *out, struct fby_why *why)
{
    if (out->type != 0 && out->type != found) {
        return fby_because(why, FBY_CONFIG,
            "its tokens are %s, and the pipeline says type: %s",
            fby_token_type_name(found), fby_token_type_name(out->type));
    }
    out->type = found;
    return FBY_OK;
}

fby_err fby_flat_read(const struct fby_token_file *file,
    struct fby_sequences *out, struct fby_why *why)
{
    uint32_t width = fby_type_bytes(out->type);
    if (file->size % width != 0) {
        return fby_because(why, FBY_CONFIG,
            "%" PRIu64 " bytes are no whole number of tokens of %u bytes (type "
            "%s)",
            file->size, width, fby_token_type_name(out->type));
    }
    return fby_sequences_add(out, 0, file->size / width, why);
}
