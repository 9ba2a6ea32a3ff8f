/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/ticket.h"

#include <string.h>

#include "tests/test.h"

static const struct fby_key secret   = {{7, 7, 7}};
static const char *const    roots[2] = {"in1k", "coco"};

static struct fby_ticket make_ticket(void)
{
    return (struct fby_ticket){
        .session     = {0x1122334455667788},
        .session_key = {{1, 2, 3}},
        .mode        = FBY_SECURE_AUTH,
        .expiry_ns   = 600000000000,
        .job         = "a-1",
        .roots       = roots,
        .n_roots     = 2,
    };
}

static fby_err open_bytes(struct fby_aead *aead, const struct fby_key *key,
    const struct fby_buffer *b, struct fby_ticket *out)
{
    return fby_ticket_open(aead, key, (struct fby_span){b->data, b->size}, out);
}

static void a_ticket_comes_back_as_it_was_sealed(void **state)
{
    (void)state;
    struct fby_aead  *aead   = NULL;
    struct fby_buffer sealed = {0};
    struct fby_ticket ticket = make_ticket();
    struct fby_ticket found  = {0};
    assert_ok(fby_aead_create(&aead));
    for (int all = 0; all < 2; all++) {
        sealed.size      = 0;
        ticket.all_roots = all == 1;
        assert_ok(fby_ticket_seal(aead, &secret, &ticket, &sealed));
        assert_ok(open_bytes(aead, &secret, &sealed, &found));
        assert_true(found.session.value == ticket.session.value);
        assert_memory_equal(
            found.session_key.bytes, ticket.session_key.bytes, FBY_KEY_BYTES);
        assert_int_equal(found.mode, ticket.mode);
        assert_true(found.expiry_ns == ticket.expiry_ns);
        assert_string_equal(found.job, "a-1");
        assert_true(fby_ticket_allows_root(&found, "coco"));
        assert_true(fby_ticket_allows_root(&found, "other") == found.all_roots);
        fby_ticket_fini(&found);
        assert_null(found.job);
    }
    fby_buffer_fini(&sealed);
    fby_aead_destroy(&aead);
}

static void no_two_tickets_are_equal(void **state)
{
    (void)state;
    struct fby_aead        *aead   = NULL;
    struct fby_buffer       first  = {0};
    struct fby_buffer       second = {0};
    const struct fby_ticket ticket = make_ticket();
    assert_ok(fby_aead_create(&aead));
    assert_ok(fby_ticket_seal(aead, &secret, &ticket, &first));
    assert_ok(fby_ticket_seal(aead, &secret, &ticket, &second));
    assert_int_equal(first.size, second.size);
    assert_memory_not_equal(first.data, second.data, first.size);
    fby_buffer_fini(&first);
    fby_buffer_fini(&second);
    fby_aead_destroy(&aead);
}

static void a_changed_cut_or_foreign_ticket_is_refused(void **state)
{
    (void)state;
    struct fby_aead        *aead   = NULL;
    struct fby_buffer       sealed = {0};
    struct fby_key          other  = secret;
    struct fby_ticket       found  = {0};
    const struct fby_ticket ticket = make_ticket();
    assert_ok(fby_aead_create(&aead));
    assert_ok(fby_ticket_seal(aead, &secret, &ticket, &sealed));
    other.bytes[0] ^= 1;
    assert_int_equal(open_bytes(aead, &other, &sealed, &found), FBY_PROTO);
    for (size_t bit = 0; bit < 8 * sealed.size; bit++) {
        sealed.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(open_bytes(aead, &secret, &sealed, &found), FBY_PROTO);
        sealed.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    while (sealed.size > 0) {
        sealed.size--;
        assert_int_equal(open_bytes(aead, &secret, &sealed, &found), FBY_PROTO);
    }
    fby_buffer_fini(&sealed);
    fby_aead_destroy(&aead);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct fby_aead  *aead   = NULL;
    struct fby_buffer sealed = {0};
    struct fby_ticket ticket = make_ticket();
    char              name[FBY_TICKET_NAME_MAX + 2];
    const char       *many[FBY_TICKET_ROOTS_MAX + 1];
    assert_ok(fby_aead_create(&aead));
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ticket.job             = name;
    assert_int_equal(
        fby_ticket_seal(aead, &secret, &ticket, &sealed), FBY_USAGE);
    ticket.job = name + 1;
    assert_ok(fby_ticket_seal(aead, &secret, &ticket, &sealed));
    sealed.size = 0;
    for (size_t i = 0; i <= FBY_TICKET_ROOTS_MAX; i++) {
        many[i] = name + 1;
    }
    ticket.roots   = many;
    ticket.n_roots = FBY_TICKET_ROOTS_MAX + 1; /* too many */
    assert_int_equal(
        fby_ticket_seal(aead, &secret, &ticket, &sealed), FBY_USAGE);
    ticket.n_roots = 100; /* too long together */
    assert_int_equal(
        fby_ticket_seal(aead, &secret, &ticket, &sealed), FBY_USAGE);
    assert_int_equal(sealed.size, 0);
    fby_buffer_fini(&sealed);
    fby_aead_destroy(&aead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ticket_comes_back_as_it_was_sealed),
        cmocka_unit_test(no_two_tickets_are_equal),
        cmocka_unit_test(a_changed_cut_or_foreign_ticket_is_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
