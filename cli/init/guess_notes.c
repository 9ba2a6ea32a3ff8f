/* SPDX-License-Identifier: Apache-2.0 */
/* guess_notes.c - what the user is told beside the pipeline file. */
#include "cli/init/guess_notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/programs.h"
#include "common/shell.h"
#include "common/utf8.h"
#include "pipeline/text.h"

/* True if one of the lines is `line`. */
static bool has_line(const char *lines, const char *line)
{
    size_t size = strlen(line);
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        if (length == size && memcmp(lines, line, size) == 0) {
            return true;
        }
        lines += length + 1;
    }
    return false;
}

void fby_guess_note(struct fby_search *search, const char *format, ...)
{
    char    line[FBY_GUESS_NOTES];
    char   *notes = search->out->notes;
    size_t  used  = strlen(notes);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fby_make_one_line(line);
    if (n >= 0 && used + (size_t)n + 2 <= FBY_GUESS_NOTES && /* 2: "\n", NUL */
        !has_line(notes, line)) {
        memcpy(notes + used, line, (size_t)n);
        memcpy(notes + used + n, "\n", 2);
    }
}

enum { MAX_NAMED = 3 }; /* folders that a note names */

void fby_guess_add_unused(
    struct fby_unused_folders *self, const struct fby_entry *entry)
{
    struct fby_shown name = fby_text_show_begin(entry->name, 40);
    size_t           used = strlen(self->names);
    if (!entry->is_dir || strcmp(entry->name, "__MACOSX") == 0) {
        return;
    }
    if (self->n == 0) {
        self->first = entry->name;
    }
    if (self->n <= MAX_NAMED) {
        snprintf(self->names + used, sizeof(self->names) - used, "%s%s",
            self->n > 0 ? ", " : "", self->n < MAX_NAMED ? name.text : "...");
    }
    self->n++;
}

void fby_guess_note_unused(struct fby_search *search, const char *path,
    const struct fby_unused_folders *folders, const char *reason)
{
    char below[FBY_PATH_SIZE];
    char full[FBY_PATH_SIZE];
    char word[FBY_PATH_SIZE];
    if (folders->n == 0) {
        return;
    }
    bool is_named =
        fby_path_join(path, folders->first, below, NULL) == FBY_OK &&
        fby_path_join(fby_root_dir(search->root), below, full, NULL) ==
            FBY_OK &&
        fby_shell_quote(full, word, sizeof(word));
    fby_guess_note(search, "left out: folder%s %s: %s%s%s",
        folders->n > 1 ? "s" : "", folders->names, reason,
        is_named ? "; to stream it by itself: forebay init " : "",
        is_named ? word : "");
}

void fby_guess_note_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const char *reason)
{
    struct fby_unused_folders unused = {.n = 0};
    for (uint32_t i = 0; i < listing->count; i++) {
        fby_guess_add_unused(&unused, &listing->entries[i]);
    }
    fby_guess_note_unused(search, path, &unused, reason);
}

/* The next "data:PATH" that begins a word; NULL: none. A folder may be called
 * data, as in "in data: ...". */
static const char *find_root(const char *text)
{
    const char *found = text;
    while ((found = strstr(found, "data:")) != NULL) {
        bool begins  = found == text || strchr(" '\"(", found[-1]) != NULL;
        bool is_path = strchr(" :;,'", found[strlen("data:")]) == NULL;
        if (begins && is_path) { /* strchr() finds the NUL, too */
            return found;
        }
        found++;
    }
    return NULL;
}

void fby_guess_replace_root(
    const char *dir, bool is_searched, struct fby_error_detail *why)
{
    static const char             root[] = "root data: ";
    const struct fby_error_detail before = *why;
    bool        has_name = strncmp(before.text, root, strlen(root)) == 0;
    const char *text     = before.text + (has_name ? strlen(root) : 0);
    const char *found    = NULL;
    size_t      used     = 0;
    while ((found = find_root(text)) != NULL) {
        used += (size_t)snprintf(why->text + used, sizeof(why->text) - used,
            "%.*s%s%s", (int)(found - text), text, is_searched ? "" : dir,
            is_searched ? "" : "/");
        used = used < sizeof(why->text) ? used : sizeof(why->text) - 1;
        text = found + strlen("data:");
    }
    snprintf(why->text + used, sizeof(why->text) - used, "%s", text);
}

/* Write the path `below` in the root as a word of a shell; "DIR" if it does not
 * fit. */
static void write_word(
    const struct fby_search *search, const char *below, char *out, size_t size)
{
    char path[FBY_PATH_SIZE];
    if (fby_path_join(fby_root_dir(search->root), below, path, NULL) !=
            FBY_OK ||
        !fby_shell_quote(path, out, size)) {
        memcpy(out, "DIR", sizeof("DIR"));
    }
}

void fby_guess_write_operand(const struct fby_search *search, const char *below,
    char out[FBY_OPERAND_SIZE])
{
    write_word(search, below, out, FBY_OPERAND_SIZE);
}

void fby_guess_write_word(
    const struct fby_search *search, const char *below, char out[FBY_WORD_SIZE])
{
    write_word(search, below, out, FBY_WORD_SIZE);
}

/* Append " && forebay init PATH" to the command of the guess, if there is one. PATH is
 * `file` in `dir`, or, if that is NULL, the root. Nothing is appended if that does not
 * fit. */
static void append_init(
    const struct fby_search *search, const char *dir, const char *file)
{
    char   path[FBY_PATH_SIZE] = "";
    char   operand[FBY_WORD_SIZE];
    char  *end  = search->out->command + strlen(search->out->command);
    size_t left = sizeof(search->out->command) - strlen(search->out->command);
    if (end == search->out->command ||
        (file != NULL && fby_path_join(dir, file, path, NULL) != FBY_OK)) {
        return;
    }
    write_word(search, path, operand, sizeof(operand));
    int n = snprintf(end, left, " && forebay init %s", operand);
    if (n < 0 || (size_t)n >= left) {
        end[0] = '\0';
    }
}

void fby_guess_end_command(
    const struct fby_search *search, const char *dir, const char *file)
{
    append_init(search, dir, search->only_file[0] != '\0' ? file : NULL);
}

void fby_guess_end_command_with(
    const struct fby_search *search, const char *dir, const char *file)
{
    append_init(search, dir, file);
}

/* Append `lead`, and a command that is run in the folder `path`. Nothing is
 * appended if that does not fit, or in a zip archive. */
static void append_command(const struct fby_search *search, const char *lead,
    const char *path, const char *format, va_list args)
{
    char  *out  = search->out->command + strlen(search->out->command);
    size_t left = sizeof(search->out->command) - strlen(search->out->command);
    char   dir[FBY_WORD_SIZE];
    write_word(search, path, dir, sizeof(dir));
    int    begin = snprintf(out, left, "%s(cd %s && ", lead, dir);
    size_t used  = begin >= 0 && (size_t)begin < left ? (size_t)begin : left;
    int    n     = vsnprintf(out + used, left - used, format, args);
    if (search->in_zip || n < 0 || used + (size_t)n + 2 > left) {
        out[0] = '\0';
    } else {
        memcpy(out + used + n, ")", 2);
    }
}

const char *fby_guess_set_command(
    const struct fby_search *search, const char *path, const char *format, ...)
{
    va_list args;
    search->out->command[0] = '\0';
    va_start(args, format);
    append_command(search, "", path, format, args);
    va_end(args);
    return search->out->command[0] != '\0' ? ":" : "";
}

bool fby_guess_begin_renames(const struct fby_search *search, const char *path,
    char *out, size_t size, char then[FBY_WORD_SIZE])
{
    const char *root = fby_root_dir(search->root);
    char        links[FBY_PATH_SIZE];
    char        below[FBY_PATH_SIZE];
    char        word[FBY_WORD_SIZE];
    char        dir[FBY_WORD_SIZE];
    int         n = snprintf(links, sizeof(links), "%s-renamed", root);
    if (search->in_zip || root[strspn(root, "/")] == '\0' || n < 0 ||
        (size_t)n >= sizeof(links) ||
        fby_path_join(links, path, below, NULL) != FBY_OK ||
        !fby_shell_quote(root, word, sizeof(word)) ||
        !fby_shell_quote(below, dir, sizeof(dir)) ||
        !fby_shell_quote(links, then, FBY_WORD_SIZE)) {
        return false;
    }
    n = snprintf(out, size,
        "(cd %s && " FBY_PYTHON "O = sys.argv[1]; %s; %s; %s\" %s "
        "&& "
        "cd %s && ",
        word, fby_program_folder_begin, fby_program_link_tree,
        fby_program_folder_end, then, dir);
    return n >= 0 && (size_t)n < size;
}

const char *fby_guess_set_renames(
    const struct fby_search *search, const char *path, const char *format, ...)
{
    char   *out = search->out->command;
    size_t  all = sizeof(search->out->command);
    char    then[FBY_WORD_SIZE];
    va_list args;
    if (!fby_guess_begin_renames(search, path, out, all, then)) {
        out[0] = '\0';
        return "";
    }
    size_t used = strlen(out);
    va_start(args, format);
    int n = vsnprintf(out + used, all - used, format, args);
    va_end(args);
    used += n >= 0 ? (size_t)n : all;
    n = used < all
            ? snprintf(out + used, all - used, ") && forebay init %s", then)
            : -1;
    if (n < 0 || used + (size_t)n >= all) {
        out[0] = '\0';
    }
    return out[0] != '\0' ? ":" : "";
}

void fby_guess_add_command(const struct fby_search *search, const char *lead,
    const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_command(search, lead, path, format, args);
    va_end(args);
}

void fby_guess_advise(const struct fby_search *search, const char *path,
    const char *lead, const char *program)
{
    char line[80];
    snprintf(line, sizeof(line), "%s%s", lead[0] != '\0' ? "\n" : "", lead);
    if (lead[0] == '\0') {
        search->out->command[0] = '\0';
    }
    fby_guess_add_command(search, line, path, FBY_PYTHON "%s\"", program);
}

fby_err fby_guess_unpack_first(
    struct fby_search *search, fby_err err, struct fby_error_detail *why)
{
    const struct fby_error_detail said = *why;
    size_t                        n    = strlen(said.text);
    if (err != FBY_CONFIG || !search->in_zip || search->must_unpack) {
        return err;
    }
    search->must_unpack = true;
    return fby_error_set(why, err, "%.*s; unpack the archive first",
        (int)(n > 0 && said.text[n - 1] == ':' ? n - 1 : n), said.text);
}
