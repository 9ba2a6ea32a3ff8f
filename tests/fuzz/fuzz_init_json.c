/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_init_json.c - any bytes as a value of a list and as a JSON member: the
 * guess of `init` stays within its limits, and the pipeline file can be written
 * or is refused with a sentence. */
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_values.h"
#include "cli/init/text.h"
#include "cli/init/words.h"
#include "common/mem.h"
#include "tests/fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_text(
    const struct fby_guess_split *split, enum fby_source_kind kind)
{
    const struct fby_init_summary summary = {.kind = kind,
        .path                                      = "/d",
        .members                                   = split->members,
        .n_members                                 = split->n_members};
    struct fby_error_detail       why     = {{0}};
    struct fby_buffer             text    = {0};
    fby_err                       err = fby_init_text(&summary, &text, &why);
    demand(err == FBY_OK || (err == FBY_CONFIG && why.text[0] != '\0'));
    fby_init_append_notes(&summary, &text);
    fby_buffer_fini(&text);
}

static void try_member(
    struct fby_guess_split *split, const char *text, size_t size)
{
    struct fby_error_detail why = {{0}};
    fby_err first  = fby_guess_add_json(split, "json", text, size, &why);
    fby_err second = fby_guess_add_json(split, "json", text, size, &why);
    demand(first == second);
    demand(first == FBY_OK || why.text[0] != '\0');
    demand(split->n_members <= FBY_GUESS_MEMBERS);
    for (uint32_t i = 0; i < split->n_members; i++) {
        demand(split->members[i].count <= 2);
        split->members[i].always = true;
    }
    write_text(split, FBY_SOURCE_SHARDS);
    for (uint32_t i = 0; i < split->n_members; i++) {
        fby_init_free_words(&split->members[i]);
    }
    split->n_members = 0;
}

static void try_value(
    struct fby_guess_split *split, const char *text, size_t size)
{
    struct fby_init_member *column = &split->members[0];
    *column = (struct fby_init_member){.extension = "value", .always = true};
    fby_guess_add_value(column, text, size);
    fby_init_add_word(column, text, size);
    demand(column->longest == size);
    split->n_members = 1;
    write_text(split, FBY_SOURCE_LIST);
    fby_init_free_words(column);
    split->n_members = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_guess_split *split = fby_zalloc(sizeof(*split));
    char                   *text  = fby_zalloc(size + 1);
    if (size > 0) {
        memcpy(text, data, size);
        try_value(split, text, size);
    }
    try_member(split, text, size);
    free(text);
    free(split);
    return 0;
}
