/* SPDX-License-Identifier: Apache-2.0 */
/* Token files that are read in several pieces, and those with wrong headers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/says.h"
#include "tests/worker/source/memory_object.h"
#include "worker/source/tokens/token_file.h"

static const atomic_bool go_on;

/* A file, one at a time, and what was read of it. */
struct token_reading {
    struct fby_token_file   file;
    struct fby_sequences   *all;
    struct fby_error_detail why;
    fby_err                 err;
};

static struct token_reading begin(
    const struct fby_buffer *bytes, const struct fby_tokens *how)
{
    static struct memory     memory;
    static struct fby_object object;
    memory = memory_of(bytes->data, bytes->size);
    object = memory_object(&memory);
    return (struct token_reading){
        .file = {.object = &object, .size = bytes->size, .stop = &go_on},
        .all  = fby_sequences_create(how),
    };
}

static void end(struct token_reading *r)
{
    fby_sequences_free(&r->all);
}

/* Read the lengths of all documents: `out` has room for `max`. */
static uint32_t documents(
    const struct fby_packed *packed, uint32_t *out, uint32_t max)
{
    struct fby_reader r =
        fby_reader(packed->lengths.data, packed->lengths.size);
    uint32_t n = 0;
    while (r.left > 0) {
        uint8_t byte = 0;
        assert_true(n < max);
        out[n] = 0;
        for (uint32_t shift = 0; shift == 0 || byte >= 0x80; shift += 7) {
            byte = fby_read_u8(&r);
            out[n] |= (uint32_t)(byte & 0x7f) << shift;
        }
        n++;
    }
    assert_int_equal(n, packed->documents);
    return n;
}

/* ---- flat files ---------------------------------------------------------- */

/* Documents end before, at and behind the place where a piece of 1 MiB does,
 * and one goes on over it. */
static void documents_go_on_from_piece_to_piece(void **state)
{
    (void)state;
    enum { PIECE = 1 << 19 /* tokens */ };
    static const uint32_t ends[] = {PIECE - 3, PIECE - 1, PIECE, 2 * PIECE + 4};
    static const uint32_t right[] = {PIECE - 2, 2, 1, PIECE + 4, 5};
    const struct fby_tokens how   = {.format = FBY_TOKENS_FLAT,
          .type                              = FBY_U16,
          .length                            = 1000,
          .packed                            = true};
    uint32_t                is[8];
    struct fby_buffer       bytes  = {0};
    uint8_t                *tokens = fby_zalloc((size_t)(2 * PIECE + 10) * 2);
    memset(tokens, 1, (size_t)(2 * PIECE + 10) * 2);
    for (size_t i = 0; i < 4; i++) {
        fby_store_le(tokens + (size_t)ends[i] * 2, 0x0107, 2);
    }
    fby_put_bytes(&bytes, tokens, (size_t)(2 * PIECE + 10) * 2);
    free(tokens);
    struct token_reading r = begin(&bytes, &how);
    assert_ok(fby_flat_read(&r.file, 0x0107, r.all, &r.why));
    assert_int_equal(r.all->n_runs, 1);
    assert_int_equal(r.all->run_at[0], 0);
    assert_int_equal(r.all->tokens, 2 * PIECE + 10);
    assert_int_equal(documents(r.all->packed, is, 8), 5);
    assert_memory_equal(is, right, sizeof(right));
    end(&r);
    fby_buffer_fini(&bytes);
}

static void a_token_ends_a_document_with_all_of_its_bytes(void **state)
{
    (void)state;
    static const enum fby_type types[] = {
        FBY_U8, FBY_U16, FBY_I32, FBY_U32, FBY_I64};
    for (size_t t = 0; t < 5; t++) {
        const struct fby_tokens how   = {.format = FBY_TOKENS_FLAT,
              .type                              = types[t],
              .length                            = 100,
              .packed                            = true};
        uint32_t                width = fby_type_bytes(types[t]);
        uint32_t                is[4];
        struct fby_buffer       bytes = {0};
        for (uint32_t i = 0; i < 6; i++) {
            uint8_t token[8] = {7};
            token[width - 1] ^= i == 3 ? 0 : 0x40;
            fby_put_bytes(&bytes, token, width);
        }
        struct token_reading r = begin(&bytes, &how);
        assert_ok(fby_flat_read(&r.file, 7, r.all, &r.why));
        assert_int_equal(documents(r.all->packed, is, 4), 2);
        assert_int_equal(is[0], 4);
        assert_int_equal(is[1], 2);
        end(&r);
        fby_buffer_fini(&bytes);
    }
}

/* A file of llm.c for GPT-2, or LLaMA 3, with `extra` bytes too many. */
static struct fby_buffer write_llmc(
    uint32_t magic, uint32_t tokens, uint32_t width, size_t extra)
{
    static const uint8_t zeros[1024];
    struct fby_buffer    out = {0};
    fby_put_u32(&out, magic);
    fby_put_u32(&out, 1);
    fby_put_u32(&out, tokens);
    fby_put_bytes(&out, zeros, 1024 - 12);
    fby_put_bytes(&out, zeros, (size_t)tokens * width + extra);
    return out;
}

static void a_header_of_llm_c_is_no_tokens(void **state)
{
    (void)state;
    static const struct {
        uint32_t    magic, tokens, width;
        size_t      extra;
        const char *type; /* NULL: it is read */
    } files[] = {{20240520, 50, 2, 0, "u16"}, {20240801, 50, 4, 0, "u32"},
        {20240801, 0, 4, 0, "u32"}, {20240520, 50, 2, 2, NULL},
        {20240520, 50, 4, 0, NULL}, {20240521, 50, 2, 0, NULL}};
    const struct fby_tokens how = {
        .format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 10};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char              right[256];
        struct fby_buffer bytes = write_llmc(
            files[i].magic, files[i].tokens, files[i].width, files[i].extra);
        struct token_reading r = begin(&bytes, &how);
        r.err                  = fby_flat_read(&r.file, 0, r.all, &r.why);
        assert_int_equal(r.err, files[i].type != NULL ? FBY_CONFIG : FBY_OK);
        snprintf(right, sizeof(right),
            "the file begins with a header of llm.c, and its tokens are %s; "
            "copy each such file without the header: tail -c +1025 IN.bin > "
            "OUT.bin",
            files[i].type != NULL ? files[i].type : "");
        assert_string_equal(r.why.text, files[i].type != NULL ? right : "");
        end(&r);
        fby_buffer_fini(&bytes);
    }
}

/* ---- Megatron ------------------------------------------------------------ */

/* The tokens of sequence i, which follow one another in the .bin. */
static uint32_t tokens_of(uint64_t i)
{
    return (uint32_t)(i * 7 % 5);
}

struct idx {
    uint64_t        sequences;
    const uint64_t *ends;
    uint64_t        n_ends;
    bool            modes;
};

static struct fby_buffer write_idx(const struct idx *idx, uint64_t *tokens)
{
    struct fby_buffer out = {0};
    fby_put_bytes(&out, "MMIDIDX\0", 9);
    fby_put_u64(&out, 1);
    fby_put_u8(&out, 1); /* bytes */
    fby_put_u64(&out, idx->sequences);
    fby_put_u64(&out, idx->n_ends);
    for (uint64_t i = 0; i < idx->sequences; i++) {
        fby_put_u32(&out, tokens_of(i));
    }
    *tokens = 0;
    for (uint64_t i = 0; i < idx->sequences; i++) {
        fby_put_u64(&out, *tokens);
        *tokens += tokens_of(i);
    }
    for (uint64_t i = 0; i < idx->n_ends; i++) {
        fby_put_u64(&out, idx->ends[i]);
    }
    for (uint64_t i = 0; idx->modes && i < idx->sequences; i++) {
        fby_put_u8(&out, 0);
    }
    return out;
}

static const struct fby_tokens packed_idx = {
    .format = FBY_TOKENS_MEGATRON, .length = 1000000, .packed = true};

/* Documents of 1, 2, 1, 2, ... sequences, more of both than a piece has. */
static void sequences_of_a_document_are_added_up(void **state)
{
    (void)state;
    enum { ENDS = 8195 };
    uint64_t *ends  = fby_zalloc(ENDS * sizeof(*ends));
    uint32_t *right = fby_zalloc(ENDS * sizeof(*right));
    uint32_t *is    = fby_zalloc(ENDS * sizeof(*is));
    uint32_t  n     = 0;
    uint64_t  all   = 0;
    for (uint64_t i = 1; i < ENDS; i++) {
        ends[i] = ends[i - 1] + 1 + (i - 1) % 2;
        for (uint64_t s = ends[i - 1]; s < ends[i]; s++) {
            right[n] += tokens_of(s);
        }
        n += right[n] > 0; /* an empty one is none */
    }
    struct idx           idx   = {ends[ENDS - 1], ends, ENDS, true};
    struct fby_buffer    bytes = write_idx(&idx, &all);
    struct token_reading r     = begin(&bytes, &packed_idx);
    assert_true(ends[ENDS - 1] > 8192);
    assert_ok(fby_megatron_read(&r.file, all, r.all, &r.why));
    assert_int_equal(r.all->tokens, all);
    assert_int_equal(r.all->n_runs, 1);
    assert_int_equal(documents(r.all->packed, is, ENDS), n);
    assert_memory_equal(is, right, n * sizeof(*is));
    end(&r);
    assert_true(all > 0);
    r = begin(&bytes, &packed_idx); /* one byte less has no room for it */
    assert_int_equal(
        fby_megatron_read(&r.file, all - 1, r.all, &r.why), FBY_CONFIG);
    assert_says(&r.why, "does not lie within the");
    end(&r);
    fby_buffer_fini(&bytes);
    free(ends);
    free(right);
    free(is);
}

static void documents_that_do_not_divide_the_sequences_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t    ends[4];
        const char *words; /* NULL: fine */
    } cases[] = {{{0, 2, 2, 9}, NULL},
        {{1, 2, 4, 9},
            "a document begins with sequence 1 after one with 0; there are 9"},
        {{0, 4, 3, 9},
            "a document begins with sequence 3 after one with 4; there are 9"},
        {{0, 4, 5, 10},
            "a document begins with sequence 10 after one with 5; there are 9"},
        {{0, 4, UINT64_MAX, 9},
            "with sequence -1 after one with 4; there are 9"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t             all   = 0;
        struct idx           idx   = {9, cases[i].ends, 4, false};
        struct fby_buffer    bytes = write_idx(&idx, &all);
        struct token_reading r     = begin(&bytes, &packed_idx);
        r.err = fby_megatron_read(&r.file, all, r.all, &r.why);
        assert_int_equal(r.err, cases[i].words == NULL ? FBY_OK : FBY_CONFIG);
        assert_says(&r.why, cases[i].words == NULL ? "" : cases[i].words);
        end(&r);
        struct fby_tokens cut = packed_idx; /* then they do not matter */
        cut.packed            = false;
        r                     = begin(&bytes, &cut);
        assert_ok(fby_megatron_read(&r.file, all, r.all, &r.why));
        assert_int_equal(r.all->tokens, all);
        end(&r);
        fby_buffer_fini(&bytes);
    }
}

static void counts_that_need_another_file_size_are_refused(void **state)
{
    (void)state;
    static const uint64_t ends[] = {0, 4};
    static const struct {
        uint64_t sequences;
        uint64_t ends;
        bool     right;
    } heads[] = {{4, 2, true}, {3, 2, false}, {5, 2, false}, {4, 1, false},
        {4, 3, false}, {0, 8, true}, {UINT64_MAX, 2, false},
        {UINT64_C(1) << 62, 2, false}, {4, (UINT64_C(1) << 61) + 2, false},
        {4, UINT64_MAX, false}, {2, 5, true}};
    uint64_t          all   = 0;
    struct idx        idx   = {4, ends, 2, false};
    struct fby_buffer bytes = write_idx(&idx, &all);
    struct fby_tokens cut   = packed_idx;
    cut.packed              = false;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        fby_store_le(bytes.data + 18, heads[i].sequences, 8);
        fby_store_le(bytes.data + 26, heads[i].ends, 8);
        struct token_reading r = begin(&bytes, &cut);
        r.err     = fby_megatron_read(&r.file, 1 << 20, r.all, &r.why);
        bool size = strstr(r.why.text, "are not what") != NULL;
        assert_int_equal(size, !heads[i].right);
        assert_true(heads[i].right || r.err == FBY_CONFIG);
        end(&r);
    }
    fby_buffer_fini(&bytes);
}

/* ---- MDS ----------------------------------------------------------------- */

/* Columns `id` (without a fixed size), `n` (2 bytes), `tokens` (bytes of u8,
 * without one), `rest` (3 bytes). Sample i has i % 3 bytes of id, and i % 4
 * tokens. */
static const char mds_config[] =
    "{\"column_encodings\": [\"str\", \"int\", \"bytes\", \"bytes\"], "
    "\"column_names\": [\"id\", \"n\", \"tokens\", \"rest\"], "
    "\"column_sizes\": [null, 2, null, 3], \"format\": \"mds\", "
    "\"version\": 2}";

enum { MDS_FIXED = 8 + 2 + 3 };

static struct fby_buffer write_mds(uint32_t n, const char *config)
{
    struct fby_buffer out = {0};
    uint32_t          at  = 4 * (n + 2) + (uint32_t)strlen(config);
    fby_put_u32(&out, n);
    for (uint32_t i = 0; i <= n; i++) {
        fby_put_u32(&out, at);
        at += MDS_FIXED + i % 3 + i % 4;
    }
    fby_put_bytes(&out, config, strlen(config));
    for (uint32_t i = 0; i < n; i++) {
        fby_put_u32(&out, i % 3);
        fby_put_u32(&out, i % 4);
        fby_put_bytes(&out, "id", i % 3);
        fby_put_u16(&out, 0xffff);
        for (uint32_t k = 0; k < i % 4; k++) {
            fby_put_u8(&out, (uint8_t)(i + k));
        }
        fby_put_bytes(&out, "...", 3);
    }
    return out;
}

static const struct fby_tokens mds_bytes = {
    .format = FBY_TOKENS_MDS, .type = FBY_U8, .length = 10, .packed = true};

/* More samples than a piece has, one of them its last and one its first. */
static void tokens_of_samples_are_found_among_their_columns(void **state)
{
    (void)state;
    enum { SAMPLES = 4096 + 7 };
    struct fby_buffer    bytes = write_mds(SAMPLES, mds_config);
    struct token_reading r     = begin(&bytes, &mds_bytes);
    uint64_t             token = 0;
    uint32_t             run   = 0;
    assert_ok(fby_mds_read(&r.file, "tokens", r.all, &r.why));
    for (uint32_t i = 0; i < SAMPLES; i++) {
        for (uint32_t k = 0; k < i % 4; k++) {
            struct fby_token_extent piece =
                fby_sequences_find_extent(r.all, token, i % 4 - k);
            assert_int_equal(bytes.data[piece.at], (uint8_t)(i + k));
            assert_int_equal(piece.tokens, i % 4 - k);
            token++;
        }
        run += i % 4 > 0;
    }
    assert_int_equal(r.all->tokens, token);
    assert_int_equal(r.all->n_runs, run);
    assert_int_equal(r.all->packed->documents, run);
    end(&r);
    fby_buffer_fini(&bytes);
}

/* Four bytes of the file become `value`; then it is refused so. */
static void assert_mds_refused(size_t at, uint32_t value, const char *words)
{
    struct fby_buffer bytes = write_mds(5, mds_config);
    fby_store_le(bytes.data + at, value, 4);
    struct token_reading r = begin(&bytes, &mds_bytes);
    r.err                  = fby_mds_read(&r.file, "tokens", r.all, &r.why);
    assert_int_equal(r.err, FBY_CONFIG);
    assert_says(&r.why, words);
    end(&r);
    fby_buffer_fini(&bytes);
}

static void samples_outside_their_place_are_refused(void **state)
{
    (void)state;
    uint32_t begin_at = 28 + sizeof(mds_config) - 1;
    uint32_t ends_at =
        begin_at + 5 * MDS_FIXED + (0 + 1 + 2 + 0 + 1) + (0 + 1 + 2 + 3 + 0);
    assert_mds_refused(24, ends_at + 1, "does not lie in the shard");
    assert_mds_refused(24, ends_at - 1, "is not as long as its columns");
    assert_mds_refused(8, begin_at + 7, "is shorter than its head");
    assert_mds_refused(8, begin_at + 8, "is not as long as its columns");
    assert_mds_refused(8, begin_at - 1, "does not lie in the shard");
    assert_mds_refused(12, begin_at + 3, "does not lie in the shard");
    assert_mds_refused(begin_at, 1, "is not as long as its columns");
    assert_mds_refused(begin_at + 4, UINT32_MAX, "as long as its columns");
    assert_mds_refused(0, 4, "is not JSON");
    assert_mds_refused(0, 1 << 20, "not a shard of format mds");
    assert_mds_refused(4, 27, "not a shard of format mds");
    assert_mds_refused(4, 28, "is not JSON");
    assert_mds_refused(4, ends_at + 1, "its header goes on to byte");
    assert_mds_refused(4, 28 + (1 << 20) + 1, "not a shard of format mds");
    assert_mds_refused(4, 28 + (1 << 20), "its header goes on to byte");
}

static void columns_that_are_not_described_alike_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *words;
    } cases[] = {
        {"\"mds\"", "\"xds\"", "does not say format mds, version 2"},
        {": 2}", ": 3}", "does not say format mds, version 2"},
        {"\"str\", ", "", "column_sizes differ in length"},
        {"\"id\", ", "", "column_sizes differ in length"},
        {"null, 3]", "null]", "column_sizes differ in length"},
        {", 3]", ", -3]", "a column of -3 bytes"},
        {", 3]", ", 4294967296]", "a column of 4294967296 bytes"},
        {", 3]", ", 4294967295]", "is not as long as its columns"},
        {"\"tokens\"", "\"token\"", "it has no column 'tokens'"},
        {"\"bytes\", \"bytes\"", "7, \"bytes\"", "the column is encoded as ''"},
        {"\"bytes\", \"bytes\"", "\"ndarray:int\", \"bytes\"",
            "supported are arrays of uint8"},
        {"\"bytes\", \"bytes\"", "\"ndarray:uint16:5\", \"bytes\"",
            "its tokens are u16, and the pipeline says type: u8"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char        config[400];
        const char *at = strstr(mds_config, cases[i].from);
        snprintf(config, sizeof(config), "%.*s%s%s", (int)(at - mds_config),
            mds_config, cases[i].to, at + strlen(cases[i].from));
        struct fby_buffer    bytes = write_mds(5, config);
        struct token_reading r     = begin(&bytes, &mds_bytes);
        r.err = fby_mds_read(&r.file, "tokens", r.all, &r.why);
        assert_int_equal(r.err, FBY_CONFIG);
        assert_says(&r.why, cases[i].words);
        end(&r);
        fby_buffer_fini(&bytes);
    }
}

/* One sample of `n` columns of a byte each, all of them tokens of some kind;
 * the last one is read. */
static struct token_reading read_columns_of_mds(unsigned n)
{
    struct fby_buffer config  = {0};
    struct fby_buffer bytes   = {0};
    const char *const lists[] = {"{\"column_encodings\": [",
        "],\"column_names\": [", "], \"column_sizes\": ["};
    for (int list = 0; list < 3; list++) {
        fby_put_bytes(&config, lists[list], strlen(lists[list]));
        for (unsigned i = 0; i < n; i++) {
            char item[16];
            snprintf(item, sizeof(item), "%s\"c%u\"", i > 0 ? "," : "", i);
            const char *text = list == 1   ? item
                               : i == 0    ? (list == 0 ? "\"bytes\"" : "1")
                               : list == 0 ? ",\"bytes\""
                                           : ",1";
            fby_put_bytes(&config, text, strlen(text));
        }
    }
    const char *rest = "], \"format\": \"mds\", \"version\": 2}";
    fby_put_bytes(&config, rest, strlen(rest));
    fby_put_u32(&bytes, 1);
    fby_put_u32(&bytes, 12 + (uint32_t)config.size);
    fby_put_u32(&bytes, 12 + (uint32_t)config.size + n);
    fby_put_bytes(&bytes, config.data, config.size);
    for (unsigned i = 0; i < n; i++) {
        fby_put_u8(&bytes, (uint8_t)i);
    }
    char last[16];
    snprintf(last, sizeof(last), "c%u", n - 1);
    struct token_reading r = begin(&bytes, &mds_bytes);
    r.err                  = fby_mds_read(&r.file, last, r.all, &r.why);
    fby_buffer_fini(&config);
    fby_buffer_fini(&bytes);
    return r;
}

static void a_sample_has_at_most_256_columns(void **state)
{
    (void)state;
    struct token_reading r = read_columns_of_mds(256);
    assert_ok(r.err);
    assert_int_equal(r.all->tokens, 1);
    assert_int_equal(r.all->run_at[0], r.file.size - 1);
    end(&r);
    r = read_columns_of_mds(257);
    assert_int_equal(r.err, FBY_CONFIG);
    assert_says(&r.why, "column_sizes differ in length, or have more than 256");
    end(&r);
}

/* One sample of one column, an array whose shape is passed over. */
static fby_err read_array(
    const char *encoding, const void *array, size_t size, uint64_t *skipped)
{
    char              config[200];
    struct fby_buffer bytes = {0};
    struct fby_tokens how   = {.format = FBY_TOKENS_MDS, .length = 1};
    snprintf(config, sizeof(config),
        "{\"column_encodings\": [\"%s\"], \"column_names\": [\"a\"], "
        "\"column_sizes\": [null], \"format\": \"mds\", \"version\": 2}",
        encoding);
    uint32_t at = 12 + (uint32_t)strlen(config);
    fby_put_u32(&bytes, 1);
    fby_put_u32(&bytes, at);
    fby_put_u32(&bytes, at + 4 + (uint32_t)size);
    fby_put_bytes(&bytes, config, strlen(config));
    fby_put_u32(&bytes, (uint32_t)size);
    fby_put_bytes(&bytes, array, size);
    struct token_reading r = begin(&bytes, &how);
    r.err                  = fby_mds_read(&r.file, "a", r.all, &r.why);
    *skipped =
        r.err == FBY_OK && r.all->n_runs > 0 ? r.all->run_at[0] - at - 4 : 0;
    end(&r);
    fby_buffer_fini(&bytes);
    return r.err;
}

static void a_shape_is_as_long_as_its_first_byte_says(void **state)
{
    (void)state;
    static const uint8_t one[] = {1 << 2 | 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0};
    static const uint8_t two[] = {2 << 2 | 1, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0};
    static const uint8_t three[] = {
        1 << 2 | 3, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0};
    uint64_t skipped = 0;
    assert_ok(read_array("ndarray:uint8", one, 12, &skipped));
    assert_int_equal(skipped, 2);
    assert_ok(read_array("ndarray:uint8", two, 12, &skipped));
    assert_int_equal(skipped, 5);
    assert_ok(read_array("ndarray:uint8", three, 12, &skipped));
    assert_int_equal(skipped, 9);
    assert_ok(read_array("ndarray:uint8", three, 9, &skipped));
    assert_int_equal(
        read_array("ndarray:uint8", three, 8, &skipped), FBY_CONFIG);
    assert_int_equal(read_array("ndarray:uint8", one, 0, &skipped), FBY_CONFIG);
    assert_ok(read_array("ndarray:uint8:12", three, 12, &skipped));
    assert_int_equal(skipped, 0);
    assert_ok(read_array("ndarray:int64", two, 5 + 0, &skipped));
    assert_int_equal(
        read_array("ndarray:uint16", two, 6, &skipped), FBY_CONFIG);
    assert_ok(read_array("ndarray:uint32", two, 5 + 4, &skipped));
    assert_ok(read_array("ndarray:int32", two, 5 + 4, &skipped));
    assert_int_equal(
        read_array("ndarray:int64", two, 5 + 4, &skipped), FBY_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_go_on_from_piece_to_piece),
        cmocka_unit_test(a_token_ends_a_document_with_all_of_its_bytes),
        cmocka_unit_test(a_header_of_llm_c_is_no_tokens),
        cmocka_unit_test(sequences_of_a_document_are_added_up),
        cmocka_unit_test(
            documents_that_do_not_divide_the_sequences_are_refused),
        cmocka_unit_test(counts_that_need_another_file_size_are_refused),
        cmocka_unit_test(tokens_of_samples_are_found_among_their_columns),
        cmocka_unit_test(samples_outside_their_place_are_refused),
        cmocka_unit_test(columns_that_are_not_described_alike_are_refused),
        cmocka_unit_test(a_sample_has_at_most_256_columns),
        cmocka_unit_test(a_shape_is_as_long_as_its_first_byte_says),
    };
    return cmocka_run_group_tests_name(
        "worker.source.token_files", tests, NULL, NULL);
}
