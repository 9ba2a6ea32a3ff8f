/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - check conditions between several members of one message.
 *
 * Internal to proto/. */
#ifndef FBY_PROTO_RULES_H
#define FBY_PROTO_RULES_H

#include "common/err.h"

/* rule_NAME checks `record`, a struct fby_NAME of messages.h. Each member by
 * itself was checked before. Pure.
 * Errors: FBY_PROTO  `why` has the reason. */
typedef fby_err schema_rule(const void *record, struct fby_error_detail *why);
schema_rule     rule_hello, rule_sealed_hello, rule_refused, rule_scanning,
    rule_opened, rule_request, rule_header_field, rule_header, rule_end,
    rule_join;

#endif
