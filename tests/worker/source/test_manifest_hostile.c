/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged and forged manifests: each is refused, or encodes to the same bytes
 * again with all offsets inside its files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/guard.h"
#include "tests/test.h"
#include "tests/worker/source/example_shards.h"
#include "worker/source/manifest.h"

/* ---- what every decoded shard is ----------------------------------------- */

static bool lies_within(
    const struct fby_shard *shard, uint64_t at, uint64_t n, uint64_t bytes)
{
    return at <= shard->size && bytes > 0 && n <= (shard->size - at) / bytes;
}

static void check_column(
    const struct fby_shard *shard, const struct fby_column *column)
{
    assert_true(
        lies_within(shard, column->offset, column->rows, column->row_bytes));
    assert_int_equal(column->row_bytes, fby_column_row_bytes(column));
    assert_true(column->partner < shard->n_columns);
    if (column->role == FBY_COLUMN_CSR) {
        assert_true(lies_within(shard, column->indices.offset, column->rows,
            column->indices.item_size));
        assert_true(lies_within(shard, column->indptr.offset,
            (uint64_t)shard->n_samples + 1, column->indptr.item_size));
    }
}

static void check_sequences(const struct fby_shard *shard)
{
    const struct fby_sequences *all   = shard->sequences;
    uint64_t                    width = fby_type_bytes(all->type);
    assert_int_equal(shard->n_samples, fby_sequences_count(all));
    for (uint32_t i = 0; i < all->n_runs; i++) {
        uint64_t end =
            i + 1 < all->n_runs ? all->run_first[i + 1] : all->tokens;
        assert_true(end > all->run_first[i]);
        assert_true(
            lies_within(shard, all->run_at[i], end - all->run_first[i], width));
    }
    if (all->packed != NULL) {
        assert_int_equal(all->packed->tokens, all->tokens);
    }
}

static void check_members(const struct fby_shard *shard)
{
    assert_true(shard->n_samples > 0);
    assert_int_equal(shard->first_member[0], 0);
    assert_int_equal(shard->first_member[shard->n_samples], shard->n_members);
    for (uint32_t i = 0; i < shard->n_samples; i++) {
        assert_true(shard->first_member[i] < shard->first_member[i + 1]);
        assert_true(fby_shard_key(shard, i)[0] != '\0');
    }
    for (uint32_t m = 0; m < shard->n_members; m++) {
        uint64_t at = fby_shard_offset(shard, m);
        assert_true(lies_within(shard, at, shard->member_bytes[m], 1));
        assert_true(shard->suffix_index[m] < shard->n_suffixes);
        assert_true(!fby_shard_is_value(shard, m) ||
                    shard->member_bytes[m] == shard->text_size[m]);
    }
}

static void check_shard(const struct fby_shard *shard)
{
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        check_column(shard, &shard->columns[i]);
    }
    if (shard->sequences != NULL) {
        check_sequences(shard);
    } else if (shard->n_columns == 0) {
        check_members(shard);
    }
    assert_non_null(shard->stamps); /* room for each */
    for (uint32_t i = 0; i < fby_shard_count_stamps(shard); i++) {
        ((volatile struct fby_stamp *)shard->stamps)[i].device = i;
    }
}

/* The bytes are refused, or come out again as they were; they lie at the end of
 * a page. Returns whether they were taken. */
static bool try_bytes(const struct fby_buffer *bytes)
{
    struct fby_guarded      copy = fby_guarded_copy(bytes->data, bytes->size);
    struct fby_shard        back;
    struct fby_buffer       again = {0};
    struct fby_error_detail why   = {0};
    fby_err err = fby_shard_decode(copy.bytes, copy.size, &back, &why);
    if (err == FBY_OK) {
        check_shard(&back);
        fby_shard_encode(&back, &again);
        assert_int_equal(bytes->size, again.size);
        assert_memory_equal(bytes->data, again.data, again.size);
        fby_buffer_fini(&again);
    } else {
        assert_int_equal(err, FBY_PROTO);
        assert_true(why.text[0] != '\0');
    }
    fby_shard_fini(&back);
    fby_guarded_free(&copy);
    return err == FBY_OK;
}

static struct fby_buffer bytes_of(const struct fby_shard *shard)
{
    struct fby_buffer bytes = {0};
    fby_shard_encode(shard, &bytes);
    return bytes;
}

static struct fby_buffer example_bytes(int which)
{
    struct fby_shard shard;
    example_shards[which](&shard);
    struct fby_buffer bytes = bytes_of(&shard);
    fby_shard_fini(&shard);
    return bytes;
}

/* ---- any change ---------------------------------------------------------- */

static void shards_of_all_kinds_come_back_as_they_were(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLE_SHARDS; i++) {
        struct fby_buffer bytes = example_bytes(i);
        assert_true(try_bytes(&bytes));
        fby_buffer_fini(&bytes);
    }
}

static void a_damaged_byte_is_refused_or_encodes_to_itself(void **state)
{
    (void)state;
    static const uint8_t flips[] = {0x01, 0x41, 0x80, 0xff};
    for (int i = 0; i < EXAMPLE_SHARDS; i++) {
        struct fby_buffer bytes = example_bytes(i);
        for (size_t at = 0; at < 4 * bytes.size; at++) {
            bytes.data[at / 4] ^= flips[at % 4];
            (void)try_bytes(&bytes);
            bytes.data[at / 4] ^= flips[at % 4];
        }
        fby_buffer_fini(&bytes);
    }
}

static void a_manifest_that_ends_early_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLE_SHARDS; i++) {
        struct fby_buffer bytes = example_bytes(i);
        size_t            whole = bytes.size;
        for (bytes.size = 0; bytes.size < whole; bytes.size++) {
            /* what is left out may be the lengths, or the documents */
            bool taken = try_bytes(&bytes);
            assert_true(!taken || i == 3 || i == 5);
        }
        fby_buffer_fini(&bytes);
    }
}

/* An entry of a record: its key, its size (u32), its bytes. */
struct entry {
    size_t   at; /* of its bytes */
    uint32_t size;
};

static bool next_entry(const struct fby_buffer *bytes, struct entry *entry)
{
    size_t head = entry->at + entry->size;
    if (head == bytes->size) {
        return false;
    }
    struct fby_reader r = fby_reader(bytes->data + head, 6);
    (void)fby_read_u16(&r);
    *entry = (struct entry){head + 6, fby_read_u32(&r)};
    return true;
}

/* With the entry made `longer` bytes longer (or shorter) by copies of its own
 * last ones. */
static struct fby_buffer resized(
    const struct fby_buffer *bytes, struct entry entry, int64_t longer)
{
    struct fby_buffer out  = {0};
    size_t            end  = entry.at + entry.size;
    size_t            keep = longer < 0 ? (size_t)-longer : 0;
    fby_put_bytes(&out, bytes->data, end - keep);
    if (longer > 0) {
        size_t n = (size_t)longer;
        fby_put_bytes(&out, bytes->data + end - n, n);
    }
    fby_put_bytes(&out, bytes->data + end, bytes->size - end);
    fby_store_le(
        out.data + entry.at - 4, (uint64_t)((int64_t)entry.size + longer), 4);
    return out;
}

static void an_entry_that_is_longer_or_shorter_is_refused(void **state)
{
    (void)state;
    static const int64_t by[] = {1, 2, 4, 8, 12, 16, -1, -2, -4, -8, -12, -16};
    for (int i = 0; i < EXAMPLE_SHARDS; i++) {
        struct fby_buffer bytes = example_bytes(i);
        struct entry      entry = {0, 0};
        for (int key = 0; next_entry(&bytes, &entry); key++) {
            for (size_t k = 0; k < sizeof(by) / sizeof(by[0]); k++) {
                if (entry.size >= (by[k] < 0 ? -by[k] : by[k])) {
                    struct fby_buffer other = resized(&bytes, entry, by[k]);
                    bool              name  = key == 2; /* may be any */
                    assert_true(!try_bytes(&other) || name);
                    fby_buffer_fini(&other);
                }
            }
        }
        fby_buffer_fini(&bytes);
    }
}

/* As much too long as one another: what is left over does not cancel out. */
static void two_longer_entries_are_refused_or_encode_to_themselves(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLE_SHARDS; i++) {
        struct fby_buffer bytes = example_bytes(i);
        struct entry      one   = {0, 0};
        for (int key = 0; next_entry(&bytes, &one); key++) {
            struct entry two = one;
            while (key > 3 && next_entry(&bytes, &two)) {
                for (int64_t by = 1; by <= 8; by *= 2) {
                    if (one.size < by || two.size < by) {
                        continue;
                    }
                    struct fby_buffer first = resized(&bytes, two, by);
                    struct fby_buffer both  = resized(&first, one, by);
                    (void)try_bytes(&both);
                    fby_buffer_fini(&first);
                    fby_buffer_fini(&both);
                }
            }
        }
        fby_buffer_fini(&bytes);
    }
}

static void a_number_of_any_size_is_refused_or_encodes_to_itself(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 1, 2, 3, 4, 5, 255, 1 << 16,
        (UINT64_C(1) << 32) - 1, UINT64_C(1) << 32, INT64_MAX,
        (uint64_t)INT64_MAX + 1, UINT64_MAX};
    for (int i = 0; i < EXAMPLE_SHARDS; i++) {
        struct fby_buffer bytes = example_bytes(i);
        for (size_t at = 0; at + 8 <= bytes.size; at++) {
            uint8_t was[8];
            memcpy(was, bytes.data + at, 8);
            for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
                fby_store_le(bytes.data + at, numbers[k], 8);
                (void)try_bytes(&bytes);
            }
            memcpy(bytes.data + at, was, 8);
        }
        fby_buffer_fini(&bytes);
    }
}

/* ---- the last byte ------------------------------------------------------- */

/* It is taken as it is, and one byte less of its files is too few. */
static void assert_fills(struct fby_shard *shard, const char *words)
{
    struct fby_buffer bytes = bytes_of(shard);
    assert_true(try_bytes(&bytes));
    fby_buffer_fini(&bytes);
    shard->size--;
    assert_shard_refused(shard, words);
    fby_shard_fini(shard);
}

static void members_and_tokens_may_end_with_their_file(void **state)
{
    (void)state;
    static const char member[] = "manifest of a shard: a member beyond the end";
    static const char run[] =
        "manifest of a shard: a run of tokens beyond the end";
    struct fby_shard shard;
    example_tar(&shard);
    shard.size = 2560 + 700;
    assert_fills(&shard, member);
    example_tar(&shard); /* of no bytes, at the end */
    shard.size            = 2560;
    shard.member_bytes[2] = 0;
    assert_fills(&shard, member);
    example_folder(&shard);
    shard.size = 7;
    assert_fills(&shard, member);
    example_tokens(&shard);
    shard.size = 110;
    assert_fills(&shard, run);
}

static void columns_may_end_with_their_file(void **state)
{
    (void)state;
    static const char column[] = "manifest of a shard: a column beyond the end";
    struct fby_shard  shard;
    example_columns(&shard);
    shard.size = 128 + 24000;
    assert_fills(&shard, column);
    example_ragged(&shard);
    shard.columns[1].rows = 1;
    shard.size            = 128 + 8008;
    assert_fills(&shard, column);
    example_ragged(&shard);
    shard.size = 128 + 20000;
    assert_fills(&shard, column);
    example_csr(&shard);
    shard.size = 24300 + 20000;
    assert_fills(&shard, column);
    example_csr(&shard);
    shard.columns[0].indptr.offset = 50000;
    shard.size                     = 50000 + 4004;
    assert_fills(&shard, column);
    example_csr(&shard);
    shard.columns[0].indices.offset = 50000;
    shard.size                      = 50000 + 20000;
    assert_fills(&shard, column);
}

/* ---- one thing that is wrong --------------------------------------------- */

/* The shard is given back. */
static void assert_refused(struct fby_shard *shard, const char *words)
{
    assert_shard_refused(shard, words);
    fby_shard_fini(shard);
}

static void inconsistent_samples_are_refused(void **state)
{
    (void)state;
    struct fby_shard shard;
    example_tar(&shard);
    shard.suffix_index[1] = 2;
    assert_refused(&shard, "a suffix that is not in the list");
    example_tar(&shard);
    memcpy(shard.suffix_index, "\1\0\1", 3);
    assert_refused(&shard, "suffixes that are not in order of use");
    example_tar(&shard);
    shard.suffix_index[1] = 0;
    assert_refused(&shard, "two members named .jpg");
    example_tar(&shard);
    shard.first_member[1] = 0;
    assert_refused(&shard, "a sample without members or class");
    example_tar(&shard);
    shard.first_member[1] = 1;
    shard.first_member[2] = 2;
    assert_refused(&shard, "arrays of different lengths");
    example_tar(&shard);
    shard.first_member[2] = 4;
    assert_refused(&shard, "an array is too short");
    example_tar(&shard);
    shard.keys.data[5] = '\0';
    assert_refused(&shard, "a key that is empty or does not end");
    example_tar(&shard);
    shard.keys.data[9] = 'x';
    assert_refused(&shard, "a key that is empty or does not end");
    example_tar(&shard);
    shard.keys.data[8] = '1';
    assert_refused(&shard, "key 0001 is at offset");
    example_folder(&shard);
    shard.kind = FBY_SOURCE_PARALLEL;
    free(shard.class_ids);
    shard.class_ids         = NULL;
    struct fby_buffer bytes = bytes_of(&shard);
    assert_true(try_bytes(&bytes)); /* without classes */
    fby_buffer_fini(&bytes);
    fby_shard_fini(&shard);
}

static void inconsistent_sequences_are_refused(void **state)
{
    (void)state;
    struct fby_shard shard;
    example_tokens(&shard);
    shard.sequences->run_at[1] = 42; /* where the first one ends */
    assert_refused(&shard, "that continues the one before");
    example_tokens(&shard);
    shard.sequences->run_first[1] = 0;
    assert_refused(&shard, "a run of tokens beyond the end");
    example_tokens(&shard);
    shard.sequences->length = 0;
    assert_refused(&shard, "is out of range");
    example_tokens(&shard);
    shard.sequences->length = FBY_MAX_TOKENS + 1;
    assert_refused(&shard, "is out of range");
    example_tokens(&shard);
    shard.sequences->shift = 2;
    assert_refused(&shard, "is out of range");
    example_tokens(&shard);
    shard.sequences->type = FBY_F32;
    assert_refused(&shard, "");
    example_packed(&shard);
    shard.sequences->packed->lengths.data[0]++; /* one more than there are */
    assert_refused(&shard, "more tokens in documents than in runs");
    example_packed(&shard);
    shard.sequences->packed->lengths.data[0]--;
    assert_refused(&shard, "fewer tokens in documents than in runs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_of_all_kinds_come_back_as_they_were),
        cmocka_unit_test(a_damaged_byte_is_refused_or_encodes_to_itself),
        cmocka_unit_test(a_manifest_that_ends_early_is_refused),
        cmocka_unit_test(an_entry_that_is_longer_or_shorter_is_refused),
        cmocka_unit_test(
            two_longer_entries_are_refused_or_encode_to_themselves),
        cmocka_unit_test(a_number_of_any_size_is_refused_or_encodes_to_itself),
        cmocka_unit_test(members_and_tokens_may_end_with_their_file),
        cmocka_unit_test(columns_may_end_with_their_file),
        cmocka_unit_test(inconsistent_samples_are_refused),
        cmocka_unit_test(inconsistent_sequences_are_refused),
    };
    return cmocka_run_group_tests_name(
        "worker.source.manifest_hostile", tests, NULL, NULL);
}
