/* SPDX-License-Identifier: Apache-2.0 */
/* content.c - the header of an entry has a length that only the header itself
 * says. So the first read is that of the header and of the bytes that probably
 * follow it, in one.
 *
 * A read needs a chunk of the archive and the state of zlib. Both are kept for
 * the next read, because most entries are smaller than that memory. */
#define ZLIB_CONST
#include "worker/source/zip/content.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/mem.h"
#include "worker/zip/zip.h"

enum {
    CHUNK       = 256 << 10, /* bytes; most that is read at once */
    USUAL_EXTRA = 64, /* bytes of extra fields in most headers, or fewer */
    STEP        = 128 << 10 /* bytes of content that are skipped or taken */
};

struct fby_zip_scratch { /* the memory of one read */
    struct fby_zip_scratch *next;
    z_stream                inflater;     /* of raw deflate; reset before use */
    uint8_t                 chunk[CHUNK]; /* bytes of the archive */
    uint8_t                 step[STEP];   /* bytes of the content */
};

struct content_reader { /* one call of a function of content.h */
    const struct fby_zip_content *content;
    struct fby_zip_scratch       *scratch;
    size_t   chunk_size;   /* most bytes to read into the chunk */
    size_t   n_chunk;      /* bytes in it */
    uint64_t chunk_offset; /* of the first, in the archive */
    uint64_t data;         /* offset of the entry's bytes */
    uint64_t packed;       /* offset of those that zlib has not got */
    uint64_t offset;       /* in the content, of the next byte */
};

/* ---- scratch memory ---- */

void fby_zip_scratch_pool_init(struct fby_zip_scratch_pool *self)
{
    *self = (struct fby_zip_scratch_pool){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void fby_zip_scratch_pool_fini(struct fby_zip_scratch_pool *self)
{
    while (self->first != NULL) {
        struct fby_zip_scratch *scratch = self->first;
        self->first                     = scratch->next;
        (void)inflateEnd(&scratch->inflater);
        free(scratch);
    }
}

static void *allocate(void *arg, uInt n, uInt size)
{
    (void)arg;
    return fby_zalloc((size_t)n * size);
}

static void release(void *arg, void *memory)
{
    (void)arg;
    free(memory);
}

static struct fby_zip_scratch *create_scratch(void)
{
    struct fby_zip_scratch *scratch = fby_zalloc(sizeof(*scratch));
    scratch->inflater = (z_stream){.zalloc = allocate, .zfree = release};
    /* Negative window bits: an entry has no zlib header. Without an error,
     * because allocate() has none. */
    (void)inflateInit2(&scratch->inflater, -MAX_WBITS);
    return scratch;
}

static struct fby_zip_scratch *acquire_scratch(
    struct fby_zip_scratch_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct fby_zip_scratch *scratch = pool->first;
    if (scratch != NULL) {
        pool->first = scratch->next;
    }
    pthread_mutex_unlock(&pool->lock);
    return scratch != NULL ? scratch : create_scratch();
}

static void release_scratch(
    struct fby_zip_scratch_pool *pool, struct fby_zip_scratch *scratch)
{
    pthread_mutex_lock(&pool->lock);
    scratch->next = pool->first;
    pool->first   = scratch;
    pthread_mutex_unlock(&pool->lock);
}

/* ---- the bytes of the archive ---- */

static fby_err refuse_damaged(struct fby_error_detail *why, const char *fault)
{
    return fby_error_set(
        why, FBY_BAD_SAMPLE, "the entry of the archive is damaged: %s", fault);
}

static fby_err read_file(const struct content_reader *r, uint64_t offset,
    uint8_t *buffer, size_t size, struct fby_error_detail *why)
{
    const struct fby_object *file = r->content->file;
    size_t                   done = 0;
    while (done < size) {
        size_t n = size - done; /* bytes wanted, then bytes read */
        FBY_TRY(file->ops->read(file, offset + done, buffer + done, &n, why));
        if (n == 0) {
            return fby_error_set(why, FBY_STALE, "the archive became shorter");
        }
        done += n;
    }
    return FBY_OK;
}

/* Read as much of the archive as the chunk has space for, from `offset` to
 * `end`. */
static fby_err read_chunk(struct content_reader *r, uint64_t offset,
    uint64_t end, struct fby_error_detail *why)
{
    uint64_t left   = end - offset;
    r->n_chunk      = left < r->chunk_size ? (size_t)left : r->chunk_size;
    r->chunk_offset = offset;
    return read_file(r, offset, r->scratch->chunk, r->n_chunk, why);
}

/* Read the header, and set r->data. */
static fby_err read_head(struct content_reader *r, struct fby_error_detail *why)
{
    const struct fby_zip_content *content = r->content;
    const struct fby_zip_entry   *entry   = content->entry;
    const struct fby_zip_member   member  = {
           .head_offset  = entry->header_offset,
           .packed_bytes = entry->packed_bytes,
    };
    FBY_TRY(read_chunk(r, entry->header_offset, content->file_size, why));
    return fby_zip_data_offset(r->scratch->chunk, &member, content->file_size,
               &r->data, why) == FBY_OK
               ? FBY_OK
               : refuse_damaged(why, "its local header is invalid");
}

/* ---- the bytes of the content ---- */

/* Copy the bytes that are in the chunk, and read the others to their place. */
static fby_err read_stored(struct content_reader *r, uint8_t *buffer,
    size_t size, struct fby_error_detail *why)
{
    uint64_t begin     = r->data + r->offset; /* in the archive */
    uint64_t end_chunk = r->chunk_offset + r->n_chunk;
    size_t   n         = 0;
    if (begin < end_chunk) {
        n = end_chunk - begin < size ? (size_t)(end_chunk - begin) : size;
        memcpy(buffer, r->scratch->chunk + (begin - r->chunk_offset), n);
    }
    return read_file(r, begin + n, buffer + n, size - n, why);
}

/* Give the next bytes of the entry to zlib, if it has used all before. */
static fby_err refill_input(
    struct content_reader *r, struct fby_error_detail *why)
{
    z_stream *z   = &r->scratch->inflater;
    uint64_t  end = r->data + r->content->entry->packed_bytes;
    if (z->avail_in > 0 || r->packed == end) {
        return FBY_OK;
    }
    if (r->packed >= r->chunk_offset + r->n_chunk) {
        FBY_TRY(read_chunk(r, r->packed, end, why));
    }
    uint64_t end_chunk = r->chunk_offset + r->n_chunk;
    uint64_t end_data  = end_chunk < end ? end_chunk : end;
    z->next_in         = r->scratch->chunk + (r->packed - r->chunk_offset);
    z->avail_in        = (uInt)(end_data - r->packed);
    r->packed          = end_data;
    return FBY_OK;
}

/* Inflate the next `size` bytes. At the end of the content the stream must
 * end, too. */
static fby_err read_deflated(struct content_reader *r, uint8_t *buffer,
    size_t size, struct fby_error_detail *why)
{
    z_stream *z       = &r->scratch->inflater;
    bool      is_last = r->offset + size == r->content->entry->size;
    int       status  = Z_OK;
    size_t    done    = 0;
    while (status == Z_OK && (done < size || is_last)) {
        size_t room = size - done < CHUNK ? size - done : CHUNK;
        FBY_TRY(refill_input(r, why));
        z->next_out  = buffer + done;
        z->avail_out = (uInt)room;
        status       = inflate(z, Z_NO_FLUSH);
        done += room - z->avail_out;
    }
    bool ended = is_last ? status == Z_STREAM_END
                         : status == Z_OK || status == Z_STREAM_END;
    return ended && done == size
               ? FBY_OK
               : refuse_damaged(why, "it does not inflate to its size");
}

/* Read the next `size` bytes. */
static fby_err read_next(struct content_reader *r, uint8_t *buffer, size_t size,
    struct fby_error_detail *why)
{
    FBY_TRY(r->content->entry->is_deflated ? read_deflated(r, buffer, size, why)
                                           : read_stored(r, buffer, size, why));
    r->offset += size;
    return FBY_OK;
}

/* Move to byte `offset` of the content. Deflated bytes before it are inflated. */
static fby_err skip_to(
    struct content_reader *r, uint64_t offset, struct fby_error_detail *why)
{
    while (r->content->entry->is_deflated && r->offset < offset) {
        uint64_t left = offset - r->offset;
        size_t   n    = left < STEP ? (size_t)left : STEP;
        FBY_TRY(read_next(r, r->scratch->step, n, why));
    }
    r->offset = offset;
    return FBY_OK;
}

/* Read the header of the entry, in one read with the bytes that are wanted from
 * `offset` on, if they fit. */
static fby_err begin(
    struct content_reader *r, uint64_t offset, struct fby_error_detail *why)
{
    const struct fby_zip_entry *entry = r->content->entry;
    uint64_t whole = FBY_ZIP_HEAD + USUAL_EXTRA + r->content->name_bytes;
    if (entry->is_deflated || offset == 0) {
        whole += entry->packed_bytes;
    }
    r->chunk_size = whole < CHUNK ? (size_t)whole : CHUNK;
    FBY_TRY(read_head(r, why));
    r->packed                     = r->data;
    r->scratch->inflater.avail_in = 0;
    (void)inflateReset(&r->scratch->inflater);
    return skip_to(r, offset, why);
}

static fby_err check_sum(const struct content_reader *r, unsigned long sum,
    struct fby_error_detail *why)
{
    return sum == r->content->entry->crc32
               ? FBY_OK
               : refuse_damaged(why, "its CRC-32 is not that of the directory");
}

fby_err fby_zip_content_read(const struct fby_zip_content *self,
    uint64_t offset, void *buffer, size_t *size, struct fby_error_detail *why)
{
    uint64_t end  = self->entry->size;
    uint64_t left = offset < end ? end - offset : 0;
    *size         = left < *size ? (size_t)left : *size;
    if (*size == 0) {
        return FBY_OK;
    }
    struct content_reader r = {
        .content = self, .scratch = acquire_scratch(self->pool)};
    fby_err err = begin(&r, offset, why);
    if (err == FBY_OK) {
        err = read_next(&r, buffer, *size, why);
    }
    if (err == FBY_OK && *size == end) {
        err = check_sum(&r, crc32_z(0, buffer, *size), why);
    }
    release_scratch(self->pool, r.scratch);
    return err;
}

static fby_err visit_steps(struct content_reader *r, fby_object_visit_fn *visit,
    void *arg, struct fby_error_detail *why)
{
    uint64_t      end = r->content->entry->size;
    unsigned long sum = crc32_z(0, NULL, 0);
    FBY_TRY(begin(r, 0, why));
    while (r->offset < end) {
        size_t n = end - r->offset < STEP ? (size_t)(end - r->offset) : STEP;
        FBY_TRY(read_next(r, r->scratch->step, n, why));
        sum = crc32_z(sum, r->scratch->step, n);
        FBY_TRY(visit(arg, r->scratch->step, n));
    }
    return check_sum(r, sum, why);
}

fby_err fby_zip_content_visit(const struct fby_zip_content *self,
    fby_object_visit_fn *visit, void *arg, struct fby_error_detail *why)
{
    if (self->entry->size == 0) {
        return FBY_OK;
    }
    struct content_reader r = {
        .content = self, .scratch = acquire_scratch(self->pool)};
    fby_err err = visit_steps(&r, visit, arg, why);
    release_scratch(self->pool, r.scratch);
    return err;
}
