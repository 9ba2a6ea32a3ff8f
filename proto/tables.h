/* tables.h - from the type of a message to its schema.
 *
 * Internal to proto/. */
#ifndef FBY_PROTO_TABLES_H
#define FBY_PROTO_TABLES_H

#include "proto/schema.h"
#include "proto/wire.h"

/* NULL when `type` is no type of this version. */
const struct schema *schema_of(enum fby_message_type type);

#endif
