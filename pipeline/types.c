/* types.c - what types are called in pipeline files and in messages. */
#include "pipeline/types.h"

const char *fby_type_word(enum fby_type type)
{
    static const char *const words[] = {[FBY_U8] = "u8",
        [FBY_U16]                                = "u16",
        [FBY_I32]                                = "i32",
        [FBY_I64]                                = "i64",
        [FBY_F16]                                = "f16",
        [FBY_BF16]                               = "bf16",
        [FBY_F32]                                = "f32",
        [FBY_U32]                                = "u32",
        [FBY_BOOL]                               = "bool"};
    return type < sizeof(words) / sizeof(words[0]) ? words[type] : NULL;
}
