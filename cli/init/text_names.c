/* SPDX-License-Identifier: Apache-2.0 */
/* text_names.c - write a label whose values are the names of classes. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/init/text_state.h"
#include "cli/init/words.h"

/* True if some reader of YAML takes the plain word for null, a truth value or a
 * number, or for the sign of a list. */
static bool is_yaml_value(const char *name)
{
    static const char *const words[] = {
        "null", "true", "false", "yes", "no", "on", "off"};
    bool is_value =
        strspn(name, "-.~") > 0 ||
        (strspn(name, "0123456789") > 0 &&
            name[strspn(name, "0123456789abcdefABCDEFxXoO_.+-")] == '\0');
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        is_value = is_value || strcasecmp(name, words[i]) == 0;
    }
    return is_value;
}

struct fby_init_name fby_init_write_name(const char *name)
{
    struct fby_init_name out   = {""};
    const char          *quote = is_yaml_value(name) ? "\"" : "";
    snprintf(out.text, sizeof(out.text), "%s%s%s", quote, name, quote);
    return out;
}

enum { LINE = 78 /* columns, if the names allow it */ };

/* True if `name` needs no quotes in a list of YAML, and reads as a word. */
static bool is_yaml_plain(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t            n         = strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ");
    return name[n] == '\0' && strchr(letters, name[0]) != NULL &&
           !is_yaml_value(name);
}

/* Append the names in byte order, without brackets. Each line but the first is
 * indented; `column` is where the first begins. */
static void append_list(
    struct fby_buffer *out, const struct fby_init_words *words, size_t column)
{
    for (uint32_t i = 0; i < words->range.n; i++) {
        const char *name = fby_init_sorted_word(words, i);
        size_t      size = strlen(name) + (is_yaml_plain(name) ? 2 : 4);
        if (i > 0) {
            bool is_new_line = column + size > LINE;
            fby_init_append(out, is_new_line ? ",\n      " : ", ");
            column = is_new_line ? 6 : column;
        }
        if (is_yaml_plain(name)) {
            fby_init_append(out, name);
        } else {
            fby_init_append_quoted(out, name);
        }
        column += size;
    }
}

void fby_init_append_key(struct fby_buffer *out, const char *key)
{
    size_t n = strspn(key, "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    if (key[n] == '\0' && !is_yaml_value(key)) {
        fby_init_append(out, key);
    } else {
        fby_init_append_quoted(out, key);
    }
}

static size_t bytes_of(const struct fby_init_words *words)
{
    return words->names.size + (size_t)4 * words->range.n;
}

static void append_notes(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    if (member->some_words_unread) {
        fby_init_append(out, "  # The names of the classes in the shards that "
                             "were read. Add any "
                             "others: a class\n"
                             "  # that is not listed is refused.\n");
    }
    if (member->unknown_class[0] != '\0') {
        fby_init_printf(out,
            "  # %s, which is no class of train: it is refused there\n",
            member->unknown_class);
    }
}

void fby_init_append_class_field(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name)
{
    const struct fby_init_words *words   = member->words;
    bool                         has_key = member->key[0] != '\0';
    append_notes(out, member);
    if (bytes_of(words) + strlen(name) + strlen(member->extension) +
            strlen(member->key) + 36 <
        LINE) {
        fby_init_printf(out, "  %s: {from: %s%s",
            fby_init_write_name(name).text,
            fby_init_write_name(member->extension).text,
            has_key ? ", key: " : "");
        fby_init_append_key(out, member->key);
        fby_init_append(out, ", names: [");
        append_list(out, words, 0);
        fby_init_append(out, "]}\n");
        return;
    }
    fby_init_printf(out, "  %s:\n    from: %s\n",
        fby_init_write_name(name).text,
        fby_init_write_name(member->extension).text);
    if (has_key) {
        fby_init_append(out, "    key: ");
        fby_init_append_key(out, member->key);
        fby_init_append(out, "\n");
    }
    fby_init_append(out, "    names: [");
    append_list(out, words, strlen("    names: ["));
    fby_init_append(out, "]\n");
}

void fby_init_append_no_classes(
    struct fby_buffer *out, const struct fby_init_member *member)
{
    const char *what = member->key[0] != '\0' ? member->key : member->extension;
    if (!member->too_many_classes && member->other_words[0] == '\0') {
        return;
    }
    fby_init_append(out, "  # ");
    fby_init_append_key(out, what);
    if (member->too_many_classes) {
        fby_init_printf(out,
            " is text: a label has at most %d names. For more classes, number "
            "them in the data\n",
            FBY_MAX_CLASS_NAMES);
    } else {
        fby_init_printf(out,
            " is text and no label: split %s has other words\n",
            member->other_words);
    }
}
