#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The usual programs that give privileges up before they run another. On the way they take some back for a moment.
for tool in setpriv runuser su; do
	command -v $tool >/dev/null || { echo "there is no $tool"; exit 77; }
done
setpriv --reuid=65534 --regid=65534 --clear-groups /bin/true &&
	setpriv --reuid=65534 --clear-groups --inh-caps=-all --bounding-set=-all /bin/true &&
	runuser -u nobody /bin/true &&
	runuser -u nobody -- /bin/sh -c /bin/true &&
	su -s /bin/sh nobody -c /bin/true
