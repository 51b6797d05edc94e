#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A PostgreSQL of its own, for nobody (it does not run as root) and over a socket in its folder, with a hundred transactions, each
# of which has to be on the disk before the next one begins, and one that is kept waiting by another. Nothing of it is left.
programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -x "$programs/initdb" ] || { echo "needs postgresql" >&2; exit 1; }
folder=/tmp/asterism-shop
mkdir "$folder" || exit 1
server=
trap 'test -z "$server" || { kill -INT "$server"; wait "$server"; } 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
chown nobody "$folder"
cd "$folder" || exit 1

as_nobody() {
	exec setpriv --reuid nobody --regid nogroup --clear-groups env HOME="$folder" LC_ALL=C "$@"
}

ask() {
	"$programs/psql" -q -h "$folder" -U shop postgres "$@" >/dev/null
}

# Waits until one of the server's processes is such.
until_one() {
	for i in $(seq 100); do
		[ "$("$programs/psql" -h "$folder" -U shop -At -c "SELECT count(*) FROM pg_stat_activity WHERE $1" postgres)" != 1 ] || return 0
		sleep 0.05
	done
	exit 1
}

(as_nobody "$programs/initdb" --no-sync -A trust -U shop -D data) >/dev/null || exit 1
as_nobody "$programs/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder" -c fsync=on >log 2>&1 &
server=$!
for i in $(seq 100); do
	"$programs/pg_isready" -q -h "$folder" && break
	kill -0 "$server" 2>/dev/null || { cat log; exit 1; }
	sleep 0.1
done
{
	echo 'CREATE TABLE sales (item int, price int);'
	for i in $(seq 100); do
		echo "INSERT INTO sales VALUES ($i, 1);"
	done
} | ask
# The first transaction keeps the row until the second one waits for it.
mkfifo first
ask <first &
first=$!
exec 3>first
echo 'BEGIN; UPDATE sales SET price = 2 WHERE item = 7;' >&3
until_one "state = 'idle in transaction'"
ask -c 'UPDATE sales SET price = 3 WHERE item = 7' &
second=$!
until_one "wait_event_type = 'Lock'"
sleep 0.1
echo 'COMMIT;' >&3
exec 3>&-
wait "$first" "$second"
