#include "cli/lint/types.h"

static const struct fby_narrow_type types[] = {
    /* the narrowest first */
    {FBY_U8, "u8", 0, UINT8_MAX, true},
    {FBY_U16, "u16", 0, UINT16_MAX, true},
    {FBY_I32, "i32", INT32_MIN, INT32_MAX, false},
    {FBY_U32, "u32", 0, UINT32_MAX, true},
};

const struct fby_narrow_type *fby_narrowest_type(
    bool label, double least, double most)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const struct fby_narrow_type *type = &types[i];
        if ((type->for_labels || !label) && least >= type->least &&
            most <= type->most) {
            return type;
        }
    }
    return NULL;
}
