/* SPDX-License-Identifier: Apache-2.0 */
/* guess_notes.h - what the user is told beside the pipeline file, and the parts
 * of such notes and of errors. */
#ifndef FBY_CLI_INIT_GUESS_NOTES_H
#define FBY_CLI_INIT_GUESS_NOTES_H

#include "cli/init/guess_search.h"

/* Add a line to the notes of the guess, unless it has that line. One that does
 * not fit is left out. */
__attribute__((format(printf, 2, 3))) void fby_guess_note(
    struct fby_search *search, const char *format, ...);

/* Write in an error "DIR/PATH" for "data:PATH", a path in the root `dir`, or, if
 * that is the searched directory, "PATH". */
void fby_guess_replace_root(
    const char *dir, bool is_searched, struct fby_error_detail *why);

#define FBY_SPLIT_NAMES \
    "a split is called train, val, valid, validation, dev or test"

/* Folders of a directory that no split has. The functions ignore files. */
struct fby_unused_folders {
    char        names[160]; /* of the first: "a, b" */
    const char *first;      /* the name of the first; borrowed */
    uint32_t    n;
};

void fby_guess_add_unused(
    struct fby_unused_folders *self, const struct fby_entry *entry);

/* Add a note of the folders in `path`, if there are any. `reason` says what
 * would be read. */
void fby_guess_note_unused(struct fby_search *search, const char *path,
    const struct fby_unused_folders *folders, const char *reason);

/* Add a note of all folders in the listing of `path`. */
void fby_guess_note_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const char *reason);

enum { FBY_OPERAND_SIZE = 160 }; /* bytes of a path in a text, with NUL */

/* Write the path `below` in the root as the operand of a command in a text, with
 * quotes if it needs them; "DIR" for one that is too long. */
void fby_guess_write_operand(const struct fby_search *search, const char *below,
    char out[FBY_OPERAND_SIZE]);

enum { FBY_WORD_SIZE = FBY_PATH_SIZE + 64 /* bytes of a path in a note */ };

/* The same for a note, which has room for longer paths. */
void fby_guess_write_word(const struct fby_search *search, const char *below,
    char out[FBY_WORD_SIZE]);

/* Set the command of the error that the caller returns, whose text ends with a
 * colon: a command of a shell that is run in the folder `path`. In a zip archive,
 * and if it does not fit, there is none. Returns ":" if there is one, else "". */
__attribute__((format(printf, 3, 4))) const char *fby_guess_set_command(
    const struct fby_search *search, const char *path, const char *format, ...);

/* The same for a command that gives files other names: it is run in a new folder beside
 * the root, "photos-renamed", with links to all files of the root, so that these keep
 * theirs. The command ends with "forebay init" and that folder. */
__attribute__((format(printf, 3, 4))) const char *fby_guess_set_renames(
    const struct fby_search *search, const char *path, const char *format, ...);

/* Write the beginning of such a command, which ends with ")" and `then`. Returns false
 * in a zip archive, and if it does not fit. */
bool fby_guess_begin_renames(const struct fby_search *search, const char *path,
    char *out, size_t size, char then[FBY_WORD_SIZE]);

/* The same after the commands that are set, with `lead` before it. */
__attribute__((format(printf, 4, 5))) void fby_guess_add_command(
    const struct fby_search *search, const char *lead, const char *path,
    const char *format, ...);

/* The same with a program of Python. If `lead` is not "", the command is added as a
 * line that begins so: "for boxes instead: ". */
void fby_guess_advise(const struct fby_search *search, const char *path,
    const char *lead, const char *program);

/* Add to an error of data in a zip archive (FBY_CONFIG) that the archive must be
 * unpacked first; fby_guess_zip() sets the command. Returns `err`. */
fby_err fby_guess_unpack_first(
    struct fby_search *search, fby_err err, struct fby_error_detail *why);

/* Append " && forebay init PATH" to the command of the guess, if there is one. PATH is
 * what init was given, or, if that is a file, the new one: `file` in `dir`. */
void fby_guess_end_command(
    const struct fby_search *search, const char *dir, const char *file);

/* The same with the new file as PATH. */
void fby_guess_end_command_with(
    const struct fby_search *search, const char *dir, const char *file);

#endif
