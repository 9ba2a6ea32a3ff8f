/* tables.h - the schema of each message type.
 *
 * Internal to proto/. */
#ifndef FBY_PROTO_TABLES_H
#define FBY_PROTO_TABLES_H

#include "proto/schema.h"
#include "proto/wire.h"

/* NULL when this version has no such type. */
const struct schema *schema_of(enum fby_message_type type);

#endif
