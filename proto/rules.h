/* rules.h - conditions that involve several members of a message.
 *
 * Internal to proto/. */
#ifndef FBY_PROTO_RULES_H
#define FBY_PROTO_RULES_H

#include "common/err.h"

/* Check a record. rule_NAME checks a struct fby_NAME of messages.h, each member
 * of which was checked before. Pure.
 * Errors: FBY_PROTO  `why` has the reason. */
typedef fby_err schema_rule(const void *record, struct fby_error_detail *why);
schema_rule rule_hello, rule_refused, rule_scanning, rule_opened, rule_request,
    rule_header_field, rule_header, rule_end, rule_join;

#endif
