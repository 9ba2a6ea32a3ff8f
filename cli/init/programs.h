/* SPDX-License-Identifier: Apache-2.0 */
/* programs.h - the programs of Python in programs/, each as one line for a command:
 * `python3 -c "SETTINGS; PROGRAM"`. The head of each file says which settings it
 * needs. */
#ifndef FBY_CLI_INIT_PROGRAMS_H
#define FBY_CLI_INIT_PROGRAMS_H

/* They write new lists: begin, csv or json, one of the others, end. */
extern const char fby_program_list_begin[];
extern const char fby_program_list_csv[];
extern const char fby_program_list_json[];
extern const char fby_program_list_paths[];
extern const char fby_program_list_dots[];
extern const char fby_program_list_found[];
extern const char fby_program_list_end[];

#endif
