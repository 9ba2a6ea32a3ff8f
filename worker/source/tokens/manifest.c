#include "worker/source/tokens/manifest.h"

#include <stdlib.h>

#include "common/mem.h"
#include "pipeline/derived.h"

enum { /* keys of a shard's record */
    KEY_FORMAT = 25,
    KEY_TYPE,
    KEY_LENGTH,
    KEY_SHIFT,
    KEY_RUN_AT,
    KEY_RUN_TOKENS,
    KEY_DOCUMENTS /* where they are packed */
};

void fby_tokens_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    const struct fby_sequences *sequences = shard->sequences;
    uint32_t                    n         = sequences->n_runs;
    fby_record_put_i64(out, KEY_FORMAT, sequences->format);
    fby_record_put_i64(out, KEY_TYPE, sequences->type);
    fby_record_put_i64(out, KEY_LENGTH, sequences->length);
    fby_record_put_i64(out, KEY_SHIFT, sequences->shift);
    size_t mark = fby_record_open(out, KEY_RUN_AT);
    for (uint32_t i = 0; i < n; i++) {
        fby_put_u64(out, sequences->at[i]);
    }
    fby_record_close(out, mark);
    mark = fby_record_open(out, KEY_RUN_TOKENS);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t end = i + 1 < n ? sequences->first[i + 1] : sequences->tokens;
        fby_put_u64(out, end - sequences->first[i]);
    }
    fby_record_close(out, mark);
    if (sequences->packed != NULL) {
        const struct fby_buffer *lengths = &sequences->packed->lengths;
        fby_record_put_bytes(out, KEY_DOCUMENTS, lengths->data, lengths->size);
    }
}

/* The columns of a record, before they are checked. */
struct runs {
    struct fby_reader run_at;
    struct fby_reader run_tokens;
    struct fby_span   documents;
};

static struct fby_reader column(struct fby_record *r, uint16_t key)
{
    struct fby_span span = fby_record_bytes(r, key);
    return fby_reader(span.data, span.size);
}

static void read_sequences(
    struct fby_record *r, struct fby_shard *out, struct runs *c)
{
    struct fby_tokens how = {
        .format = (enum fby_tokens_format)fby_record_between(
            r, KEY_FORMAT, FBY_TOKENS_FLAT, FBY_TOKENS_MEGATRON),
    };
    how.type   = (enum fby_type)fby_record_between(r, KEY_TYPE, 1, FBY_U32);
    how.length = (uint32_t)fby_record_between(r, KEY_LENGTH, 1, FBY_MAX_TOKENS);
    how.shift  = (uint32_t)fby_record_between(r, KEY_SHIFT, 0, 1);
    c->run_at  = column(r, KEY_RUN_AT);
    c->run_tokens = column(r, KEY_RUN_TOKENS);
    how.packed    = fby_record_has(r, KEY_DOCUMENTS);
    if (how.packed) {
        c->documents = fby_record_bytes(r, KEY_DOCUMENTS);
    }
    out->sequences = fby_sequences_create(&how);
    if (!fby_tokens_type_ok(&how)) {
        fby_record_refuse(r, KEY_TYPE, "no type of tokens");
    }
}

static fby_err bad(struct fby_why *why, const char *what)
{
    return fby_because(why, FBY_PROTO, "manifest of a shard: %s", what);
}

/* Runs lie within the file, and two that follow one another are one. */
static fby_err take_run(
    struct fby_shard *out, struct runs *c, struct fby_why *why)
{
    uint64_t at     = fby_read_u64(&c->run_at);
    uint64_t tokens = fby_read_u64(&c->run_tokens);
    uint64_t width  = fby_type_bytes(out->sequences->type);
    uint32_t before = out->sequences->n_runs;
    if (c->run_at.bad || c->run_tokens.bad) {
        return bad(why, "columns of different lengths");
    }
    if (tokens == 0 || at > out->size || tokens > (out->size - at) / width) {
        return bad(why, "a run of tokens beyond the end");
    }
    fby_err err = fby_sequences_add(out->sequences, at, tokens, why);
    return err != FBY_OK || out->sequences->n_runs > before
               ? err
               : bad(why, "a run of tokens that goes on with the one before");
}

static fby_err take_runs(
    struct fby_shard *out, struct runs *c, struct fby_why *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK && (c->run_at.left > 0 || c->run_tokens.left > 0)) {
        err = take_run(out, c, why);
    }
    if (err == FBY_OK && out->sequences->packed != NULL) {
        err = fby_packed_read(out->sequences->packed, c->documents.data,
            c->documents.size, out->sequences->tokens, why);
    }
    if (err == FBY_OK) {
        err = fby_shard_finish_sequences(out, why);
    }
    if (err == FBY_OK) {
        out->stamps = fby_zalloc(fby_shard_stamps(out) * sizeof(*out->stamps));
    }
    return err == FBY_OK ? FBY_OK : FBY_PROTO;
}

fby_err fby_tokens_decode(
    struct fby_record *r, struct fby_shard *out, struct fby_why *why)
{
    struct runs runs = {0};
    read_sequences(r, out, &runs);
    fby_err err = fby_record_end(r, "manifest of a shard", why);
    return err == FBY_OK ? take_runs(out, &runs, why) : err;
}
