/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_CATALOGS_H
#define CMD_CATALOGS_H

/* Where installed data is: catalogs, shipped rules. */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Sets ASTERISM_CATALOGS where it is not set and the installed catalogs are missing, but others are beside the program.
 */
void cmd_find_catalogs(void);

/* The folder called name that holds file: the installed one, else one beside the program. False: there is none. */
bool cmd_find_data(const char *name, const char *file, char folder[PATH_MAX]);

/* The folder that the running program is in. */
bool cmd_program_folder(char *folder, size_t size);

#endif
