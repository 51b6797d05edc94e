// SPDX-License-Identifier: BSD-2-Clause
// Which rows there are: CPUs, then processes with their threads, the busiest first. Threads of which nothing is known have none.

const rows = [], processes = new Map(), hidden = new Set();
let rowOfCpu = [], rowOfThread, rowOfProcess;

const STATES = ['not known', 'running', 'ready', 'waiting', 'others', 'idle'];

function threadName(i) {
	const { threads } = meta, name = plain(threads.function[i] || threads.comm[i]) || '?';
	return cut(name, 300);
}

const threadLabel = i => i < 0 ? 'not known' : threadName(i) + ' ' + meta.threads.tid[i];
const threadRunning = i => meta.threads.sums[4 * i];

function processName(process) {
	const leader = process.threads.find(i => meta.threads.tid[i] === process.pid) ?? process.threads[0];
	return process.pid === 0 && process.kernel ? 'kernel' : cut(plain(meta.threads.comm[leader]) || '?', 300) + ' ' + process.pid;
}

// The key of a process: numbers are used again, but a page is short; kernel threads are one.
const processKey = i => meta.threads.kernel[i] ? 'kernel' : meta.threads.pid[i];

function findProcesses() {
	for (let i = 0; i < meta.threads.tid.length; i++) {
		const [running, ready, blocked] = meta.threads.sums.slice(4 * i, 4 * i + 3);
		if (i === 0 || !running && !ready && !blocked)
			continue;
		const key = processKey(i);
		if (!processes.has(key))
			processes.set(key, { key, pid: meta.threads.kernel[i] ? 0 : meta.threads.pid[i], kernel: !!meta.threads.kernel[i], threads: [], running: 0, open: true, hue: 0 });
		const process = processes.get(key);
		process.threads.push(i);
		process.running += threadRunning(i);
	}
	const many = [...processes.values()].reduce((sum, process) => sum + process.threads.length, 0) > 300;
	for (const process of processes.values()) {
		process.threads.sort((a, b) => threadRunning(b) - threadRunning(a));
		process.open = !many && !process.kernel;
	}
}

function layRows() {
	rows.length = 0;
	rowOfCpu = [];
	rowOfThread = new Int32Array(meta.threads.tid.length).fill(-1);
	rowOfProcess = new Int32Array(meta.threads.tid.length).fill(-1);
	for (let cpu = 0; cpu < meta.cpus; cpu++) {
		rowOfCpu.push(rows.length);
		rows.push({ kind: 'cpu', cpu, label: 'CPU ' + cpu });
	}
	for (const process of [...processes.values()].sort((a, b) => b.running - a.running)) {
		const single = process.threads.length === 1 && !process.kernel;
		if (!single) {
			for (const i of process.threads)
				rowOfProcess[i] = rows.length;
			rows.push({ kind: 'process', process, label: processName(process) });
		}
		if (!single && !process.open)
			continue;
		for (const i of process.threads) {
			rowOfThread[i] = rows.length;
			rows.push({ kind: 'thread', thread: i, process, inner: !single, label: threadLabel(i) });
		}
	}
}

// Opens what hides the thread. Returns its row, or -1.
function reveal(thread) {
	const process = processes.get(processKey(thread));
	if (process && !process.open && rowOfThread[thread] < 0) {
		process.open = true;
		layRows();
		sizeRows();
	}
	return rowOfThread[thread];
}

// The lane of a process: what its threads do together, of the same form as theirs.
function processLane(process) {
	if (process.lane)
		return process.lane;
	const lanes = process.threads.map(i => lane(meta.cpus + i));
	if (lanes.includes(null))
		return null;
	const bins = new Map();
	for (const { index, busy } of lanes) {
		for (let i = 0; i < index.length; i++)
			bins.set(index[i], (bins.get(index[i]) || 0) + busy[i]);
	}
	const index = Uint32Array.from(bins.keys()).sort();
	process.lane = { index, busy: Uint8Array.from(index, i => Math.min(255, bins.get(i))), other: new Uint8Array(index.length) };
	return process.lane;
}
