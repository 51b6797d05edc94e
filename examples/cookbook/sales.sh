#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A hundred transactions, each of which has to be on the disk before the next one begins.
{
	echo 'CREATE TABLE IF NOT EXISTS sales (item, price);'
	for i in $(seq 100); do
		echo "INSERT INTO sales VALUES ('item', $i);"
	done
} | sqlite3 shop.db
