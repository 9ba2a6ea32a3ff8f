#include "worker/source/list/fields.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/fields/kind.h"
#include "pipeline/nearest.h"
#include "pipeline/text.h"
#include "worker/source/dataset_state.h"

/* Of maps all columns are needed, of others one. NULL: it has what it needs. */
static const char *missing(
    const struct fby_dataset *dataset, const struct fby_field_content *field)
{
    const char *first = NULL;
    for (uint32_t i = 0; i < field->n_from; i++) {
        const char *name = field->from[i];
        bool        there =
            strcmp(name, "folder") == 0 || fby_dataset_has(dataset, name);
        if (!there && fby_field_kind(field)->is_stack) {
            return name;
        }
        if (there && !fby_field_kind(field)->is_stack) {
            return NULL;
        }
        first = !there && first == NULL ? name : first;
    }
    return first;
}

/* Columns of the first rows are most likely all. */
static fby_err say_missing(const struct fby_index *index,
    const struct fby_field_content *field, const char *name,
    struct fby_why *why)
{
    const struct fby_shard *shard     = &index->shards[0];
    struct fby_nearest      nearest   = {.word = name};
    char                    list[200] = "";
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        const char *column = shard->suffixes[i];
        fby_nearest_offer(&nearest, column);
        if (strlen(list) + strlen(column) + 3 <= sizeof(list)) {
            fby_text_list(list, sizeof(list), column);
        }
    }
    return fby_because(why, FBY_CONFIG,
        "%.200s: field %s: no row has anything in a column %s%s%s%s; columns: "
        "%s",
        index->parts.rest, field->name, name,
        nearest.best != NULL ? "; did you mean " : "",
        nearest.best != NULL ? nearest.best : "",
        nearest.best != NULL ? "?" : "", list);
}

fby_err fby_list_check_fields(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_why *why)
{
    const struct fby_index *index = &dataset->index;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const char *name = missing(dataset, &content->fields[i]);
        if (name != NULL) {
            return say_missing(index, &content->fields[i], name, why);
        }
    }
    return FBY_OK;
}
