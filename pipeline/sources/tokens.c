/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - the source `tokens`: sequences of tokens, which are cut from token
 * files or packed from the documents in such files. */
#include <string.h>

#include "pipeline/canon.h"
#include "pipeline/derived.h"
#include "pipeline/record.h"
#include "pipeline/sources/sources.h"

enum { PACKING_RULE_VERSION = 1 }; /* proto/PROTOCOL.md, "Packed documents" */

/* ---- the pipeline file ---- */

static const struct fby_choice formats[] = {{"flat", FBY_TOKENS_FLAT},
    {"mds", FBY_TOKENS_MDS}, {"megatron", FBY_TOKENS_MEGATRON}, {NULL, 0}};

static const struct fby_choice types[] = {{"u8", FBY_U8}, {"u16", FBY_U16},
    {"u32", FBY_U32}, {"i32", FBY_I32}, {"i64", FBY_I64}, {NULL, 0}};

static const struct fby_choice packings[] = {/* values of the bool `packed` */
    {"documents", 1}, {NULL, 0}};

static const struct fby_key tokens_keys[TOKENS_KEYS] = {
    [TOKENS_FILES]  = {FBY_TEXT("files", parsed_tokens, files,
                           "a pattern of token files"),
         .required = true},
    [TOKENS_FORMAT] = {FBY_CHOICE("format", parsed_tokens, content.format,
                           "format", formats),
        .required = true},
    [TOKENS_TYPE]   = {FBY_CHOICE(
          "type", parsed_tokens, content.type, "type", types)},
    [TOKENS_COLUMN] = {FBY_TEXT(
        "column", parsed_tokens, content.column, "a column of the MDS shards")},
    [TOKENS_LENGTH] = {FBY_INTEGER("length", parsed_tokens, content.length, 1,
                           FBY_MAX_TOKENS,
                           "an integer, 1 to 16777216 (tokens)"),
        .required = true},
    [TOKENS_SHIFT]  = {FBY_INTEGER("shift", parsed_tokens, content.shift, 0, 1,
         "0, or 1: targets are the next tokens")},
    [TOKENS_PACK]   = {FBY_CHOICE(
          "pack", parsed_tokens, content.packed, "packing", packings)},
    [TOKENS_END]    = {FBY_INTEGER("end", parsed_tokens, content.end, 0,
           FBY_MAX_TOKEN,
           "an integer, 0 to 2147483647 (the id of the token that ends a "
              "document)")},
    [TOKENS_PAD]    = {FBY_INTEGER("pad", parsed_tokens, content.pad, 0,
           FBY_MAX_TOKEN,
           "an integer, 0 to 2147483647 (the id of the token that pads "
              "sequences)")},
};
static const struct fby_schema schema = {
    "{files: PATTERN, format: flat, type: u16, length: 2048}", tokens_keys,
    TOKENS_KEYS};

/* Check the keys `end` and `pad`, which need `pack: documents`. Flat files also
 * need `end`; files of the other formats have the lengths of documents. */
static fby_err check_pack_keys(
    const struct fby_yaml *yaml, const struct parsed_tokens *tokens)
{
    bool is_flat = tokens->content.format == FBY_TOKENS_FLAT;
    bool has_end = fby_pos_is_given(tokens->key_pos[TOKENS_END]);
    for (size_t key = TOKENS_END; key <= TOKENS_PAD; key++) { /* end, pad */
        if (!tokens->content.packed && fby_pos_is_given(tokens->key_pos[key])) {
            return fby_yaml_error_at(yaml, tokens->key_pos[key],
                "%s needs pack: documents", tokens_keys[key].name);
        }
    }
    if (!is_flat && has_end) {
        return fby_yaml_error_at(yaml, tokens->key_pos[TOKENS_END],
            "end is for flat files; the other formats store where documents "
            "end");
    }
    if (is_flat && tokens->content.packed && !has_end) {
        return fby_yaml_error_at(yaml, tokens->key_pos[TOKENS_PACK],
            "flat files do not store where documents end; write which token "
            "ends one, such as end: 50256");
    }
    return FBY_OK;
}

static fby_err read_tokens(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_split  *split  = target;
    struct parsed_tokens *tokens = &split->tokens;
    FBY_TRY(fby_schema_read(yaml, node, &schema, tokens));
    memcpy(split->pattern, tokens->files, sizeof(split->pattern));
    bool is_mds = tokens->content.format == FBY_TOKENS_MDS;
    if (!is_mds && fby_pos_is_given(tokens->key_pos[TOKENS_COLUMN])) {
        return fby_yaml_error_at(yaml, tokens->key_pos[TOKENS_COLUMN],
            "only format: mds has columns");
    }
    if (is_mds && tokens->content.column[0] == '\0') {
        memcpy(tokens->content.column, "tokens", sizeof("tokens"));
    }
    if (tokens->content.format == FBY_TOKENS_FLAT &&
        tokens->content.type == 0) {
        return fby_yaml_error_at(yaml, tokens->key_pos[TOKENS_FORMAT],
            "flat files do not store the type of their tokens; write type: u16 "
            "or u32");
    }
    return check_pack_keys(yaml, tokens);
}

static const struct fby_key key = {FBY_READ_BY("tokens", read_tokens)};

static void fill_content(
    const struct parsed_split *parsed, struct fby_content *out)
{
    out->tokens = parsed->tokens.content;
}

static fby_err check_packing(
    const struct fby_tokens *tokens, struct fby_error_detail *why)
{
    bool     uses_end   = tokens->packed && tokens->format == FBY_TOKENS_FLAT;
    uint32_t token_size = fby_type_bytes(tokens->type);
    /* `end` must be a value of the files' type and a token id. */
    uint32_t max_end = token_size == 1   ? UINT8_MAX
                       : token_size == 2 ? UINT16_MAX
                                         : (uint32_t)FBY_MAX_TOKEN;
    if (tokens->end > max_end || tokens->pad > FBY_MAX_TOKEN) {
        return fby_error_set(why, FBY_CONFIG,
            "tokens: end (%u) must be 0 to %u, and pad (%u) 0 to %d",
            tokens->end, max_end, tokens->pad, FBY_MAX_TOKEN);
    }
    bool pad_is_valid = tokens->packed || tokens->pad == 0;
    bool end_is_valid = uses_end || tokens->end == 0;
    if (!pad_is_valid || !end_is_valid) {
        return fby_error_set(why, FBY_CONFIG,
            "tokens: pad belongs to packed documents, end to those of flat "
            "files");
    }
    return FBY_OK;
}

static fby_err check(
    const struct fby_content *content, struct fby_error_detail *why)
{
    const struct fby_tokens *tokens     = &content->tokens;
    bool                     is_mds     = tokens->format == FBY_TOKENS_MDS;
    bool                     has_column = tokens->column[0] != '\0';
    if (!fby_tokens_type_is_valid(tokens)) {
        return fby_error_set(why, FBY_CONFIG,
            "tokens: the type is u8, u16, u32, i32 or i64; flat files need "
            "it");
    }
    if (tokens->length == 0 || tokens->length > FBY_MAX_TOKENS) {
        return fby_error_set(why, FBY_CONFIG,
            "tokens: length is not within 1 to %d", FBY_MAX_TOKENS);
    }
    if (is_mds != has_column) {
        return fby_error_set(why, FBY_CONFIG,
            "tokens: the column belongs to format: mds, which has one");
    }
    return check_packing(tokens, why);
}

/* ---- canonical bytes ---- */

enum { /* keys of the record FBY_CONTENT_TOKENS */
    KEY_FORMAT = 1,
    KEY_TYPE   = 2,
    KEY_LENGTH = 3,
    KEY_SHIFT  = 4,
    KEY_COLUMN = 5
};

enum { /* keys of the record FBY_CONTENT_PACKING */
    PACKING_RULE = 1,
    PACKING_END  = 2, /* flat files only */
    PACKING_PAD  = 3
};

static void encode_tokens(
    struct fby_buffer *out, const struct fby_tokens *tokens)
{
    size_t mark = fby_record_open(out, FBY_CONTENT_TOKENS);
    fby_record_put_i64(out, KEY_FORMAT, tokens->format);
    fby_record_put_i64(out, KEY_TYPE, tokens->type);
    fby_record_put_i64(out, KEY_LENGTH, tokens->length);
    fby_record_put_i64(out, KEY_SHIFT, tokens->shift);
    fby_record_put_text(out, KEY_COLUMN, tokens->column);
    fby_record_close(out, mark);
}

static void encode_packing(
    struct fby_buffer *out, const struct fby_tokens *tokens)
{
    size_t mark = fby_record_open(out, FBY_CONTENT_PACKING);
    fby_record_put_i64(out, PACKING_RULE, PACKING_RULE_VERSION);
    if (tokens->format == FBY_TOKENS_FLAT) {
        fby_record_put_i64(out, PACKING_END, tokens->end);
    }
    fby_record_put_i64(out, PACKING_PAD, tokens->pad);
    fby_record_close(out, mark);
}

static void encode(const struct fby_content *content, struct fby_buffer *out)
{
    encode_tokens(out, &content->tokens);
    if (content->tokens.packed) {
        encode_packing(out, &content->tokens);
    }
}

static void decode_tokens(struct fby_record *outer, struct fby_tokens *out)
{
    struct fby_record r = fby_record_enter(outer, FBY_CONTENT_TOKENS);
    out->format         = (enum fby_tokens_format)fby_record_read_between(
                &r, KEY_FORMAT, FBY_TOKENS_FLAT, FBY_TOKENS_MEGATRON);
    out->type = (enum fby_type)fby_record_read_between(
        &r, KEY_TYPE, 0, FBY_U32); /* check() refuses the float types */
    out->length = fby_record_read_u32(&r, KEY_LENGTH);
    out->shift  = (uint32_t)fby_record_read_between(&r, KEY_SHIFT, 0, 1);
    fby_record_read_text(&r, KEY_COLUMN, out->column, FBY_NAME_SIZE);
    fby_record_leave(outer, &r);
}

static void decode_packing(struct fby_record *outer, struct fby_tokens *out)
{
    struct fby_record r = fby_record_enter(outer, FBY_CONTENT_PACKING);
    if (fby_record_read_i64(&r, PACKING_RULE) != PACKING_RULE_VERSION) {
        fby_record_refuse(&r, PACKING_RULE, "is not packing rule 1");
    }
    out->packed = true;
    if (out->format == FBY_TOKENS_FLAT) {
        out->end = fby_record_read_u32(&r, PACKING_END);
    }
    out->pad = fby_record_read_u32(&r, PACKING_PAD);
    fby_record_leave(outer, &r);
}

static void decode(struct fby_record *r, struct fby_content *out)
{
    decode_tokens(r, &out->tokens);
    if (fby_record_next_is(r, FBY_CONTENT_PACKING)) {
        decode_packing(r, &out->tokens);
    }
}

const struct fby_source_traits fby_source_tokens = {
    .id              = FBY_SOURCE_TOKENS,
    .key             = &key,
    .usage           = "tokens: {files: PATTERN, ...}",
    .samples         = "tokens",
    .label           = "COLUMN",
    .has_sequences   = true,
    .check_path_rest = fby_pattern_check,
    .fill_content    = fill_content,
    .check           = check,
    .encode          = encode,
    .decode          = decode,
};
