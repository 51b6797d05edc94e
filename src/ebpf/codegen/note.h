/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_NOTE_H
#define EBPF_CODEGEN_NOTE_H

/* How generated code notes whom it stops, in the table of react/stops.h. Everything here overwrites r0-r5. */

#include "ebpf/codegen/codegen.h"

/* What is noted, as a number that is never 0: a Stop, or a question with what is sent without an answer (0: nothing).
 */
uint64_t codegen_note_of(bool for_good, int signal);

/*
 * Notes the process in a register. The number lies on the stack at note (0: there is nothing to note), and the address
 * of the slot replaces it. Leaves for no when there is no room, or no process is to be stopped any more.
 */
void codegen_note(struct emit *emit, uint8_t process, int16_t note, uint32_t no);

/* Takes back what was noted. */
void codegen_note_back(struct emit *emit, int16_t note);

#endif
