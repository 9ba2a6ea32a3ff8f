/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pull/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/output.h"
#include "common/hash.h"

enum { DIGEST_SIZE = 16 }; /* bytes */

static fby_err set_io_error(struct fby_error_detail *why, const char *path)
{
    return fby_error_set(why, FBY_IO, "%s: %s", path, strerror(errno));
}

static void write_digest_line(FILE *out, const struct forebay_batch *batch)
{
    char            hex[2 * DIGEST_SIZE + 1];
    const uint8_t  *digests = forebay_batch_sample_digests(batch);
    const uint64_t *samples = forebay_batch_samples(batch);
    uint32_t        rows    = forebay_batch_rows(batch);
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %s",
        forebay_batch_epoch(batch), forebay_batch_step(batch),
        forebay_batch_first_row(batch), rows,
        fby_hex(forebay_batch_digest(batch), DIGEST_SIZE, hex));
    for (uint32_t i = 0; i < rows; i++) {
        fprintf(out, " %" PRIu64 ":%s", samples[i],
            fby_hex(digests + (size_t)i * DIGEST_SIZE, DIGEST_SIZE, hex));
    }
    fputc('\n', out);
}

fby_err fby_journal_open(struct fby_journal *self, const char *digests_path,
    const char *token_path, uint64_t token_every, struct fby_error_detail *why)
{
    *self = (struct fby_journal){.digests_path = digests_path,
        .token_path                            = token_path,
        .token_every                           = token_every};
    fby_err err =
        token_path != NULL ? fby_output_check(token_path, why) : FBY_OK;
    if (err == FBY_OK && digests_path != NULL) {
        self->digests = fopen(digests_path, "w");
        if (self->digests == NULL) {
            err = set_io_error(why, digests_path);
        }
    }
    return err;
}

static fby_err write_token(
    const struct fby_journal *self, struct fby_error_detail *why)
{
    struct fby_output output;
    fby_err           err = fby_output_open(&output, self->token_path, why);
    if (err == FBY_OK) {
        fprintf(output.file, "%s\n", self->token);
        err = fby_output_finish(&output, why);
    }
    return err;
}

fby_err fby_journal_record(struct fby_journal *self,
    const struct forebay_batch *batch, struct fby_error_detail *why)
{
    if (self->digests != NULL) {
        write_digest_line(self->digests, batch);
        if (fflush(self->digests) != 0) {
            return set_io_error(why, self->digests_path);
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

fby_err fby_journal_close(
    struct fby_journal *self, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    if (self->digests != NULL && fclose(self->digests) != 0) {
        err = set_io_error(why, self->digests_path);
    }
    self->digests = NULL;
    if (err == FBY_OK && self->token_path != NULL && self->token[0] != '\0') {
        err = write_token(self, why);
    }
    return err;
}

fby_err fby_journal_read_token(
    const char *text, char *out, size_t size, struct fby_error_detail *why)
{
    if (text[0] != '@') {
        int length = snprintf(out, size, "%s", text);
        if (length >= 0 && (size_t)length < size) {
            return FBY_OK;
        }
        return fby_error_set(
            why, FBY_CONFIG, "--resume: the token is too long");
    }
    const char *path = text + 1;
    FILE       *file = fopen(path, "r");
    if (file == NULL) {
        return set_io_error(why, path);
    }
    if (fgets(out, (int)size, file) == NULL) {
        out[0] = '\0';
    }
    size_t length = strcspn(out, "\r\n");
    int    next   = fgetc(file);
    bool   is_cut =
        length + 1 == size && next != '\n' && next != '\r' && next != EOF;
    fclose(file);
    out[length] = '\0';
    if (is_cut || length == 0) {
        return fby_error_set(why, FBY_CONFIG,
            is_cut ? "%s: the token is too long" : "%s: the file has no token",
            path);
    }
    return FBY_OK;
}
