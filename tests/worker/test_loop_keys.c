/* SPDX-License-Identifier: Apache-2.0 */
/* HELLO of clients with tickets: what a worker admits and what it refuses. */
#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "tests/worker/loop_rig.h"

struct keyed { /* a rig with a client that has a ticket */
    struct rig        rig;
    struct party      party;
    struct party_seal seal;
};

/* The ticket expires so many seconds from now. */
static void keyed_open(struct keyed *k, void **state, int64_t seconds)
{
    rig_open_keys(&k->rig, state, (struct rig_limits){0});
    k->party = party_of(&k->rig, 1);
    party_take_ticket(&k->party, &k->seal, FBY_SECURE_FULL,
        k->rig.loop.now_ns + seconds * FBY_NS_PER_S);
}

static void keyed_close(struct keyed *k)
{
    rig_close(&k->rig);
    party_forget_ticket(&k->party);
}

static void expect_refusal(const struct party *party, const char *text)
{
    const struct fby_refused *refused =
        &wire_expect(party, FBY_MSG_REFUSED)->refused;
    assert_int_equal(refused->code, FBY_REFUSED_KEY);
    assert_string_equal(refused->text, text);
    assert_null(party->rig->loop.peers);
}

static void an_expired_ticket_is_refused(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, 0);
    party_hello(&k.party);
    expect_refusal(&k.party,
        "the ticket has expired: the server does not answer the trainer, or "
        "its key was removed");
    keyed_close(&k);
}

static void a_ticket_for_another_worker_is_refused(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, 100);
    k.seal.ticket.data[k.seal.ticket.size - 1] ^= 1;
    party_hello(&k.party);
    expect_refusal(&k.party,
        "the ticket is not for this worker: it was restarted, or the ticket is "
        "forged");
    keyed_close(&k);
}

static void a_hello_that_its_ticket_did_not_seal_is_refused(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, 100);
    k.seal.session_key.bytes[0] ^= 1;
    party_hello(&k.party);
    expect_refusal(&k.party, "HELLO was not sealed with the ticket");
    keyed_close(&k);
}

static void ping(struct party *party)
{
    party_send(party, &(struct fby_message){.type = FBY_MSG_PING,
                          .ping = {.session = party->session}});
}

/* A client may send several messages before the first nonce arrives. */
static void all_messages_before_hello_get_the_same_nonce(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, 100);
    ping(&k.party);
    ping(&k.party);
    struct fby_digest first =
        wire_expect(&k.party, FBY_MSG_HELLO_FIRST)->hello_first.nonce.digest;
    assert_memory_equal(first.bytes,
        wire_expect(&k.party, FBY_MSG_HELLO_FIRST)
            ->hello_first.nonce.digest.bytes,
        sizeof(first.bytes));
    keyed_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(an_expired_ticket_is_refused),
        IN_SANDBOX(a_ticket_for_another_worker_is_refused),
        IN_SANDBOX(a_hello_that_its_ticket_did_not_seal_is_refused),
        IN_SANDBOX(all_messages_before_hello_get_the_same_nonce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
