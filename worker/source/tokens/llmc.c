/* SPDX-License-Identifier: Apache-2.0 */
/* llmc.c - recognise token files of llm.c and modded-nanogpt.
 *
 * They are flat files behind a header of 256 numbers of i32: a magic number, a
 * version and the number of tokens. The magic number stands for the type of the
 * tokens. The sizes must agree, too, so that no other file is taken for one. */
#include <inttypes.h>

#include "common/bytes.h"
#include "worker/source/tokens/token_file.h"

enum { HEADER = 256 * 4, READ = 12 /* bytes up to the number of tokens */ };

/* The type of the tokens behind that magic number; 0: it is none. */
static enum fby_type type_of(uint64_t magic)
{
    enum { GPT_2 = 20240520, LLAMA_3 = 20240801 };
    return magic == GPT_2     ? FBY_U16
           : magic == LLAMA_3 ? FBY_U32
                              : (enum fby_type)0;
}

fby_err fby_llmc_find_type(const struct fby_object *object, uint64_t size,
    enum fby_type *out, struct fby_error_detail *why)
{
    uint8_t head[READ] = {0};
    *out               = (enum fby_type)0;
    if (size < HEADER) {
        return FBY_OK;
    }
    FBY_TRY(fby_object_read(object, 0, head, sizeof(head), why));
    enum fby_type type   = type_of(fby_load_le(head, 4));
    uint64_t      tokens = fby_load_le(head + 8, 4);
    if (type != 0 && size == HEADER + tokens * fby_type_bytes(type)) {
        *out = type;
    }
    return FBY_OK;
}

fby_err fby_llmc_refuse(const struct fby_object *object, uint64_t size,
    struct fby_error_detail *why)
{
    enum fby_type type = (enum fby_type)0;
    FBY_TRY(fby_llmc_find_type(object, size, &type, why));
    if (type == 0) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "the file begins with a header of llm.c, and its tokens are %s; copy "
        "each such file without the header: tail -c +%d IN.bin > OUT.bin",
        fby_type_word(type), HEADER + 1);
}
