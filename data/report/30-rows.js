// SPDX-License-Identifier: BSD-2-Clause
// Which rows there are: CPUs, then processes with their threads, in the order that is chosen. Threads of which nothing is known have none.

const rows = [], processes = new Map(), hidden = new Set();
let order = 'tree', rowOfCpu = [], rowOfThread, rowOfProcess;

const STATES = ['not known', 'running', 'ready', 'waiting', 'others', 'idle'];

function threadName(i) {
	return plain(meta.threads.function[i] || meta.threads.comm[i] || '?', 300);
}

const threadLabel = i => i < 0 ? 'not known' : threadName(i) + ' ' + meta.threads.tid[i];
const threadRunning = i => meta.threads.sums[4 * i];

function processName(process) {
	const leader = process.threads.find(i => meta.threads.tid[i] === process.pid) ?? process.threads[0];
	return process.pid === 0 && process.kernel ? 'kernel' : plain(meta.threads.comm[leader] || '?', 300) + ' ' + process.pid;
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
			processes.set(key, { key, pid: meta.threads.kernel[i] ? 0 : meta.threads.pid[i], kernel: !!meta.threads.kernel[i], threads: [], running: 0, birth: Infinity, depth: 0, open: true });
		const process = processes.get(key);
		process.threads.push(i);
		process.running += threadRunning(i);
		process.birth = Math.min(process.birth, meta.threads.birth[i]);
	}
	const many = [...processes.values()].reduce((sum, process) => sum + process.threads.length, 0) > 300;
	plantTree();
	for (const process of processes.values()) {
		process.threads.sort((a, b) => threadRunning(b) - threadRunning(a));
		process.open = !many && !process.kernel;
	}
}

const byStart = (a, b) => a.birth - b.birth || a.pid - b.pid;

// The process that made it, or the next one above that has lanes. Traces may have circles.
function parentOf(process, lastOfPid) {
	const { tid, pid, parent, parentPid } = meta.threads;
	let i = process.threads.find(i => tid[i] === pid[i]) ?? process.threads[0];
	for (let steps = 0; i > 0 && steps < 100; steps++) {
		const above = parent[i] >= 0 ? parent[i] : lastOfPid.get(parentPid[i]) ?? 0, found = above > 0 && processes.get(processKey(above));
		if (found && found !== process)
			return found;
		i = above;
	}
	return null;
}

// The tree, in it by start, each process once: as the report of processes has it.
let tree = [];
function plantTree() {
	const children = new Map(), placed = new Set(), all = [...processes.values()].sort(byStart), lastOfPid = new Map(meta.threads.pid.map((pid, i) => [pid, pid && i]));
	for (const process of all) {
		const parent = process.kernel ? null : parentOf(process, lastOfPid);
		if (!children.has(parent))
			children.set(parent, []);
		children.get(parent).push(process);
	}
	for (const top of [...children.get(null) ?? [], ...all]) {
		const stack = [[top, 0]];
		while (stack.length) {
			const [process, depth] = stack.pop();
			if (placed.has(process))
				continue;
			placed.add(process);
			process.depth = depth;
			for (const child of [...children.get(process) ?? []].reverse())
				stack.push([child, depth + 1]);
		}
	}
	tree = [...placed];
}

const ordered = () => order === 'tree' ? tree : [...processes.values()].sort(order === 'start' ? byStart : (a, b) => b.running - a.running);

function layRows() {
	rows.length = 0;
	rowOfCpu = [];
	rowOfThread = new Int32Array(meta.threads.tid.length).fill(-1);
	rowOfProcess = new Int32Array(meta.threads.tid.length).fill(-1);
	for (let cpu = 0; cpu < meta.cpus; cpu++) {
		rowOfCpu.push(rows.length);
		rows.push({ kind: 'cpu', cpu, label: 'CPU ' + cpu });
	}
	for (const process of ordered()) {
		const single = process.threads.length === 1 && !process.kernel, depth = order === 'tree' ? process.depth : 0;
		if (!single) {
			for (const i of process.threads)
				rowOfProcess[i] = rows.length;
			rows.push({ kind: 'process', process, depth, label: processName(process) });
		}
		if (!single && !process.open)
			continue;
		for (const i of process.threads) {
			rowOfThread[i] = rows.length;
			rows.push({ kind: 'thread', thread: i, process, inner: !single, depth, label: threadLabel(i) });
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
