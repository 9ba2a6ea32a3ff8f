/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.c - collect the hashes of the decoders and ops that a content (a
 * parsed pipeline) uses, each hash once, and hash them together. The entries
 * are sorted, because their order in the content must not matter. */
#include "worker/transform/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/device_ops.h"
#include "worker/transform/decoders.h"
#include "worker/transform/self_check/decoder_hash.h"

enum {
    FORMAT_VERSION  = 1, /* version of the hashed bytes, of the random draws
                            and of the sample order */
    DECODER_VERSION = 1,
    ENTRY_DECODER   = 1,
    ENTRY_OP        = 2,
    ENTRY_DEVICE_OP = 3,  /* an op that the trainer runs, with random numbers
                             that the worker draws */
    MAX_ENTRIES     = 128 /* more than all decoders and ops together */
};

struct entry {
    uint8_t           type; /* ENTRY_... */
    const char       *name;
    uint32_t          version;
    struct fby_digest hash;
};

struct entries {
    struct entry list[MAX_ENTRIES];
    size_t       n;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    return a->type != b->type ? a->type - b->type : strcmp(a->name, b->name);
}

/* Add the entry unless the list has one of this type and name. */
static void add_entry(struct entries *entries, struct entry entry)
{
    for (size_t i = 0; i < entries->n; i++) {
        if (compare_entries(&entries->list[i], &entry) == 0) {
            return;
        }
    }
    entries->list[entries->n++] = entry;
}

static fby_err add_decoders(struct entries *entries,
    const struct fby_field_content *field, struct fby_error_detail *why)
{
    /* 0 for an unknown kind of field. */
    uint32_t kind_bit = (uint32_t)field->decode < 32 ? 1U << field->decode : 0;
    bool     known    = false;
    for (uint32_t i = 0; i < FBY_N_DECODERS; i++) {
        bool covers_kind = (fby_decoders[i].kinds & kind_bit) != 0;
        known            = known || covers_kind;
        if (covers_kind && (fby_decoders[i].applies_to == NULL ||
                               fby_decoders[i].applies_to(field))) {
            add_entry(entries,
                (struct entry){ENTRY_DECODER, fby_decoders[i].name,
                    DECODER_VERSION, *fby_self_check_hash_of_decoder(i)});
        }
    }
    return known ? FBY_OK
                 : fby_error_set(why, FBY_USAGE,
                       "this worker has no decoder for field kind %u",
                       (unsigned)field->decode);
}

static fby_err add_op(struct entries *entries, const struct fby_op *op,
    struct fby_error_detail *why)
{
    const struct fby_digest *hash =
        op == NULL ? NULL : fby_self_check_hash_of_op(op->id);
    if (hash == NULL) {
        return fby_error_set(why, FBY_USAGE, "this worker has no op '%s'",
            op == NULL ? "" : op->name);
    }
    add_entry(entries, (struct entry){ENTRY_OP, op->name, op->version, *hash});
    return FBY_OK;
}

/* Add the ops that the trainer runs. Those without a plan function (normalize)
 * are left out, because no worker draws numbers for them. */
static void add_device_ops(
    struct entries *entries, const struct fby_field_content *field)
{
    for (uint32_t k = 0; k < field->n_device; k++) {
        const struct fby_op *op = field->device[k].op;
        if (op->plan != NULL) {
            add_entry(entries, (struct entry){ENTRY_DEVICE_OP, op->name,
                                   op->version, fby_device_op_hash(op)});
        }
    }
}

static fby_err add_fields(const struct fby_content *content,
    struct entries *entries, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < content->n_fields && err == FBY_OK; i++) {
        const struct fby_field_content *field = &content->fields[i];
        err = add_decoders(entries, field, why);
        for (uint32_t k = 0; k < field->n_ops && err == FBY_OK; k++) {
            err = add_op(entries, field->ops[k].op, why);
        }
        add_device_ops(entries, field);
    }
    return err;
}

static struct fby_digest digest_entries(const struct entries *entries)
{
    struct fby_digest_state hash;
    fby_digest_begin(&hash);
    fby_digest_add(&hash, "FBYP", 4);
    fby_digest_add_number(&hash, FORMAT_VERSION, 2);
    fby_digest_add_number(&hash, entries->n, 2);
    for (size_t i = 0; i < entries->n; i++) {
        const struct entry *entry = &entries->list[i];
        fby_digest_add_number(&hash, entry->type, 1);
        fby_digest_add_number(&hash, strlen(entry->name), 1);
        fby_digest_add(&hash, entry->name, strlen(entry->name));
        fby_digest_add_number(&hash, entry->version, 4);
        fby_digest_add(&hash, entry->hash.bytes, sizeof(entry->hash.bytes));
    }
    return fby_digest_end(&hash);
}

fby_err fby_fingerprint(const struct fby_content *content,
    struct fby_digest *out, struct fby_error_detail *why)
{
    struct entries entries = {.n = 0};
    fby_err        err     = fby_decoder_hashes_compute();
    if (err != FBY_OK) {
        return fby_error_set(
            why, err, "self checks of the decoders: %s", fby_strerror(err));
    }
    err = add_fields(content, &entries, why);
    if (err == FBY_OK) {
        qsort(
            entries.list, entries.n, sizeof(entries.list[0]), compare_entries);
        *out = digest_entries(&entries);
    }
    return err;
}
