# SPDX-License-Identifier: BSD-2-Clause
# Starts the server and asks it three things; the second takes it 20 ms.
here=$(dirname "$0") port=${PORT:-8642}
"$here/sensor-server" "$port" &
server=$!
for try in $(seq 100); do
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
	sleep 0.05
done
exec 3<>"/dev/tcp/127.0.0.1/$port"
for word in quick slow quick; do
	echo "$word" >&3
	read -r _ <&3
done
kill "$server"
