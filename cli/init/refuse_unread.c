/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_unread.c - refuse a file whose format is not read, with a command that can
 * be run from any folder.
 *
 * The sentences of pipeline/unread.h have commands for the folder of the file, in
 * which FILE and FOLDER may stand for names that need quotes. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/refuse_layouts.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

enum { COMMAND_SIZE = 1024 };

/* A sentence has its command after `lead`, and a second one after `other`. With a
 * command that is filled in, `kept` replaces `lead`. The first row that fits counts. */
static const struct {
    const char *lead, *kept, *other;
} leads[] = {{", in their folder: ", "", NULL},
    {"plain tars: ", "plain tars", "; class folders: "},
    {"unpack it first: ", "unpack it first", NULL},
    {"join the parts: ", "join the parts", NULL}};

/* Copy the command with the names in place of FILE and FOLDER, if it has them.
 * Returns false if it does not fit. */
static bool write_command(
    const char *text, size_t size, const char *name, char out[COMMAND_SIZE])
{
    const char *end  = text + size;
    size_t      used = 0;
    char        path[FBY_PATH_SIZE + 2];
    char        word[FBY_PATH_SIZE];
    snprintf(path, sizeof(path), "./%s", name); /* no option, nor a host */
    if (!fby_shell_quote(path, word, sizeof(word))) {
        return false;
    }
    while (text < end && used < COMMAND_SIZE - 1) {
        bool is_file   = strncmp(text, "FILE", 4) == 0;
        bool is_folder = strncmp(text, "FOLDER", 6) == 0;
        int  n         = snprintf(out + used, COMMAND_SIZE - used, "%.*s",
            is_file || is_folder ? FBY_PATH_SIZE : 1,
            is_file     ? word
                     : is_folder ? "unpacked"
                                 : text);
        used += n > 0 ? (size_t)n : 0;
        text += is_file ? 4 : is_folder ? 6 : 1;
    }
    return used < COMMAND_SIZE - 1;
}

/* Set the commands of a sentence. `command` is the first one in it, and `other`
 * stands before the second. Returns false if there are none. */
static bool set_commands(const struct fby_search *search, const char *path,
    const char *name, const char *command, const char *other)
{
    const char *second = other != NULL ? strstr(command, other) : NULL;
    size_t size = second != NULL ? (size_t)(second - command) : strlen(command);
    char   line[COMMAND_SIZE];
    if (!write_command(command, size, name, line) ||
        fby_guess_set_command(search, path, "%s", line)[0] == '\0') {
        return false;
    }
    if (second != NULL) {
        second += strlen(other);
        if (write_command(second, strlen(second), name, line)) {
            fby_guess_add_command(
                search, "\nclass folders: ", path, "%s", line);
        }
    }
    return true;
}

fby_err fby_refuse_unread(const struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    struct fby_unread unread;
    if (!fby_unread_file(name, &unread)) {
        return FBY_OK;
    }
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        const char *lead = strstr(unread.text, leads[i].lead);
        if (lead != NULL && set_commands(search, path, name,
                                lead + strlen(leads[i].lead), leads[i].other)) {
            return fby_error_set(why, FBY_CONFIG,
                "%.*s%s:", (int)(lead - unread.text), unread.text,
                leads[i].kept);
        }
    }
    return fby_error_set(why, FBY_CONFIG, "%s", unread.text);
}
