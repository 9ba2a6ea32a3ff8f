#include "worker/source/member_lengths.h"

#include <stdlib.h>

#include "common/mem.h"
#include "worker/npy/npy.h"
#include "worker/source/files.h"

enum { FIRST = 256 /* bytes: most headers have 128 */ };

struct heads {
    const struct fby_members *members;
    const struct fby_shard   *shard;
    uint8_t                  *head; /* FBY_NPY_HEAD bytes */
};

static uint32_t length_of(const struct fby_npy *npy, uint64_t data_bytes)
{
    uint64_t bytes = npy->values * fby_npy_type_bytes(npy->type);
    if (npy->n_dims == 0 || npy->values == 0 || bytes != data_bytes) {
        return 0;
    }
    return npy->dims[0] < UINT32_MAX ? (uint32_t)npy->dims[0] : UINT32_MAX;
}

/* Only a long header takes a second read. */
static fby_err read_length(const struct heads *h,
    const struct fby_object *object, struct fby_extent extent, uint32_t *out,
    struct fby_why *why)
{
    static const size_t pieces[] = {FIRST, FBY_NPY_HEAD};
    size_t              n        = 0;
    for (size_t i = 0; i < 2 && n < extent.size; i++) {
        struct fby_npy npy;
        size_t         head = 0;
        n                   = extent.size < pieces[i] ? extent.size : pieces[i];
        fby_err err = fby_object_read(object, extent.offset, h->head, n, why);
        if (err != FBY_OK) {
            return err;
        }
        if (fby_npy_read_head(h->head, n, &npy, &head, NULL) == FBY_OK) {
            *out = length_of(&npy, extent.size - head);
            return FBY_OK;
        }
    }
    return FBY_OK; /* a bad one: 0, as it was */
}

static fby_err read_file_length(
    const struct heads *h, uint32_t m, uint32_t *out, struct fby_why *why)
{
    char                    path[FBY_PATH_SIZE];
    struct fby_object       object;
    const struct fby_index *index = h->members->index;
    const struct fby_stamp *stamp = &h->shard->stamps[m];
    fby_err                 err = fby_index_path(index, h->shard, m, path, why);
    if (err == FBY_OK) {
        err = fby_object_open(index->root, path, &object, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    err = fby_stamp_check(&object, stamp, why);
    if (err == FBY_OK) {
        struct fby_extent all = {.offset = 0, .size = stamp->size};
        err                   = read_length(h, &object, all, out, why);
    }
    if (err == FBY_OK) {
        err = fby_stamp_check(&object, stamp, why);
    }
    fby_object_close(&object);
    return err;
}

static fby_err read_member_length(
    const struct heads *h, uint32_t m, uint32_t *out, struct fby_why *why)
{
    if (fby_shard_is_value(h->shard, m)) {
        return FBY_OK; /* a text is no NumPy file */
    }
    if (h->members->index != NULL) {
        return read_file_length(h, m, out, why);
    }
    struct fby_extent extent = {
        .offset = fby_shard_offset(h->shard, m), .size = h->shard->bytes[m]};
    return read_length(h, h->members->object, extent, out, why);
}

static fby_err read_sample_length(
    const struct heads *h, uint32_t sample, uint32_t *out, struct fby_why *why)
{
    const struct fby_field_content *field = h->members->field;
    uint32_t                        m     = 0;
    if (!fby_shard_find(h->shard, sample, field->from, field->n_from, &m)) {
        return FBY_OK;
    }
    fby_err err = read_member_length(h, m, out, why);
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "member %.200s.%s",
                               fby_shard_key(h->shard, sample),
                               fby_shard_suffix(h->shard, m));
}

fby_err fby_member_lengths_read(const struct fby_members *members,
    struct fby_shard *shard, struct fby_why *why)
{
    struct heads h   = {.members = members, .shard = shard};
    fby_err      err = FBY_OK;
    h.head           = fby_zalloc(FBY_NPY_HEAD);
    shard->lengths   = fby_zalloc(shard->samples * sizeof(*shard->lengths));
    for (uint32_t i = 0; i < shard->samples && err == FBY_OK; i++) {
        err = atomic_load(members->stop)
                  ? FBY_GONE
                  : read_sample_length(&h, i, &shard->lengths[i], why);
    }
    free(h.head);
    return err;
}
