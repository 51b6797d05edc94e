// SPDX-License-Identifier: BSD-2-Clause
/* The names of what calls and events about memory carry. */

#include "meaning/family-priv.h"

#include <linux/memfd.h>
#include <linux/mman.h>
#include <sys/mman.h>

static const struct meaning_row prot_rows[] = {
	MEANING_ONE(PROT_NONE), MEANING_BIT(PROT_READ),      MEANING_BIT(PROT_WRITE),
	MEANING_BIT(PROT_EXEC), MEANING_BIT(PROT_GROWSDOWN), MEANING_BIT(PROT_GROWSUP),
};

const struct meaning_family meaning_prot = MEANING_FAMILY(prot_rows);

static const struct meaning_row map_rows[] = {
	MEANING_PART(15, MAP_SHARED), MEANING_PART(15, MAP_PRIVATE), MEANING_PART(15, MAP_SHARED_VALIDATE),
	MEANING_BIT(MAP_FIXED),       MEANING_BIT(MAP_ANONYMOUS),    { "MAP_ANON", MAP_ANONYMOUS, MAP_ANONYMOUS },
	MEANING_BIT(MAP_32BIT),       MEANING_BIT(MAP_GROWSDOWN),    MEANING_BIT(MAP_DENYWRITE),
	MEANING_BIT(MAP_EXECUTABLE),  MEANING_BIT(MAP_LOCKED),       MEANING_BIT(MAP_NORESERVE),
	MEANING_BIT(MAP_POPULATE),    MEANING_BIT(MAP_NONBLOCK),     MEANING_BIT(MAP_STACK),
	MEANING_BIT(MAP_HUGETLB),     MEANING_BIT(MAP_SYNC),         MEANING_BIT(MAP_FIXED_NOREPLACE),
};

const struct meaning_family meaning_map = MEANING_FAMILY(map_rows);

static const struct meaning_row madvise_rows[] = {
	MEANING_ONE(MADV_NORMAL),
	MEANING_ONE(MADV_RANDOM),
	MEANING_ONE(MADV_SEQUENTIAL),
	MEANING_ONE(MADV_WILLNEED),
	MEANING_ONE(MADV_DONTNEED),
	MEANING_ONE(MADV_FREE),
	MEANING_ONE(MADV_REMOVE),
	MEANING_ONE(MADV_DONTFORK),
	MEANING_ONE(MADV_DOFORK),
	MEANING_ONE(MADV_MERGEABLE),
	MEANING_ONE(MADV_UNMERGEABLE),
	MEANING_ONE(MADV_HUGEPAGE),
	MEANING_ONE(MADV_NOHUGEPAGE),
	MEANING_ONE(MADV_DONTDUMP),
	MEANING_ONE(MADV_DODUMP),
	MEANING_ONE(MADV_WIPEONFORK),
	MEANING_ONE(MADV_KEEPONFORK),
	MEANING_ONE(MADV_COLD),
	MEANING_ONE(MADV_PAGEOUT),
	MEANING_AS("MADV_POPULATE_READ", 22),
	MEANING_AS("MADV_POPULATE_WRITE", 23),
	MEANING_AS("MADV_DONTNEED_LOCKED", 24),
	MEANING_AS("MADV_COLLAPSE", 25),
	MEANING_ONE(MADV_HWPOISON),
};

const struct meaning_family meaning_madvise = MEANING_FAMILY(madvise_rows);

static const struct meaning_row msync_rows[] = {
	MEANING_BIT(MS_ASYNC),
	MEANING_BIT(MS_INVALIDATE),
	MEANING_BIT(MS_SYNC),
};

const struct meaning_family meaning_msync = MEANING_FAMILY(msync_rows);

static const struct meaning_row mremap_rows[] = {
	MEANING_BIT(MREMAP_MAYMOVE),
	MEANING_BIT(MREMAP_FIXED),
	MEANING_BIT_AS("MREMAP_DONTUNMAP", 4),
};

const struct meaning_family meaning_mremap = MEANING_FAMILY(mremap_rows);

static const struct meaning_row mlock_rows[] = {
	MEANING_BIT(MCL_CURRENT),
	MEANING_BIT(MCL_FUTURE),
	MEANING_BIT(MCL_ONFAULT),
};

const struct meaning_family meaning_mlock = MEANING_FAMILY(mlock_rows);

static const struct meaning_row memfd_rows[] = {
	MEANING_BIT(MFD_CLOEXEC),       MEANING_BIT(MFD_ALLOW_SEALING),
	MEANING_BIT(MFD_HUGETLB),       MEANING_BIT_AS("MFD_NOEXEC_SEAL", 8),
	MEANING_BIT_AS("MFD_EXEC", 16),
};

const struct meaning_family meaning_memfd = MEANING_FAMILY(memfd_rows);

/* Of the CPU, x86. */
static const struct meaning_row fault_rows[] = {
	MEANING_BIT_AS("PF_PROT", 1),   MEANING_BIT_AS("PF_WRITE", 2),  MEANING_BIT_AS("PF_USER", 4),
	MEANING_BIT_AS("PF_RSVD", 8),   MEANING_BIT_AS("PF_INSTR", 16), MEANING_BIT_AS("PF_PK", 32),
	MEANING_BIT_AS("PF_SHSTK", 64),
};

const struct meaning_family meaning_fault = MEANING_FAMILY(fault_rows);
