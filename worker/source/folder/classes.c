#include "worker/source/folder/classes.h"

fby_err fby_classes_check(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_why *why)
{
    uint32_t folders = fby_dataset_classes(dataset);
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        if (fby_field_is_of_folder(field) && field->as.label.classes > 0 &&
            field->as.label.classes < folders) {
            return fby_because(why, FBY_CONFIG,
                "field %s: classes is %u, and there are %u class folders; "
                "raise classes to at least %u",
                field->name, field->as.label.classes, folders, folders);
        }
    }
    return FBY_OK;
}
