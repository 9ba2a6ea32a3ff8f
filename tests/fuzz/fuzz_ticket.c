/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ticket.c - any bytes as a ticket: as it arrives, which only a genuine
 * one survives, and as the text inside a genuine seal. */
#include <string.h>

#include "secure/ticket.h"
#include "tests/fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8 };

static const struct fby_key secret = {{3}};

/* Seal any text as fby_ticket_seal does. */
static size_t seal_text(
    struct fby_aead *aead, const uint8_t *text, size_t size, uint8_t *out)
{
    static const uint8_t   head[HEAD] = {'F', 'B', 'Y', 'T', 1};
    const struct fby_nonce nonce      = {{1}};
    memcpy(out, head, HEAD);
    memcpy(out + HEAD, nonce.bytes, FBY_NONCE_BYTES);
    demand(fby_aead_seal(aead, FBY_CIPHER_AES, &secret, &nonce,
               (struct fby_span){out, HEAD}, (struct fby_span){text, size},
               out + HEAD + FBY_NONCE_BYTES) == FBY_OK);
    return HEAD + FBY_NONCE_BYTES + size + FBY_TAG_BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_aead *aead;
    uint8_t                 sealed[FBY_TICKET_MAX];
    struct fby_ticket       ticket = {0};
    struct fby_buffer       again  = {0};
    if (aead == NULL) {
        demand(fby_aead_create(&aead) == FBY_OK);
    }
    demand(fby_ticket_open(aead, &secret, (struct fby_span){data, size},
               &ticket) == FBY_PROTO);
    if (size > sizeof(sealed) - HEAD - FBY_NONCE_BYTES - FBY_TAG_BYTES) {
        return 0;
    }
    size_t n = seal_text(aead, data, size, sealed);
    if (fby_ticket_open(aead, &secret, (struct fby_span){sealed, n}, &ticket) ==
        FBY_OK) {
        demand(fby_ticket_seal(aead, &secret, &ticket, &again) == FBY_OK);
        demand(again.size == n);
        (void)fby_ticket_allows_root(&ticket, "r");
    }
    fby_ticket_fini(&ticket);
    fby_buffer_fini(&again);
    return 0;
}
