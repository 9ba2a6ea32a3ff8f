/* mutant.h - places where a machine can be broken on purpose.
 *
 * The simulator proves that it would notice a mistake by making one. Only the
 * libraries that are built for that define FBY_MUTATIONS; everywhere else the
 * condition is a constant and the branch is not there. */
#ifndef FBY_COMMON_MUTANT_H
#define FBY_COMMON_MUTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef FBY_MUTATIONS
/* The mistake to make, NULL for none; defined by the test that links us. */
extern const char *fby_mutant;
#define FBY_MUTANT(name) (fby_mutant != NULL && strcmp(fby_mutant, #name) == 0)
#else
#define FBY_MUTANT(name) false
#endif

#endif
