/* tokens.c - `tokens`: sequences of tokens, cut from files or packed from their
 * documents. */
#include <string.h>

#include "pipeline/canon.h"
#include "pipeline/derived.h"
#include "pipeline/draft.h"
#include "pipeline/location.h"
#include "pipeline/record.h"
#include "pipeline/sources/sources.h"

enum { PACKING_RULE_VERSION = 1 }; /* proto/PROTOCOL.md, "Packed documents" */

/* ---- the pipeline file ---- */

static const struct fby_choice formats[] = {
    {"flat", FBY_TOKENS_FLAT},
    {"mds", FBY_TOKENS_MDS},
    {"megatron", FBY_TOKENS_MEGATRON},
    {NULL, 0},
};

static const struct fby_choice types[] = {
    {"u8", FBY_U8},
    {"u16", FBY_U16},
    {"u32", FBY_U32},
    {"i32", FBY_I32},
    {"i64", FBY_I64},
    {NULL, 0},
};

static const struct fby_choice packings[] = {
    {"documents", 1},
    {NULL, 0},
};

static const struct fby_key tokens_keys[TOKENS_KEYS] = {
    [TOKENS_FILES]  = {.name = "files",
         .expects            = "a pattern of token files",
         .kind               = FBY_KEY_TEXT,
         .required           = true,
         .offset             = offsetof(struct draft_tokens, files),
         .capacity           = FBY_PATH_SIZE},
    [TOKENS_FORMAT] = {.name = "format",
        .expects             = "format",
        .kind                = FBY_KEY_CHOICE,
        .required            = true,
        .offset              = offsetof(struct draft_tokens, format),
        .choices             = formats},
    [TOKENS_TYPE]   = {.name = "type",
          .expects           = "type",
          .kind              = FBY_KEY_CHOICE,
          .offset            = offsetof(struct draft_tokens, type),
          .choices           = types},
    [TOKENS_COLUMN] = {.name = "column",
        .expects             = "a column of the MDS shards",
        .kind                = FBY_KEY_TEXT,
        .offset              = offsetof(struct draft_tokens, column),
        .capacity            = FBY_NAME_SIZE},
    [TOKENS_LENGTH] = {.name = "length",
        .expects             = "an integer, 1 to 16777216 (tokens)",
        .kind                = FBY_KEY_INTEGER,
        .required            = true,
        .offset              = offsetof(struct draft_tokens, length),
        .min                 = 1,
        .max                 = FBY_MAX_TOKENS},
    [TOKENS_SHIFT]  = {.name = "shift",
         .expects            = "0, or 1: the target is one token on",
         .kind               = FBY_KEY_INTEGER,
         .offset             = offsetof(struct draft_tokens, shift),
         .min                = 0,
         .max                = 1},
    [TOKENS_PACK]   = {.name = "pack",
          .expects           = "packing",
          .kind              = FBY_KEY_CHOICE,
          .offset            = offsetof(struct draft_tokens, pack),
          .choices           = packings},
    [TOKENS_END] =
        {
            .name    = "end",
            .expects = "an integer, 0 to 2147483647 (the id of the token "
                       "that ends a document)",
            .kind    = FBY_KEY_INTEGER,
            .offset  = offsetof(struct draft_tokens, end),
            .min     = 0,
            .max     = FBY_MAX_TOKEN,
        },
    [TOKENS_PAD] = {.name = "pad",
        .expects          = "an integer, 0 to 2147483647 (the id of the token "
                            "that fills sequences up)",
        .kind             = FBY_KEY_INTEGER,
        .offset           = offsetof(struct draft_tokens, pad),
        .min              = 0,
        .max              = FBY_MAX_TOKEN},
};
static const struct fby_schema schema = {
    "{files: PATTERN, format: flat, type: u16, length: 2048}", tokens_keys,
    TOKENS_KEYS};

/* Documents that do not say where they end have a token for it. */
static fby_err check_pack(
    const struct fby_yaml *yaml, const struct draft_tokens *tokens)
{
    bool flat = tokens->format == FBY_TOKENS_FLAT;
    for (size_t key = TOKENS_END; key <= TOKENS_PAD; key++) {
        if (tokens->pack == 0 && fby_is_given(tokens->at[key])) {
            return fby_yaml_wrong(yaml->why, yaml->file, tokens->at[key],
                "%s goes with pack: documents", tokens_keys[key].name);
        }
    }
    if (!flat && fby_is_given(tokens->at[TOKENS_END])) {
        return fby_yaml_wrong(yaml->why, yaml->file, tokens->at[TOKENS_END],
            "only flat files need it: others say where documents end");
    }
    return tokens->pack == 0 || !flat || fby_is_given(tokens->at[TOKENS_END])
               ? FBY_OK
               : fby_yaml_wrong(yaml->why, yaml->file, tokens->at[TOKENS_PACK],
                     "flat files do not say where documents end; say which "
                     "token ends one, such as end: 50256");
}

static fby_err read_tokens(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_split  *split  = target;
    struct draft_tokens *tokens = &split->tokens;
    fby_err              err    = fby_schema_read(yaml, node, &schema, tokens);
    if (err != FBY_OK) {
        return err;
    }
    memcpy(split->pattern, tokens->files, sizeof(split->pattern));
    bool mds = tokens->format == FBY_TOKENS_MDS;
    if (!mds && fby_is_given(tokens->at[TOKENS_COLUMN])) {
        return fby_yaml_wrong(yaml->why, yaml->file, tokens->at[TOKENS_COLUMN],
            "only format: mds has columns");
    }
    if (mds && tokens->column[0] == '\0') {
        memcpy(tokens->column, "tokens", sizeof("tokens"));
    }
    return tokens->type != 0 || tokens->format != FBY_TOKENS_FLAT
               ? check_pack(yaml, tokens)
               : fby_yaml_wrong(yaml->why, yaml->file,
                     tokens->at[TOKENS_FORMAT],
                     "flat files do not say what they hold; say type: u16 or "
                     "u32");
}

static const struct fby_key key = {
    .name = "tokens", .kind = FBY_KEY_OWN, .read = read_tokens};

static void resolve(const struct draft_split *said, struct fby_content *out)
{
    const struct draft_tokens *tokens = &said->tokens;

    out->tokens = (struct fby_tokens){
        .format = (enum fby_tokens_format)tokens->format,
        .type   = (enum fby_type)tokens->type,
        .length = (uint32_t)tokens->length,
        .shift  = (uint32_t)tokens->shift,
        .packed = tokens->pack != 0,
        .end    = (uint32_t)tokens->end,
        .pad    = (uint32_t)tokens->pad,
    };
    memcpy(out->tokens.column, tokens->column, sizeof(out->tokens.column));
}

/* ---- the rules ---- */

static fby_err check_packing(
    const struct fby_tokens *tokens, struct fby_why *why)
{
    bool     ends  = tokens->packed && tokens->format == FBY_TOKENS_FLAT;
    uint32_t bytes = fby_type_bytes(tokens->type);
    uint32_t most  = bytes == 1 || bytes == 2 ? (1U << 8 * bytes) - 1
                                              : (uint32_t)FBY_MAX_TOKEN;
    if (tokens->end > most || tokens->pad > FBY_MAX_TOKEN) {
        return fby_because(why, FBY_CONFIG,
            "tokens: end (%u) is a token of the files, 0 to %u; pad (%u) is "
            "one, "
            "0 to %d",
            tokens->end, most, tokens->pad, FBY_MAX_TOKEN);
    }
    return (tokens->packed || tokens->pad == 0) && (ends || tokens->end == 0)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "tokens: pad belongs to packed documents, end to those of "
                     "flat files");
}

static fby_err check(const struct fby_content *content, struct fby_why *why)
{
    const struct fby_tokens *tokens = &content->tokens;
    bool                     mds    = tokens->format == FBY_TOKENS_MDS;
    if (!fby_tokens_type_ok(tokens)) {
        return fby_because(why, FBY_CONFIG,
            "tokens: the type is u8, u16, u32, i32 or i64, and of flat files "
            "it is said");
    }
    if (tokens->length == 0 || tokens->length > FBY_MAX_TOKENS) {
        return fby_because(why, FBY_CONFIG,
            "tokens: length is not within 1 to %d", FBY_MAX_TOKENS);
    }
    return mds == (tokens->column[0] != '\0')
               ? check_packing(tokens, why)
               : fby_because(why, FBY_CONFIG,
                     "tokens: the column belongs to format: mds, which has "
                     "one");
}

/* ---- canonical bytes ---- */

enum { /* of the record of tokens */
    KEY_FORMAT = 1,
    KEY_TYPE   = 2,
    KEY_LENGTH = 3,
    KEY_SHIFT  = 4,
    KEY_COLUMN = 5
};

enum { /* of the record of packing */
    PACKING_RULE = 1,
    PACKING_END  = 2, /* of flat files only */
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
    struct fby_record r = fby_record_nested(outer, FBY_CONTENT_TOKENS);
    out->format         = (enum fby_tokens_format)fby_record_between(
                &r, KEY_FORMAT, FBY_TOKENS_FLAT, FBY_TOKENS_MEGATRON);
    out->type   = (enum fby_type)fby_record_between(&r, KEY_TYPE, 0, FBY_U32);
    out->length = fby_record_u32(&r, KEY_LENGTH);
    out->shift  = (uint32_t)fby_record_between(&r, KEY_SHIFT, 0, 1);
    fby_record_text(&r, KEY_COLUMN, out->column, FBY_NAME_SIZE);
    fby_record_leave(outer, &r);
}

static void decode_packing(struct fby_record *outer, struct fby_tokens *out)
{
    struct fby_record r = fby_record_nested(outer, FBY_CONTENT_PACKING);
    if (fby_record_i64(&r, PACKING_RULE) != PACKING_RULE_VERSION) {
        fby_record_refuse(&r, PACKING_RULE, "is another rule than 1");
    }
    out->packed = true;
    if (out->format == FBY_TOKENS_FLAT) {
        out->end = fby_record_u32(&r, PACKING_END);
    }
    out->pad = fby_record_u32(&r, PACKING_PAD);
    fby_record_leave(outer, &r);
}

static void decode(struct fby_record *r, struct fby_content *out)
{
    decode_tokens(r, &out->tokens);
    if (fby_record_has(r, FBY_CONTENT_PACKING)) {
        decode_packing(r, &out->tokens);
    }
}

const struct fby_source_traits fby_source_tokens = {
    .id            = FBY_SOURCE_TOKENS,
    .key           = &key,
    .usage         = "tokens: {files: PATTERN, ...}",
    .samples       = "tokens",
    .label         = "COLUMN",
    .has_sequences = true,
    .check_rest    = fby_pattern_check,
    .resolve       = resolve,
    .check         = check,
    .encode        = encode,
    .decode        = decode,
};
