/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_CATALOGS_H
#define CMD_CATALOGS_H

/* Sets ASTERISM_CATALOGS where it is not set and the installed catalogs are missing, but others are beside the program.
 */
void cmd_find_catalogs(void);

#endif
