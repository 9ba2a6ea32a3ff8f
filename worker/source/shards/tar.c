#include "worker/source/shards/tar.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/source/shards/tar_header.h"

enum {
    MAX_EXTRAS = 1 << 20, /* bytes of one pax header or long name */
    TAIL_PIECE = 1 << 16  /* bytes, in reading what follows the end mark */
};

struct walk {
    const struct fby_tar_file *file;
    struct fby_shard          *shard;
    uint64_t                   at; /* the header in hand */
    bool                       ended;
    struct fby_tar_header      header;
    struct fby_tar_extras      extras; /* for the next member */
};

static uint64_t padded(uint64_t size)
{
    return (size + FBY_TAR_BLOCK - 1) / FBY_TAR_BLOCK * FBY_TAR_BLOCK;
}

static uint64_t payload_at(const struct walk *w)
{
    return w->at + FBY_TAR_BLOCK;
}

/* The header in hand says how much follows; is it there? Its block is, so the
 * subtraction cannot wrap; compared before padding, nor can the rounding. */
static fby_err check_fits(
    const struct walk *w, uint64_t size, struct fby_why *why)
{
    uint64_t left = w->file->size - payload_at(w);
    if (size <= left && padded(size) <= left) {
        return FBY_OK;
    }
    return fby_because(why, FBY_CONFIG,
        "the file is truncated: member %.200s has %llu bytes, and %llu are "
        "left",
        w->header.name, (unsigned long long)size, (unsigned long long)left);
}

static bool carries_data(char type)
{
    return strchr("123456", type) == NULL;
}

/* Step over the member in hand, whose payload (checked) is `size`. */
static void pass(struct walk *w, uint64_t size)
{
    w->at = payload_at(w) + padded(size);
}

static fby_err read_extras(struct walk *w, char **text, struct fby_why *why)
{
    fby_err err = check_fits(w, w->header.size, why);
    if (err == FBY_OK && w->header.size > MAX_EXTRAS) {
        err = fby_because(why, FBY_CONFIG,
            "an extended header of %llu bytes; at most %d are read",
            (unsigned long long)w->header.size, MAX_EXTRAS);
    }
    if (err != FBY_OK) {
        return err;
    }
    *text = fby_zalloc((size_t)w->header.size + 1);
    return fby_object_read(
        w->file->object, payload_at(w), *text, (size_t)w->header.size, why);
}

/* Global records hold for all members that follow. Comments are common (git
 * archive writes its commit), a name or size for all members is nonsense. */
static fby_err parse_global(const char *text, size_t size, struct fby_why *why)
{
    struct fby_tar_extras extras = {0};
    fby_err               err    = fby_tar_pax_parse(text, size, &extras, why);
    if (err == FBY_OK && (extras.has_name || extras.has_size)) {
        err = fby_because(why, FBY_CONFIG,
            "a global pax header gives one path or size to all members");
    }
    return err;
}

static fby_err take_extras(struct walk *w, struct fby_why *why)
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
        pass(w, w->header.size);
    }
    return err;
}

static fby_err refuse_types(
    const struct walk *w, const char *name, struct fby_why *why)
{
    if (w->extras.sparse || w->header.type == 'S') {
        return fby_because(why, FBY_CONFIG,
            "member %.200s is a sparse file; write the shard without --sparse",
            name);
    }
    if (w->header.type == 'M') {
        return fby_because(why, FBY_CONFIG,
            "member %.200s goes on from another volume; a shard is one file",
            name);
    }
    if (w->header.type == '1' || w->header.type == '2') {
        return fby_because(why, FBY_CONFIG,
            "member %.200s is a link; write the shard with --dereference and "
            "--hard-dereference",
            name);
    }
    return FBY_OK;
}

static bool same_key(
    const struct fby_shard *shard, const char *name, size_t key_size)
{
    if (shard->samples == 0) {
        return false;
    }
    const char *last = fby_shard_key(shard, shard->samples - 1);
    return strncmp(last, name, key_size) == 0 && last[key_size] == '\0';
}

static fby_err add_member(
    struct walk *w, const char *name, uint64_t size, struct fby_why *why)
{
    struct fby_name_parts parts;
    if (!fby_name_split(name, &parts)) {
        return FBY_OK; /* no member of a sample */
    }
    fby_err err = refuse_types(w, name, why);
    if (err != FBY_OK || strchr("07", w->header.type) == NULL) {
        return err;
    }
    err = fby_name_check(name, &parts, why);
    if (err == FBY_OK && !same_key(w->shard, name, parts.key_size)) {
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

static fby_err take_member(struct walk *w, struct fby_why *why)
{
    const struct fby_tar_extras *e = &w->extras;

    const char *name = e->has_name ? e->name : w->header.name;
    uint64_t    size = e->has_size ? e->size : w->header.size;
    if (!carries_data(w->header.type)) {
        size = 0;
    }
    fby_err err = check_fits(w, size, why);
    if (err == FBY_OK) {
        err = add_member(w, without_dot_slash(name), size, why);
    }
    if (err == FBY_OK) {
        pass(w, size);
        w->extras = (struct fby_tar_extras){0};
    }
    return err;
}

static bool find_nonzero(const uint8_t *piece, size_t n, size_t *at)
{
    for (size_t i = 0; i < n; i++) {
        if (piece[i] != 0) {
            *at = i;
            return true;
        }
    }
    return false;
}

static fby_err check_zeros(const struct walk *w, uint64_t at, uint8_t *piece,
    size_t n, struct fby_why *why)
{
    size_t  first = 0;
    fby_err err   = fby_object_read(w->file->object, at, piece, n, why);
    if (err == FBY_OK && find_nonzero(piece, n, &first)) {
        uint64_t where = at + first;

        err = fby_because(why, FBY_CONFIG,
            "the archive ends here, but more follows at offset %llu; joined "
            "archives are not read",
            (unsigned long long)where);
    }
    return err;
}

/* Zeros fill the last record. Anything else would be a second archive behind
 * the first one, whose samples nobody would ever see. */
static fby_err check_tail(const struct walk *w, struct fby_why *why)
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

static fby_err refuse_compressed(const uint8_t *block, struct fby_why *why)
{
    const char *name = fby_tar_compression(block, FBY_TAR_BLOCK);
    if (name == NULL) {
        return FBY_OK;
    }
    return fby_because(why, FBY_CONFIG,
        "this is a %s file; members are read in place, so unpack it to a "
        "plain tar",
        name);
}

static fby_err take_header(struct walk *w, struct fby_why *why)
{
    uint8_t block[FBY_TAR_BLOCK];
    if (w->file->size - w->at < FBY_TAR_BLOCK) {
        return fby_because(why, FBY_CONFIG,
            w->file->size == 0
                ? "the file is empty"
                : "the file is truncated: a tar ends with a block of zeros, "
                  "and there is none");
    }
    fby_err err =
        fby_object_read(w->file->object, w->at, block, sizeof(block), why);
    if (err != FBY_OK) {
        return err;
    }
    if (fby_tar_is_zero(block)) {
        w->ended = true;
        return check_tail(w, why);
    }
    err = w->at == 0 ? refuse_compressed(block, why) : FBY_OK;
    if (err == FBY_OK) {
        err = fby_tar_header_parse(block, &w->header, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    return strchr("xgLK", w->header.type) != NULL ? take_extras(w, why)
                                                  : take_member(w, why);
}

static bool stopped(const struct walk *w)
{
    return w->file->stop != NULL && atomic_load(w->file->stop);
}

fby_err fby_tar_scan(
    const struct fby_tar_file *file, struct fby_shard *out, struct fby_why *why)
{
    struct walk *w = fby_zalloc(sizeof(*w));
    fby_err      err;
    w->file   = file;
    w->shard  = out;
    out->size = file->size;
    do {
        err = stopped(w) ? FBY_GONE : take_header(w, why);
    } while (err == FBY_OK && !w->ended);
    if (err != FBY_OK && err != FBY_GONE) {
        fby_because_in(why, err, "offset %llu", (unsigned long long)w->at);
    }
    free(w);
    if (err == FBY_OK && out->samples == 0) {
        err = fby_because(why, FBY_CONFIG,
            "there is no sample in it; members are named KEY.EXTENSION, such "
            "as 0001.jpg");
    }
    return err == FBY_OK ? fby_shard_finish(out, why) : err;
}
