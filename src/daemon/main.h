/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_MAIN_H
#define DAEMON_MAIN_H

/* asterismd from its arguments to its exit status. */
int daemon_main(int argc, char **argv);

#endif
