/* lint_classes.h - do class ids mean the same in all splits?
 *
 * Class folders are numbered by their names within each split, so two splits
 * with other folders number them apart, and nothing else would say so. */
#ifndef FBY_CLI_LINT_CLASSES_H
#define FBY_CLI_LINT_CLASSES_H

#include "cli/lint_findings.h"
#include "cli/local.h"

/* Compare the class folders of the open split `name` (NULL: as of
 * fby_pipeline_split) with those of each other split. What cannot be looked at
 * on this machine is passed over. */
void fby_lint_compare_classes(const struct fby_local *local, const char *name,
    struct fby_lint_classes *out);

/* The first id that stands for two names; false when there is none. Pure. */
bool fby_lint_classes_differ(const char *const *here, uint32_t n_here,
    const char *const *there, uint32_t n_there, uint32_t *id);

#endif
