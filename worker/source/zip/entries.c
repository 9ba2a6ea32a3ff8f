/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/zip/entries.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/text.h"
#include "pipeline/types.h"
#include "worker/source/zip/file.h"

struct entry_reader { /* reads a directory */
    struct fby_zip_file     zip;
    const char             *file; /* name of the archive, for errors */
    struct fby_zip_entries *out;
    uint64_t                end; /* of the last entry's bytes in the file */
    bool in_order;               /* entries are in the order of their bytes */
};

void fby_zip_entries_fini(struct fby_zip_entries *self)
{
    free(self->list);
    fby_buffer_fini(&self->names);
    *self = (struct fby_zip_entries){0};
}

/* ---- names ---- */

/* Returns why a name is refused, or NULL if it is valid. The name has no NUL. */
static const char *find_name_fault(const char *name)
{
    size_t size = strlen(name);
    if (size == 0 || size >= FBY_PATH_SIZE) {
        return "has a name that is empty or too long";
    }
    if (strchr(name, '\\') != NULL) {
        return "has a backslash in its name";
    }
    if (!fby_is_utf8(name, size)) {
        return "has a name that is not UTF-8";
    }
    for (const char *at = name; *at != '\0';) {
        size_t n = strcspn(at, "/"); /* bytes of the component */
        if (n == 0 || (n <= 2 && strncmp(at, "..", n) == 0)) {
            return "has a name with a component that is empty, '.' or '..'";
        }
        if (n > NAME_MAX) { /* no file system could hold it */
            return "has a name with a component of more than 255 bytes";
        }
        at += at[n] == '\0' ? n : n + 1;
    }
    return NULL;
}

static fby_err refuse_entry(const struct entry_reader *r, const char *name,
    const char *fault, struct fby_error_detail *why)
{
    struct fby_shown file = fby_text_show(r->file);
    return fby_error_set(why, FBY_CONFIG,
        "the entry %.100s %s; unpack the archive and pack it again: 7z x %s "
        "-oFOLDER && cd FOLDER && zip -r0 ../NEW.zip .",
        fby_text_show(name).text, fault, file.text);
}

/* Append a name. Sets *out, which lies in `r->out`. */
static fby_err add_name(struct entry_reader *r, struct fby_zip_name name,
    const char **out, struct fby_error_detail *why)
{
    struct fby_buffer *names = &r->out->names;
    const char        *from  = name.text;
    size_t             n     = name.size;
    if (n > 2 && from[0] == '.' && from[1] == '/') {
        from += 2;
        n -= 2;
    }
    size_t offset = names->size;
    if (offset > UINT32_MAX - n - 1) {
        return fby_error_set(
            why, FBY_CONFIG, "more than 4 GiB of names; cut the archive");
    }
    fby_put_bytes(names, from, n);
    fby_put_u8(names, 0);
    *out              = (const char *)names->data + offset;
    const char *fault = strlen(*out) != n ? "has a NUL character in its name"
                                          : find_name_fault(*out);
    return fault == NULL ? FBY_OK : refuse_entry(r, *out, fault, why);
}

/* ---- entries ---- */

static const char *method_name(uint16_t method)
{
    static const struct {
        uint16_t    method;
        const char *name;
    } known[] = {{1, "Shrink"}, {6, "Implode"}, {9, "Deflate64"}, {12, "bzip2"},
        {14, "LZMA"}, {93, "Zstandard"}, {95, "xz"}, {98, "PPMd"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].method == method) {
            return known[i].name;
        }
    }
    return "an unknown method";
}

static fby_err check_method(const struct entry_reader *r, const char *name,
    const struct fby_zip_member *member, struct fby_error_detail *why)
{
    char fault[80];
    if (member->is_encrypted) {
        return refuse_entry(r, name, "is encrypted", why);
    }
    if (member->is_stored || member->is_deflated) {
        return FBY_OK;
    }
    snprintf(fault, sizeof(fault),
        "is compressed with %s (%u), which is not read",
        method_name(member->method), member->method);
    return refuse_entry(r, name, fault, why);
}

static fby_err refuse_damaged(
    struct fby_error_detail *why, const char *name, const char *fault)
{
    return fby_error_set(why, FBY_CONFIG,
        "damaged zip archive: the entry %s %s", fby_text_show(name).text,
        fault);
}

/* Check that the header and the bytes of an entry precede the directory. */
static fby_err check_extent(const struct entry_reader *r, const char *name,
    const struct fby_zip_member *member, struct fby_error_detail *why)
{
    uint64_t limit = r->zip.directory.offset;
    if (member->head_offset > limit ||
        limit - member->head_offset < FBY_ZIP_HEAD ||
        limit - member->head_offset - FBY_ZIP_HEAD < member->packed_bytes) {
        return refuse_damaged(why, name, "lies outside the archive");
    }
    if (member->is_deflated &&
        member->size / FBY_ZIP_DEFLATE_RATIO > member->packed_bytes) {
        return refuse_damaged(
            why, name, "has more bytes than it can inflate to");
    }
    return FBY_OK;
}

static uint64_t end_of(const struct fby_zip_entry *entry)
{
    return entry->header_offset + FBY_ZIP_HEAD + entry->packed_bytes;
}

/* True for the entry "./": the folder that was packed. */
static bool is_top_folder(struct fby_zip_name name)
{
    return name.size == 2 && memcmp(name.text, "./", 2) == 0;
}

static fby_err add_entry(struct entry_reader *r,
    const struct fby_zip_member *member, struct fby_zip_name whole_name,
    struct fby_error_detail *why)
{
    struct fby_zip_entries *out    = r->out;
    const char             *name   = NULL;
    size_t                  offset = out->names.size;
    if (is_top_folder(whole_name)) {
        return FBY_OK;
    }
    FBY_TRY(add_name(r, whole_name, &name, why));
    if (member->is_link) {
        out->names.size = offset;
        out->n_links++;
        return FBY_OK;
    }
    FBY_TRY(check_method(r, name, member, why));
    FBY_TRY(check_extent(r, name, member, why));
    if (out->count == INT32_MAX) { /* fby_array_grow() counts in 32 bits */
        return fby_error_set(
            why, FBY_CONFIG, "more than %d entries", INT32_MAX);
    }
    uint32_t n   = out->count++;
    out->list    = fby_array_grow(out->list, n, sizeof(*out->list));
    out->list[n] = (struct fby_zip_entry){.header_offset = member->head_offset,
        .packed_bytes                                    = member->packed_bytes,
        .size                                            = member->size,
        .crc32                                           = member->sum,
        .name                                            = (uint32_t)offset,
        .is_deflated                                     = member->is_deflated};
    r->in_order  = r->in_order && member->head_offset >= r->end;
    r->end       = end_of(&out->list[n]);
    return FBY_OK;
}

/* ---- all entries ---- */

static int by_offset(const void *a, const void *b)
{
    const struct fby_zip_entry *x = a;
    const struct fby_zip_entry *y = b;
    return (x->header_offset > y->header_offset) -
           (x->header_offset < y->header_offset);
}

/* Refuse entries that share bytes: in a small archive they could stand for any
 * amount of data. */
static fby_err check_overlap(
    const struct entry_reader *r, struct fby_error_detail *why)
{
    struct fby_zip_entries *out = r->out;
    if (r->in_order) { /* common, and needs no sort */
        return FBY_OK;
    }
    qsort(out->list, out->count, sizeof(*out->list), by_offset);
    for (uint32_t i = 1; i < out->count; i++) {
        if (out->list[i].header_offset < end_of(&out->list[i - 1])) {
            return refuse_damaged(why, fby_zip_entry_name(out, i),
                "shares bytes with another entry");
        }
    }
    return FBY_OK;
}

struct name_order {
    const char        *names;
    const atomic_bool *stop; /* may be NULL */
};

static bool is_stopped(const atomic_bool *stop)
{
    return stop != NULL && atomic_load(stop);
}

/* After a stop all entries are equal, so that the sort ends soon. */
static int by_name(const void *a, const void *b, void *arg)
{
    const struct name_order *order = arg;
    return is_stopped(order->stop)
               ? 0
               : strcmp(order->names + ((const struct fby_zip_entry *)a)->name,
                     order->names + ((const struct fby_zip_entry *)b)->name);
}

static fby_err sort_by_name(struct fby_zip_entries *self,
    const atomic_bool *stop, struct fby_error_detail *why)
{
    struct name_order order = {(const char *)self->names.data, stop};
    if (self->count == 0) {
        return fby_error_set(why, FBY_CONFIG, "%s",
            self->n_links == 0 ? "the archive is empty"
                               : "the archive has only links, which are not "
                                 "followed; pack their files: zip without -y");
    }
    self->list = fby_realloc(self->list, self->count * sizeof(*self->list));
    qsort_r(self->list, self->count, sizeof(*self->list), by_name, &order);
    if (is_stopped(stop)) {
        return FBY_GONE;
    }
    for (uint32_t i = 1; i < self->count; i++) {
        const char *name = fby_zip_entry_name(self, i);
        if (strcmp(fby_zip_entry_name(self, i - 1), name) == 0) {
            return fby_error_set(why, FBY_CONFIG,
                "it has two entries named %s; pack it again without one of "
                "them",
                fby_text_show(name).text);
        }
    }
    return FBY_OK;
}

static fby_err read_all(struct entry_reader *r, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    uint64_t n = 0; /* entries in the directory, also links and folders */
    for (; fby_zip_file_has_more(&r->zip); n++) {
        struct fby_zip_member member;
        struct fby_zip_name   name;
        if (is_stopped(stop)) {
            return FBY_GONE;
        }
        FBY_TRY(fby_zip_file_next(&r->zip, &member, &name, why));
        FBY_TRY(add_entry(r, &member, name, why));
    }
    FBY_TRY(fby_zip_check_count(&r->zip.directory, n, why));
    FBY_TRY(check_overlap(r, why));
    return is_stopped(stop) ? FBY_GONE : sort_by_name(r->out, stop, why);
}

fby_err fby_zip_entries_read(const struct fby_object *object, uint64_t size,
    const char *file, const atomic_bool *stop, struct fby_zip_entries *out,
    struct fby_error_detail *why)
{
    struct entry_reader r = {.file = file, .out = out, .in_order = true};
    *out                  = (struct fby_zip_entries){0};
    fby_err err           = fby_zip_file_open(&r.zip, object, size, why);
    if (err == FBY_OK) {
        err = read_all(&r, stop, why);
    }
    fby_zip_file_fini(&r.zip);
    return err;
}

uint32_t fby_zip_entries_find(
    const struct fby_zip_entries *self, const char *name)
{
    /* Binary search: entries below `low` are lower, from `high` on they are
     * not. */
    uint32_t low  = 0;
    uint32_t high = self->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(fby_zip_entry_name(self, middle), name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
