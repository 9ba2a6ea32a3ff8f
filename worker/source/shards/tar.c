#include "worker/source/shards/tar.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/source/shards/tar_header.h"

enum {
    MAX_EXTRAS = 1 << 20, /* bytes of a pax header or long name */
    TAIL_PIECE = 1 << 16  /* bytes read at a time behind the end mark */
};

struct tar_walk {
    const struct fby_tar_file *file;
    struct fby_shard          *shard;
    uint64_t                   at;    /* offset of the current header */
    bool                       ended; /* the end mark was found */
    struct fby_tar_header      header;
    struct fby_tar_extras      extras; /* of the next member */
};

static uint64_t padded(uint64_t size)
{
    return (size + FBY_TAR_BLOCK - 1) / FBY_TAR_BLOCK * FBY_TAR_BLOCK;
}

static uint64_t payload_at(const struct tar_walk *w)
{
    return w->at + FBY_TAR_BLOCK;
}

/* Check that the file has `size` bytes behind the current header. The header
 * was read from the file, so the subtraction cannot wrap. `size` is compared
 * before it is padded, so the rounding cannot overflow. */
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

/* Links, devices, folders and pipes have no payload, even if they have a
 * size. */
static bool has_payload(char type)
{
    return strchr("123456", type) == NULL;
}

/* Go to the next header, behind a payload of `size` bytes. */
static void skip_payload(struct tar_walk *w, uint64_t size)
{
    w->at = payload_at(w) + padded(size);
}

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

/* Global records apply to all members that follow. Comments are common (git
 * archive writes its commit). A name or size for all members is refused. */
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

static fby_err apply_extras(struct tar_walk *w, struct fby_error_detail *why)
{
    char   *text = NULL;
    size_t  size = (size_t)w->header.size;
    fby_err err  = read_extras(w, &text, why);
    if (err == FBY_OK && w->header.type == 'x') {
        err = fby_tar_pax_parse(text, size, &w->extras, why);
    } else if (err == FBY_OK && w->header.type == 'g') {
        err = parse_global(text, size, why);
    } else if (err == FBY_OK && w->header.type == 'L') {
        err = fby_tar_long_name(text, size, &w->extras, why);
    }
    free(text);
    if (err == FBY_OK) {
        skip_payload(w, w->header.size);
    }
    return err;
}

static fby_err refuse_types(
    const struct tar_walk *w, const char *name, struct fby_error_detail *why)
{
    if (w->extras.sparse || w->header.type == 'S') {
        return fby_error_set(why, FBY_CONFIG,
            "member %.200s is a sparse file; write the shard without --sparse",
            name);
    }
    if (w->header.type == 'M') {
        return fby_error_set(why, FBY_CONFIG,
            "member %.200s goes on from another volume; a shard is one file",
            name);
    }
    if (w->header.type == '1' || w->header.type == '2') {
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
        return FBY_OK; /* not a member */
    }
    fby_err err = refuse_types(w, name, why);
    if (err != FBY_OK || strchr("07", w->header.type) == NULL) {
        return err; /* only the types 0 and 7 are plain files */
    }
    err = fby_name_check(name, &parts, why);
    if (err == FBY_OK &&
        !fby_shard_last_key_is(w->shard, name, parts.key_size)) {
        err = fby_shard_add_sample(
            w->shard, name, parts.key_size, FBY_SHARD_NO_CLASS, why);
    }
    if (err == FBY_OK) {
        err = fby_shard_add_member(
            w->shard, parts.suffix, payload_at(w), size, why);
    }
    return err;
}

static const char *without_dot_slash(const char *name)
{
    while (name[0] == '.' && name[1] == '/') {
        name += 2;
        name += strspn(name, "/");
    }
    return name;
}

static fby_err add_payload(struct tar_walk *w, struct fby_error_detail *why)
{
    const struct fby_tar_extras *e = &w->extras;

    const char *name = e->has_name ? e->name : w->header.name;
    uint64_t    size = e->has_size ? e->size : w->header.size;
    if (!has_payload(w->header.type)) {
        size = 0;
    }
    FBY_TRY(check_fits(w, size, why));
    FBY_TRY(add_member(w, without_dot_slash(name), size, why));
    skip_payload(w, size);
    w->extras = (struct fby_tar_extras){0};
    return FBY_OK;
}

static fby_err check_zeros(const struct tar_walk *w, uint64_t at,
    uint8_t *piece, size_t n, struct fby_error_detail *why)
{
    FBY_TRY(fby_object_read(w->file->object, at, piece, n, why));
    for (size_t i = 0; i < n; i++) {
        if (piece[i] != 0) {
            uint64_t offset = at + i;
            return fby_error_set(why, FBY_CONFIG,
                "the archive ends here, but more follows at offset %llu; "
                "joined archives are not read",
                (unsigned long long)offset);
        }
    }
    return FBY_OK;
}

/* Only zeros may follow the end mark. Anything else is probably a second
 * archive, whose samples would be missing. */
static fby_err check_tail(
    const struct tar_walk *w, struct fby_error_detail *why)
{
    uint8_t *piece = fby_zalloc(TAIL_PIECE);
    fby_err  err   = FBY_OK;
    for (uint64_t at = w->at; err == FBY_OK && at < w->file->size;) {
        uint64_t left = w->file->size - at;
        size_t   n    = left < TAIL_PIECE ? (size_t)left : TAIL_PIECE;
        err           = check_zeros(w, at, piece, n, why);
        at += n;
    }
    free(piece);
    return err;
}

static fby_err walk_header(struct tar_walk *w, struct fby_error_detail *why)
{
    uint8_t block[FBY_TAR_BLOCK];
    if (w->file->size - w->at < FBY_TAR_BLOCK) {
        return fby_error_set(why, FBY_CONFIG,
            w->file->size == 0
                ? "the file is empty"
                : "the file is truncated: a tar ends with a block of zeros, "
                  "and there is none");
    }
    FBY_TRY(fby_object_read(w->file->object, w->at, block, sizeof(block), why));
    if (fby_tar_is_zero(block)) {
        w->ended = true;
        return check_tail(w, why);
    }
    const char *compression =
        w->at == 0 ? fby_tar_compression(block, FBY_TAR_BLOCK) : NULL;
    if (compression != NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "this is a %s file; members are read in place, so unpack it to a "
            "plain tar",
            compression);
    }
    FBY_TRY(fby_tar_header_parse(block, &w->header, why));
    return strchr("xgLK", w->header.type) != NULL ? apply_extras(w, why)
                                                  : add_payload(w, why);
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
        bool stopped = file->stop != NULL && atomic_load(file->stop);
        err          = stopped ? FBY_GONE : walk_header(w, why);
    } while (err == FBY_OK && !w->ended);
    if (err != FBY_OK && err != FBY_GONE) {
        fby_error_prefix(why, err, "offset %llu", (unsigned long long)w->at);
    }
    free(w);
    if (err == FBY_OK && out->samples == 0) {
        err = fby_error_set(why, FBY_CONFIG,
            "it has no samples; members are named KEY.EXTENSION, such "
            "as 0001.jpg");
    }
    return err == FBY_OK ? fby_shard_finish(out, why) : err;
}
