/* SPDX-License-Identifier: Apache-2.0 */
/* parsed_names.c - read the key `names` of a field: a list of the names of
 * classes, or the path of a text file with one name a line. */
#include <string.h>

#include "pipeline/class_names.h"
#include "pipeline/location.h"
#include "pipeline/parse_state.h"
#include "pipeline/text_file.h"

enum { MAX_FILE_BYTES = 1 << 20 };

static fby_err add_item(const struct fby_yaml *yaml, const yaml_node_t *item,
    struct parsed_field *field)
{
    struct fby_error_detail why  = {{0}};
    const char             *name = fby_yaml_text(item);
    if (!fby_yaml_is_given(item)) {
        return fby_yaml_error_expected(yaml, item, "the name of a class");
    }
    return fby_class_names_add(field->class_names, &field->names, name,
               strlen(name), &why) == FBY_OK
               ? FBY_OK
               : fby_yaml_error(yaml, item, "%s", why.text);
}

static fby_err load_file(const char *path, const char *folder,
    struct parsed_field *field, struct fby_error_detail *why)
{
    struct fby_buffer text = {0};
    char              absolute[FBY_PATH_SIZE];
    FBY_TRY(fby_location_make_absolute(path, folder, absolute, why));
    fby_err err = fby_text_file_read(absolute, MAX_FILE_BYTES, &text, why);
    if (err == FBY_OK) {
        err = fby_class_names_parse((const char *)text.data, text.size,
            absolute, field->class_names, &field->names, why);
    }
    fby_buffer_fini(&text);
    return err;
}

/* Read the file that `node` names. Its relative path starts where those of the
 * data do. */
static fby_err read_file(const struct fby_yaml *yaml, const yaml_node_t *node,
    struct parsed_field *field)
{
    struct fby_error_detail why  = {{0}};
    const char             *path = fby_yaml_text(node);
    if (fby_location_is_named(path)) {
        return fby_yaml_error(yaml, node,
            "names is a file at the trainer, not below a root of workers; "
            "write its path");
    }
    return load_file(path, field->pipeline->folder, field, &why) == FBY_OK
               ? FBY_OK
               : fby_yaml_error(yaml, node, "names: %s", why.text);
}

fby_err fby_parsed_read_names(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_field *field = target;
    field->names.first         = field->class_names->n;
    if (fby_yaml_is_given(node)) {
        return read_file(yaml, node, field);
    }
    size_t n = fby_yaml_is_list(node) ? fby_yaml_length(node) : 0;
    if (n == 0) {
        return fby_yaml_error_expected(yaml, node,
            "a list of the classes' names, such as [cat, dog], or the path of "
            "a file with one name a line");
    }
    for (size_t i = 0; i < n; i++) {
        FBY_TRY(add_item(yaml, fby_yaml_item(yaml, node, i), field));
    }
    return FBY_OK;
}
