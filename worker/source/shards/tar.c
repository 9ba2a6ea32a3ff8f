/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/shards/tar.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/source/shards/tar_header.h"

/* Types of extended headers. PAX_GLOBAL describes all members that follow, the
 * others describe the next member. */
enum { PAX_NEXT = 'x', PAX_GLOBAL = 'g', LONG_NAME = 'L', LONG_LINK = 'K' };
/* Types of members that are refused. CONTINUED: from another volume. */
enum { HARD_LINK = '1', SYMBOLIC_LINK = '2', CONTINUED = 'M', SPARSE = 'S' };

enum {
    MAX_EXTRAS  = 1 << 20, /* bytes of the payload of an extended header */
    TAIL_BUFFER = 1 << 16  /* bytes read at a time behind the end mark */
};

struct tar_walk { /* the state of one scan */
    const struct fby_tar_file *file;
    struct fby_shard          *shard;
    uint64_t                   header_at; /* offset of the current header */
    bool                       has_ended; /* the end mark was read */
    struct fby_shown           skipped;   /* the first file that is skipped */
    struct fby_tar_header      header;    /* the current header */
    struct fby_tar_extras      extras;    /* properties for the next member */
};

/* The size of a payload with its padding to whole blocks. */
static uint64_t padded(uint64_t size)
{
    return (size + FBY_TAR_BLOCK - 1) / FBY_TAR_BLOCK * FBY_TAR_BLOCK;
}

static uint64_t payload_at(const struct tar_walk *w)
{
    return w->header_at + FBY_TAR_BLOCK;
}

/* Check that the file has `size` bytes and their padding behind the current
 * header. The header was read from the file, so the subtraction cannot wrap.
 * `size` is compared before it is padded, so padded() cannot overflow. */
static fby_err check_fits(
    const struct tar_walk *w, uint64_t size, struct fby_error_detail *why)
{
    uint64_t left = w->file->size - payload_at(w);
    if (size <= left && padded(size) <= left) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "the file is truncated: member %.200s has %llu bytes, and %llu are "
        "left",
        w->header.name, (unsigned long long)size, (unsigned long long)left);
}

/* Do bytes follow the header of a member of this type? Not for links, devices,
 * folders and pipes, even if their header has a size. */
static bool has_payload(char type)
{
    return strchr("123456", type) == NULL;
}

/* Go to the next header, behind a payload of `size` bytes. */
static void skip_payload(struct tar_walk *w, uint64_t size)
{
    w->header_at = payload_at(w) + padded(size);
}

/* Read the payload of an extended header. The caller must free *text. */
static fby_err read_extras(
    struct tar_walk *w, char **text, struct fby_error_detail *why)
{
    FBY_TRY(check_fits(w, w->header.size, why));
    if (w->header.size > MAX_EXTRAS) {
        return fby_error_set(why, FBY_CONFIG,
            "an extended header of %llu bytes; at most %d are read",
            (unsigned long long)w->header.size, MAX_EXTRAS);
    }
    *text = fby_zalloc((size_t)w->header.size + 1);
    return fby_object_read(
        w->file->object, payload_at(w), *text, (size_t)w->header.size, why);
}

/* Refuse global records of a name or size, which would apply to all members
 * that follow. Skip comments, such as the commit that `git archive` writes. */
static fby_err parse_global(
    const char *text, size_t size, struct fby_error_detail *why)
{
    struct fby_tar_extras extras = {0};
    FBY_TRY(fby_tar_pax_parse(text, size, &extras, why));
    if (extras.has_name || extras.has_size) {
        return fby_error_set(why, FBY_CONFIG,
            "a global pax header gives one path or size to all members");
    }
    return FBY_OK;
}

/* Apply the extended header, and go to the next one. LONG_LINK is skipped. */
static fby_err apply_extras(struct tar_walk *w, struct fby_error_detail *why)
{
    char   *text = NULL;
    size_t  size = (size_t)w->header.size;
    fby_err err  = read_extras(w, &text, why);
    if (err == FBY_OK && w->header.type == PAX_NEXT) {
        err = fby_tar_pax_parse(text, size, &w->extras, why);
    } else if (err == FBY_OK && w->header.type == PAX_GLOBAL) {
        err = parse_global(text, size, why);
    } else if (err == FBY_OK && w->header.type == LONG_NAME) {
        err = fby_tar_long_name(text, size, &w->extras, why);
    }
    free(text);
    if (err == FBY_OK) {
        skip_payload(w, w->header.size);
    }
    return err;
}

static fby_err check_type(
    const struct tar_walk *w, const char *name, struct fby_error_detail *why)
{
    if (w->extras.sparse || w->header.type == SPARSE) {
        return fby_error_set(why, FBY_CONFIG,
            "member %.200s is a sparse file; write the shard without --sparse",
            name);
    }
    if (w->header.type == CONTINUED) {
        return fby_error_set(why, FBY_CONFIG,
            "member %.200s continues from another volume; a shard is one file",
            name);
    }
    if (w->header.type == HARD_LINK || w->header.type == SYMBOLIC_LINK) {
        return fby_error_set(why, FBY_CONFIG,
            "member %.200s is a link; write the shard with --dereference and "
            "--hard-dereference",
            name);
    }
    return FBY_OK;
}

static fby_err add_member(struct tar_walk *w, const char *name, uint64_t size,
    struct fby_error_detail *why)
{
    struct fby_name_parts parts;
    if (!fby_name_split(name, &parts)) {
        if (strchr("07", w->header.type) != NULL &&
            w->skipped.text[0] == '\0') {
            w->skipped = fby_text_show(name);
        }
        return FBY_OK; /* a hidden file, or without an extension */
    }
    FBY_TRY(check_type(w, name, why));
    if (strchr("07", w->header.type) == NULL) {
        return FBY_OK; /* no plain file (0, or 7 for a contiguous file) */
    }
    FBY_TRY(fby_name_check(name, &parts, why));
    if (!fby_shard_last_key_is(w->shard, name, parts.key_size)) {
        FBY_TRY(fby_shard_add_sample(
            w->shard, name, parts.key_size, FBY_SHARD_NO_CLASS, why));
    }
    return fby_shard_add_member(
        w->shard, parts.suffix, payload_at(w), size, why);
}

static const char *without_dot_slash(const char *name)
{
    while (name[0] == '.' && name[1] == '/') {
        name += 2;
        name += strspn(name, "/");
    }
    return name;
}

/* Add the member of the current header, and go to the next header. */
static fby_err walk_member(struct tar_walk *w, struct fby_error_detail *why)
{
    const struct fby_tar_extras *e    = &w->extras;
    const char                  *name = e->has_name ? e->name : w->header.name;
    uint64_t                     size = e->has_size ? e->size : w->header.size;
    if (!has_payload(w->header.type)) {
        size = 0;
    }
    FBY_TRY(check_fits(w, size, why));
    FBY_TRY(add_member(w, without_dot_slash(name), size, why));
    skip_payload(w, size);
    w->extras = (struct fby_tar_extras){0};
    return FBY_OK;
}

/* Read `n` bytes from `at` on into `buffer`, and check that all are 0. */
static fby_err check_zeros(const struct tar_walk *w, uint64_t at,
    uint8_t *buffer, size_t n, struct fby_error_detail *why)
{
    FBY_TRY(fby_object_read(w->file->object, at, buffer, n, why));
    for (size_t i = 0; i < n; i++) {
        if (buffer[i] != 0) {
            return fby_error_set(why, FBY_CONFIG,
                "the archive ends here, but more follows at offset %llu; "
                "joined archives are not read",
                (unsigned long long)at + i);
        }
    }
    return FBY_OK;
}

static bool must_stop(const struct tar_walk *w)
{
    return w->file->stop != NULL && atomic_load(w->file->stop);
}

/* Check that only zeros follow the end mark. Other bytes are probably a second
 * archive, whose samples would be missing. */
static fby_err check_tail(
    const struct tar_walk *w, struct fby_error_detail *why)
{
    uint8_t *buffer = fby_zalloc(TAIL_BUFFER);
    fby_err  err    = FBY_OK;
    for (uint64_t at = w->header_at; err == FBY_OK && at < w->file->size;) {
        uint64_t left = w->file->size - at;
        size_t   n    = left < TAIL_BUFFER ? (size_t)left : TAIL_BUFFER;
        err = must_stop(w) ? FBY_GONE : check_zeros(w, at, buffer, n, why);
        at += n;
    }
    free(buffer);
    return err;
}

/* Process the header at w->header_at, or the end mark. */
static fby_err walk_header(struct tar_walk *w, struct fby_error_detail *why)
{
    uint8_t block[FBY_TAR_BLOCK];
    if (w->file->size - w->header_at < FBY_TAR_BLOCK) {
        return fby_error_set(why, FBY_CONFIG,
            w->file->size == 0
                ? "the file is empty"
                : "the file is truncated: a tar ends with a block of zeros, "
                  "and there is none");
    }
    FBY_TRY(fby_object_read(
        w->file->object, w->header_at, block, sizeof(block), why));
    if (fby_tar_is_zero(block)) {
        w->has_ended = true;
        return check_tail(w, why);
    }
    const char *compression =
        w->header_at == 0 ? fby_tar_detect_compression(block, FBY_TAR_BLOCK)
                          : NULL;
    if (compression != NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "this is a %s file; members are read in place, so unpack it to a "
            "plain tar",
            compression);
    }
    FBY_TRY(fby_tar_header_parse(block, &w->header, why));
    const char extra_types[] = {PAX_NEXT, PAX_GLOBAL, LONG_NAME, LONG_LINK, 0};
    bool       is_extended   = strchr(extra_types, w->header.type) != NULL;
    return is_extended ? apply_extras(w, why) : walk_member(w, why);
}

fby_err fby_tar_scan(const struct fby_tar_file *file, struct fby_shard *out,
    struct fby_error_detail *why)
{
    struct tar_walk *w = fby_zalloc(sizeof(*w));
    fby_err          err;
    w->file   = file;
    w->shard  = out;
    out->size = file->size;
    do {
        err = must_stop(w) ? FBY_GONE : walk_header(w, why);
    } while (err == FBY_OK && !w->has_ended);
    if (err != FBY_OK && err != FBY_GONE) {
        err = fby_error_prefix(
            why, err, "offset %llu", (unsigned long long)w->header_at);
    }
    if (err == FBY_OK && out->n_samples == 0) {
        bool has_files = w->skipped.text[0] != '\0';
        err            = fby_error_set(why, FBY_CONFIG,
                       "it has no samples: pack files such as 0001.jpg into it, or remove "
                                  "it%s%s%s",
            has_files ? "; " : "", w->skipped.text,
            has_files ? " is skipped (hidden, in .. or without an extension)"
                                 : "");
    }
    free(w);
    return err == FBY_OK ? fby_shard_finish(out, why) : err;
}
