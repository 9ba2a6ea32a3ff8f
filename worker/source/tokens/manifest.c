/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.c - write and read a shard of tokens in a dataset's manifest. A run
 * is a range of tokens that are adjacent in the file (sequences.h). */
#include "worker/source/manifest.h"
#include "pipeline/derived.h"

enum { /* keys of a shard's record that only shards of tokens have */
    SHARD_FORMAT = 25, /* enum fby_tokens_format */
    SHARD_TOKEN_TYPE,
    SHARD_SEQUENCE_LENGTH, /* tokens of a sequence */
    SHARD_SHIFT,           /* extra tokens per sequence, for targets: 0 or 1 */
    SHARD_RUNS,            /* byte offset of each run */
    SHARD_RUN_TOKENS,      /* number of tokens of each run */
    SHARD_PACKED           /* encoded lengths of packed documents, if any */
};

void fby_tokens_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    const struct fby_sequences *sequences = shard->sequences;
    uint32_t                    n         = sequences->n_runs;
    fby_record_put_i64(out, SHARD_FORMAT, sequences->format);
    fby_record_put_i64(out, SHARD_TOKEN_TYPE, sequences->type);
    fby_record_put_i64(out, SHARD_SEQUENCE_LENGTH, sequences->length);
    fby_record_put_i64(out, SHARD_SHIFT, sequences->shift);
    fby_record_put_i64s(out, SHARD_RUNS, (const int64_t *)sequences->run_at, n);
    size_t mark = fby_record_open(out, SHARD_RUN_TOKENS);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t end =
            i + 1 < n ? sequences->run_first[i + 1] : sequences->tokens;
        fby_put_u64(out, end - sequences->run_first[i]);
    }
    fby_record_close(out, mark);
    if (sequences->packed != NULL) {
        const struct fby_buffer *lengths = &sequences->packed->lengths;
        fby_record_put_bytes(out, SHARD_PACKED, lengths->data, lengths->size);
    }
}

/* The values of three keys of a record, still encoded and not validated. */
struct raw_values {
    struct fby_reader run_at;     /* a u64 for each run */
    struct fby_reader run_tokens; /* a u64 for each run */
    struct fby_span   documents;  /* encoded lengths; only with packing */
};

/* Create out->sequences, without tokens. An error is kept in `r`. */
static void read_sequences(
    struct fby_record *r, struct fby_shard *out, struct raw_values *raw)
{
    struct fby_tokens settings = {0};
    settings.format = (enum fby_tokens_format)fby_record_read_between(
        r, SHARD_FORMAT, FBY_TOKENS_FLAT, FBY_TOKENS_MEGATRON);
    settings.type =
        (enum fby_type)fby_record_read_between(r, SHARD_TOKEN_TYPE, 1, FBY_U32);
    settings.length = (uint32_t)fby_record_read_between(
        r, SHARD_SEQUENCE_LENGTH, 1, FBY_MAX_TOKENS);
    settings.shift  = (uint32_t)fby_record_read_between(r, SHARD_SHIFT, 0, 1);
    raw->run_at     = fby_manifest_array(r, SHARD_RUNS);
    raw->run_tokens = fby_manifest_array(r, SHARD_RUN_TOKENS);
    settings.packed = fby_record_next_is(r, SHARD_PACKED);
    if (settings.packed) {
        raw->documents = fby_record_read_bytes(r, SHARD_PACKED);
    }
    out->sequences = fby_sequences_create(&settings);
    if (!fby_tokens_type_is_valid(&settings)) {
        fby_record_refuse(r, SHARD_TOKEN_TYPE, "is not a type of tokens");
    }
}

/* Append the next run, which must lie in the file. A run that begins where the
 * previous one ends is refused, because the encoder joins such runs. */
static fby_err decode_run(
    struct fby_shard *out, struct raw_values *raw, struct fby_error_detail *why)
{
    uint64_t at       = fby_read_u64(&raw->run_at);
    uint64_t tokens   = fby_read_u64(&raw->run_tokens);
    uint64_t width    = fby_type_bytes(out->sequences->type);
    uint32_t n_before = out->sequences->n_runs;
    if (raw->run_at.bad || raw->run_tokens.bad) {
        return fby_manifest_refuse(
            why, "run offsets and run lengths of different counts");
    }
    if (tokens == 0 || at > out->size || tokens > (out->size - at) / width) {
        return fby_manifest_refuse(why, "a run of tokens beyond the end");
    }
    FBY_TRY(fby_sequences_add_run(out->sequences, at, tokens, why));
    return out->sequences->n_runs > n_before
               ? FBY_OK
               : fby_manifest_refuse(
                     why, "a run of tokens that continues the one before");
}

fby_err fby_tokens_decode(
    struct fby_record *r, struct fby_shard *out, struct fby_error_detail *why)
{
    struct raw_values raw = {0};
    read_sequences(r, out, &raw);
    FBY_TRY(fby_record_end(r, "manifest of a shard", why));
    while (raw.run_at.left > 0 || raw.run_tokens.left > 0) {
        FBY_TRY(decode_run(out, &raw, why));
    }
    if (out->sequences->packed != NULL) {
        FBY_TRY(fby_packed_read(out->sequences->packed, raw.documents.data,
            raw.documents.size, out->sequences->tokens, why));
    }
    return fby_shard_finish_sequences(out, why);
}
