// SPDX-License-Identifier: BSD-2-Clause
// The data: what stands in the file as base64 of raw deflate is decoded when somebody looks at it, and forgotten when there is
// too much of it. Layout: src/report/store/tiles.h and bins.h. Times are ns from the beginning of the trace.

const UNKNOWN = 0, RUNNING = 1, READY = 2, BLOCKED = 3, OTHERS = 4;
const NO_PRIO = 255;
const NOBODY = -1, INTERRUPT = -2, TIMER = -3;
const TILES_KEPT = 192;

let meta, tiles = [], groups = [], frame = 0;

function bytesOf(id) {
	const text = $(id).textContent;
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function inflate(id) {
	const stream = new Blob([bytesOf(id)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}
	varint() {
		let byte = this.bytes[this.at++];
		if (byte < 128)
			return byte;
		let value = byte & 127, unit = 128;
		do {
			byte = this.bytes[this.at++];
			value += (byte & 127) * unit;
			unit *= 128;
		} while (byte > 127);
		return value;
	}
	signed() {
		const value = this.varint();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
	fill(array) {
		for (let i = 0; i < array.length; i++)
			array[i] = this.varint();
		return array;
	}
}

function readTile(bytes) {
	const reader = new Reader(bytes), count = reader.varint();
	const begin = new Float64Array(count), end = new Float64Array(count);
	for (let i = 0, at = 0; i < count; i++)
		end[i] = at += reader.signed();
	for (let i = 0; i < count; i++)
		begin[i] = end[i] - reader.varint();
	const data = { count, begin, end };
	data.thread = reader.fill(new Int32Array(count)).map(thread => thread - 1);
	data.cpu = reader.fill(new Uint32Array(count));
	data.reason = reader.fill(new Uint32Array(count));
	data.waker = reader.fill(new Uint32Array(count));
	data.state = bytes.subarray(reader.at, reader.at + count);
	data.prio = bytes.subarray(reader.at + count, reader.at + 2 * count);
	return data;
}

// The slice of a row of a tile.
function sliceOf(data, i) {
	const waker = data.waker[i];
	return {
		begin: data.begin[i], end: data.end[i], thread: data.thread[i], cpu: data.state[i] === RUNNING || data.thread[i] < 0 ? data.cpu[i] : -1, reason: data.reason[i],
		waker: waker === 0 ? NOBODY : waker === 1 ? INTERRUPT : waker === 2 ? TIMER : waker - 3, state: data.state[i], prio: data.prio[i],
	};
}

function readLanes(bytes, first, count) {
	const reader = new Reader(bytes), lanes = [];
	for (let lane = first; lane < first + count; lane++) {
		const bins = reader.varint(), index = reader.fill(new Uint32Array(bins));
		for (let i = 1; i < bins; i++)
			index[i] += index[i - 1];
		const busy = reader.fill(new Uint8Array(bins)), isCpu = lane < meta.cpus;
		const other = reader.fill(isCpu ? new Uint32Array(bins) : new Uint8Array(bins));
		lanes.push({ index, busy, other, stranger: reader.fill(new Uint8Array(isCpu ? bins : 0)) });
	}
	return lanes;
}

async function openStore() {
	meta = JSON.parse(new TextDecoder().decode(await inflate('meta')));
	for (let i = 0; i < meta.tiles.length; i += 5) {
		const [kind, begin, end, slices, there] = meta.tiles.slice(i, i + 5);
		tiles.push({ id: 't' + i / 5, kind, begin, end, slices, there, data: null, asked: null, used: 0 });
	}
	const lanes = meta.cpus + meta.threads.tid.length;
	groups = meta.binGroups.map((first, i) => ({ id: 'b' + i, first, count: (meta.binGroups[i + 1] ?? lanes) - first, data: null, asked: null }));
}

// Decodes a tile or a group of lanes once; what is drawn without it is drawn again.
function ask(piece, read) {
	piece.asked ??= inflate(piece.id).then(bytes => {
		piece.data = read(bytes);
		redraw();
		return piece.data;
	});
	return piece.asked;
}

const askTile = tile => ask(tile, readTile);

// The bins of a lane, or null until they are decoded.
function lane(number) {
	const group = groups.findLast(({ first }) => first <= number);
	if (!group)
		return null;
	if (!group.data)
		ask(group, bytes => readLanes(bytes, group.first, group.count));
	return group.data && group.data[number - group.first];
}

function forget() {
	const kept = tiles.filter(tile => tile.data);
	if (kept.length <= TILES_KEPT)
		return;
	kept.sort((a, b) => a.used - b.used);
	for (const tile of kept.slice(0, kept.length - TILES_KEPT)) {
		if (tile.used !== frame)
			tile.data = tile.asked = null;
	}
}

// Slices of a class are shorter than this.
const classLimit = kind => kind === 10 ? Infinity : 2 ** (10 + 3 * kind);

// The slice of a thread at a time: the one that ends there, where before is set, else the one that begins there. Decodes what it
// needs.
async function sliceAt(thread, at, before) {
	let found = null;
	const near = tiles.filter(tile => tile.there && tile.begin <= at && tile.end >= at);
	for (const data of await Promise.all(near.map(askTile))) {
		for (let i = 0; i < data.count; i++) {
			if (data.thread[i] === thread && (before ? data.begin[i] < at && data.end[i] >= at : data.begin[i] <= at && data.end[i] > at))
				found = sliceOf(data, i);
		}
	}
	return found;
}
