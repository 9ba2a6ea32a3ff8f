#include "cli/pull/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hash.h"

enum { SUM_SIZE = 16, PATH_ROOM = 4096 };

static fby_err failed(struct fby_why *why, const char *path)
{
    return fby_because(why, FBY_IO, "%s: %s", path, strerror(errno));
}

static void print_line(FILE *out, const struct forebay_batch *batch)
{
    char            hex[2 * SUM_SIZE + 1];
    const uint8_t  *sums    = forebay_batch_sample_digests(batch);
    const uint64_t *samples = forebay_batch_samples(batch);
    uint32_t        rows    = forebay_batch_rows(batch);
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %s",
        forebay_batch_epoch(batch), forebay_batch_step(batch),
        forebay_batch_first_row(batch), rows,
        fby_hex(forebay_batch_digest(batch), SUM_SIZE, hex));
    for (uint32_t i = 0; i < rows; i++) {
        fprintf(out, " %" PRIu64 ":%s", samples[i],
            fby_hex(sums + (size_t)i * SUM_SIZE, SUM_SIZE, hex));
    }
    fputc('\n', out);
}

/* True for a regular or new file: it is replaced atomically, and never has a
 * partial token. A device, pipe or link is written in place. */
static bool is_replaced(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 || S_ISREG(st.st_mode);
}

/* The path to write the token to first: FILE.part, or FILE if written in
 * place. */
static bool part_path(const char *path, bool replaced, char out[PATH_ROOM])
{
    int n = snprintf(out, PATH_ROOM, "%s%s", path, replaced ? ".part" : "");
    if (n < 0 || n >= PATH_ROOM) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

/* Check early that the token can be written, and not after hours of work. Pipes
 * and devices are not opened: this might wait for a reader, or end its input.
 */
static fby_err check_token_path(const char *path, struct fby_why *why)
{
    char        part[PATH_ROOM];
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return failed(why, path);
    }
    if (!is_replaced(path)) {
        return access(path, W_OK) == 0 ? FBY_OK : failed(why, path);
    }
    if (!part_path(path, true, part)) {
        return failed(why, path);
    }
    FILE *file = fopen(part, "w");
    if (file == NULL) {
        return failed(why, part);
    }
    fclose(file);
    unlink(part);
    return FBY_OK;
}

fby_err fby_journal_open(struct fby_journal *self, const char *digests_path,
    const char *token_path, uint64_t token_every, struct fby_why *why)
{
    *self = (struct fby_journal){.digests_path = digests_path,
        .token_path                            = token_path,
        .token_every                           = token_every};
    fby_err err =
        token_path != NULL ? check_token_path(token_path, why) : FBY_OK;
    if (err == FBY_OK && digests_path != NULL) {
        self->digests = fopen(digests_path, "w");
        err = self->digests != NULL ? FBY_OK : failed(why, digests_path);
    }
    return err;
}

static fby_err write_token(const struct fby_journal *self, struct fby_why *why)
{
    char part[PATH_ROOM];
    bool replaced = is_replaced(self->token_path);
    if (!part_path(self->token_path, replaced, part)) {
        return failed(why, self->token_path);
    }
    FILE *file = fopen(part, "w");
    if (file == NULL) {
        return failed(why, part);
    }
    fprintf(file, "%s\n", self->token);
    if (fclose(file) != 0 ||
        (replaced && rename(part, self->token_path) != 0)) {
        return failed(why, self->token_path);
    }
    return FBY_OK;
}

fby_err fby_journal_batch(struct fby_journal *self,
    const struct forebay_batch *batch, struct fby_why *why)
{
    if (self->digests != NULL) {
        print_line(self->digests, batch);
        if (fflush(self->digests) != 0) {
            return failed(why, self->digests_path);
        }
    }
    snprintf(
        self->token, sizeof(self->token), "%s", forebay_batch_token(batch));
    self->steps++;
    if (self->token_path != NULL && self->steps % self->token_every == 0) {
        return write_token(self, why);
    }
    return FBY_OK;
}

fby_err fby_journal_close(struct fby_journal *self, struct fby_why *why)
{
    fby_err err = FBY_OK;
    if (self->digests != NULL && fclose(self->digests) != 0) {
        err = failed(why, self->digests_path);
    }
    self->digests = NULL;
    if (err == FBY_OK && self->token_path != NULL && self->token[0] != '\0') {
        err = write_token(self, why);
    }
    return err;
}

fby_err fby_journal_read_token(
    const char *text, char *out, size_t size, struct fby_why *why)
{
    if (text[0] != '@') {
        int n = snprintf(out, size, "%s", text);
        return n >= 0 && (size_t)n < size ? FBY_OK
                                          : fby_because(why, FBY_CONFIG,
                                                "--resume: the token is "
                                                "too long");
    }
    FILE *file = fopen(text + 1, "r");
    if (file == NULL) {
        return failed(why, text + 1);
    }
    if (fgets(out, (int)size, file) == NULL) {
        out[0] = '\0';
    }
    fclose(file);
    out[strcspn(out, "\r\n")] = '\0';
    if (out[0] == '\0') {
        return fby_because(
            why, FBY_CONFIG, "%s: the file has no token", text + 1);
    }
    return FBY_OK;
}
