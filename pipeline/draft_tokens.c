/* `tokens` of a split: which files, what they hold, how they are cut. */
#include <string.h>

#include "pipeline/draft.h"

static const struct fby_choice formats[] = {
    {"flat", FBY_TOKENS_FLAT, false},
    {"mds", FBY_TOKENS_MDS, false},
    {"megatron", FBY_TOKENS_MEGATRON, false},
    {NULL, 0, false},
};

static const struct fby_choice types[] = {
    {"u8", FBY_U8, false},
    {"u16", FBY_U16, false},
    {"u32", FBY_U32, false},
    {"i32", FBY_I32, false},
    {"i64", FBY_I64, false},
    {NULL, 0, false},
};

static const struct fby_choice packings[] = {
    {"documents", 1, false},
    {NULL, 0, false},
};

static const struct fby_key keys[TOKENS_KEYS] = {
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
    "{files: PATTERN, format: flat, type: u16, length: 2048}", keys,
    TOKENS_KEYS};

/* Documents that do not say where they end have a token for it. */
static fby_err check_pack(
    const struct fby_yaml *yaml, const struct draft_tokens *tokens)
{
    bool flat = tokens->format == FBY_TOKENS_FLAT;
    for (size_t key = TOKENS_END; key <= TOKENS_PAD; key++) {
        if (tokens->pack == 0 && fby_is_given(tokens->at[key])) {
            return fby_yaml_wrong(yaml->why, yaml->file, tokens->at[key],
                "%s goes with pack: documents", keys[key].name);
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

fby_err fby_draft_tokens(struct fby_yaml *yaml, yaml_node_t *node, void *split)
{
    struct draft_tokens *tokens = &((struct draft_split *)split)->tokens;
    fby_err              err    = fby_schema_read(yaml, node, &schema, tokens);
    if (err != FBY_OK) {
        return err;
    }
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
