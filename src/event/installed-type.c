// SPDX-License-Identifier: BSD-2-Clause
/* Finds the shipped catalog that declares a type. */

#include "event/catalog-priv.h"
#include "event/installed.h"

const char *event_installed_with(const char *type)
{
	const char *name, *found = NULL;

	for (size_t i = 0; !found && (name = event_installed_more(i)); i++) {
		struct event_catalog *catalog = event_catalog_new();

		if (catalog && event_catalog_read(catalog, NULL, name, NULL) == 0 && event_catalog_known(catalog, type))
			found = name;
		event_catalog_free(catalog);
	}
	return found;
}
