// SPDX-License-Identifier: BSD-2-Clause
// Draws the rows that are in sight: bins for what is thinner than can be seen, exact slices for the rest, pixel by pixel into one
// image. Text, flags and arrows come on top.

const ROW = 22, BAR = 16, AXIS = 30, GUTTER = 210;
const TILES_OF_CLASS = 24; // of one class, at most, in one frame
const LABELS = 400, FONT = 'system-ui, "DejaVu Sans", sans-serif';

const view = { from: 0, to: 1, scroll: 0, width: 0, height: 0, ratio: 1 };
let chosen = null, wake = null, matchAt = -1, image, pixels, colours, labels, exact, binsToo;

const DARK = matchMedia('(prefers-color-scheme: dark)');
const PALETTE = {
	light: { states: ['#c9ced6', '#2f9e75', '#eda415', '#d3dfee', '#b5bcc7', '#ffffff'], process: '52% 56%' },
	dark: { states: ['#3b424b', '#3cb98a', '#eba92a', '#2a3a4d', '#4b535e', '#101418'], process: '48% 52%' },
};

// A colour as the image has it: bytes are in the order of the memory, red first.
const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
const bytesOfColour = text => [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16));
const mixed = (a, b, part) => a.map((v, i) => Math.round(v + (b[i] - v) * part));

// 17 steps between paper and a colour.
const ramp = (from, to) => Uint32Array.from({ length: 17 }, (_, i) => packed(mixed(from, to, i / 16)));

function chooseColours() {
	const palette = PALETTE[DARK.matches && !matchMedia('print').matches ? 'dark' : 'light'], style = getComputedStyle(document.documentElement);
	colours = { ...palette };
	for (const name of ['paper', 'panel', 'ink', 'faint', 'line', 'accent', 'mark'])
		colours[name] = style.getPropertyValue('--' + name).trim();
	const paper = bytesOfColour(colours.paper);
	colours.packedPaper = packed(paper);
	colours.packedBand = packed(bytesOfColour(colours.panel));
	colours.packed = palette.states.map(text => packed(bytesOfColour(text)));
	const blocked = bytesOfColour(palette.states[BLOCKED]);
	colours.running = ramp(blocked, bytesOfColour(palette.states[RUNNING]));
	colours.ready = ramp(blocked, bytesOfColour(palette.states[READY]));
	const ranked = [...processes.values()].sort((a, b) => b.running - a.running);
	const context = $('lanes').getContext('2d', { alpha: false });
	ranked.forEach((process, rank) => {
		context.fillStyle = `hsl(${(210 + rank * 137.508) % 360} ${palette.process})`;
		process.colour = process.kernel ? mixed(paper, bytesOfColour(colours.faint), .6) : bytesOfColour(context.fillStyle);
		process.ramp = ramp(paper, process.colour);
		process.packed = packed(process.colour);
	});
	colours.thread = Uint32Array.from(meta.threads.tid, (_, i) => processes.get(processKey(i))?.packed ?? colours.packed[OTHERS]);
}

const middle = () => (view.from + view.to) / 2;
const sight = () => view.to - view.from;
const scale = () => (view.width - GUTTER) / sight();
const xOf = ns => GUTTER + (ns - view.from) * scale();
const timeOf = x => view.from + (x - GUTTER) / scale();
const yOf = row => AXIS + row * ROW - view.scroll;

function fill(x0, x1, y0, y1, colour) {
	const width = image.width;
	if (x1 - x0 === 1) {
		for (let at = y0 * width + x0; y0 < y1; y0++, at += width)
			pixels[at] = colour;
		return;
	}
	for (let y = y0; y < y1; y++)
		pixels.fill(colour, y * width + x0, y * width + x1);
}

function hatch(x0, x1, y0, y1, colour) {
	for (let y = y0; y < y1; y++) {
		for (let x = x0; x < x1; x++) {
			if ((x + y) % 6 < 2)
				pixels[y * image.width + x] = colour;
		}
	}
}

function lowerBound(array, wanted) {
	let low = 0, high = array.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (array[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// The parts of the pixels of a row that are busy, and what is there most: sums over bins.
function gather(bins, sums) {
	const width = 2 ** meta.binBits, perPixel = scale() * view.ratio, edge = GUTTER * view.ratio;
	sums.busy.fill(0);
	sums.other.fill(0);
	sums.most.fill(0);
	const last = view.to / width;
	for (let i = lowerBound(bins.index, Math.floor(view.from / width)); i < bins.index.length && bins.index[i] <= last; i++) {
		const x0 = edge + (bins.index[i] * width - view.from) * perPixel, x1 = x0 + width * perPixel;
		const end = Math.min(image.width, x1 > Math.floor(x0) + 1 ? Math.ceil(x1) : Math.floor(x0) + 1);
		for (let x = Math.max(edge | 0, Math.floor(x0)); x < end; x++) {
			const part = Math.min(x + 1, x1) - Math.max(x, x0), busy = bins.busy[i] * part;
			sums.busy[x] += busy;
			sums.other[x] += bins.other[i] * part;
			if (busy > sums.most[x]) {
				sums.most[x] = busy;
				sums.who[x] = bins.other[i];
			}
		}
	}
}

let sums = { width: 0 };
const step = part => part <= 0 ? 0 : Math.min(16, 3 + Math.round(part / 255 * 13));

function drawBins(row, y0, y1) {
	const bins = row.kind === 'cpu' ? lane(row.cpu) : row.kind === 'thread' ? lane(meta.cpus + row.thread) : processLane(row.process);
	if (!bins)
		return;
	gather(bins, sums);
	for (let x = Math.floor(GUTTER * view.ratio); x < image.width; x++) {
		const busy = sums.busy[x], ready = sums.other[x];
		if (row.kind === 'thread') {
			if (busy + ready > 0)
				fill(x, x + 1, y0, y1, busy >= ready ? colours.running[step(busy)] : colours.ready[step(ready)]);
		} else if (busy > 0) {
			const process = row.process || (sums.who[x] ? processes.get(processKey(sums.who[x] - 1)) : null);
			fill(x, x + 1, y0, y1, process ? process.ramp[step(busy)] : colours.packed[OTHERS]);
		}
	}
}

// Which classes are drawn slice by slice, the longest first, and whether bins have to tell of the rest.
function chooseTiles() {
	const perPixel = 1 / (scale() * view.ratio), binsDo = 2 ** meta.binBits <= 4 * perPixel, chosenTiles = [];
	binsToo = false;
	for (let kind = 10; kind >= 0; kind--) {
		const near = tiles.filter(tile => tile.kind === kind && tile.begin < view.to && tile.end > view.from);
		if (near.length > TILES_OF_CLASS || (classLimit(kind) < perPixel && binsDo)) {
			binsToo ||= near.length > 0;
			continue;
		}
		for (const tile of near) {
			if (tile.there && !tile.data)
				askTile(tile);
			if (tile.data)
				chosenTiles.push(tile);
			else
				binsToo = true;
			tile.used = frame;
		}
	}
	return chosenTiles;
}

function drawSlice(row, slice, colour) {
	const { ratio } = view, y0 = Math.round((yOf(row) + 3) * ratio), y1 = Math.min(image.height, y0 + Math.round(BAR * ratio));
	const top = Math.max(y0, Math.round(AXIS * ratio));
	if (top >= y1)
		return;
	const { x0, x1, state } = slice;
	if (state === UNKNOWN || state === OTHERS)
		hatch(x0, x1, top, y1, colour);
	else
		fill(x0, x1, top, y1, colour);
	exact++;
	if (x1 - x0 > 44 * ratio && labels.length < LABELS && state !== UNKNOWN)
		labels.push({ ...slice, row });
}

function drawTile(data, first, last) {
	const { from, to, ratio } = view, perNs = scale() * ratio, edge = Math.floor(GUTTER * ratio), width = image.width;
	const slice = { x0: 0, x1: 0, state: 0, data, i: 0, kind: '' };
	for (let i = 0; i < data.count; i++) {
		if (data.end[i] <= from || data.begin[i] >= to)
			continue;
		const thread = data.thread[i], state = data.state[i], row = thread < 0 ? data.cpu[i] : rowOfThread[thread];
		slice.x0 = Math.max(edge, Math.floor(GUTTER * ratio + (data.begin[i] - from) * perNs));
		slice.x1 = Math.min(width, Math.max(slice.x0 + 1, Math.floor(GUTTER * ratio + (data.end[i] - from) * perNs)));
		slice.state = state;
		slice.i = i;
		if (row >= first && row <= last) {
			slice.kind = 'thread';
			drawSlice(row, slice, colours.packed[state]);
		}
		if (state !== RUNNING)
			continue;
		const cpu = data.cpu[i], above = rowOfProcess[thread];
		slice.kind = 'cpu';
		if (cpu >= first && cpu <= last && cpu < meta.cpus)
			drawSlice(cpu, slice, colours.thread[thread]);
		slice.kind = 'process';
		if (above >= first && above <= last)
			drawSlice(above, slice, colours.thread[thread]);
	}
}

function fillBox(context, colour, ...box) {
	context.fillStyle = colour;
	context.fillRect(...box);
}

// What a slice says on itself.
function sliceText(data, i, kind) {
	if (kind !== 'thread')
		return threadLabel(data.thread[i]);
	const reason = meta.reasons[data.reason[i]];
	return data.state[i] === RUNNING ? 'CPU ' + data.cpu[i] : reason ? plain(reason) : STATES[data.state[i]];
}

function drawLabels(context) {
	context.font = '11px ' + FONT;
	context.textBaseline = 'middle';
	const taken = new Map();
	for (const { x0, x1, data, i, kind, row, state } of labels.sort((a, b) => a.x0 - b.x0)) {
		if (kind === 'process' && x0 < taken.get(row))
			continue;
		taken.set(row, x1);
		const x = x0 / view.ratio, room = x1 / view.ratio - x - 8;
		context.fillStyle = kind !== 'thread' || state === RUNNING || state === READY ? '#fff' : colours.faint;
		if (kind === 'thread' && state === READY || DARK.matches && kind === 'thread' && state === RUNNING)
			context.fillStyle = '#10151a';
		const text = fit(sliceText(data, i, kind), room);
		if (text && yOf(row) + 3 >= AXIS - 2)
			context.fillText(text, x + 4, yOf(row) + ROW / 2 + .5);
	}
}

// The letters are about as wide as this.
const fit = (text, room) => text.length * 6.1 <= room ? text : room > 20 ? cut(text, Math.floor(room / 6.1)) : '';

const STEPS = [1, 2, 5];
function drawAxis(context) {
	fillBox(context, colours.paper, 0, 0, view.width, AXIS);
	context.fillStyle = colours.faint;
	context.strokeStyle = colours.line;
	const wanted = sight() / Math.max(1, (view.width - GUTTER) / 130);
	const ten = 10 ** Math.floor(Math.log10(Math.max(1, wanted))), size = ten * (STEPS.find(s => s * ten >= wanted) || 10);
	context.beginPath();
	for (let at = Math.ceil(view.from / size) * size; at <= view.to; at += size) {
		const x = Math.round(xOf(at)) + .5;
		context.moveTo(x, AXIS - 8);
		context.lineTo(x, view.height);
		context.fillText(tick(at, size), x + 4, AXIS - 9);
	}
	context.globalAlpha = .55;
	context.stroke();
	context.globalAlpha = 1;
	context.fillStyle = colours.ink;
	context.fillText(length(sight()), 10, AXIS - 9);
}

function tick(at, size) {
	const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(size) + 1e-9)));
	return (at / 1e9).toFixed(digits) + '\u202fs';
}

function drawGutter(context, first, last) {
	fillBox(context, colours.paper, 0, AXIS, GUTTER - 1, view.height);
	for (let i = first; i <= last; i++) {
		const row = rows[i], y = yOf(i) + ROW / 2 + .5;
		if (y < AXIS)
			continue;
		let x = 10;
		context.fillStyle = colours.ink;
		context.font = '12px ' + FONT;
		if (row.kind === 'process') {
			context.fillText(row.process.open ? '▾' : '▸', 8 + 10 * Math.min(row.depth, 9), y);
			context.font = '600 ' + context.font;
			x = 22;
		} else if (row.inner) {
			x = 32;
			context.fillStyle = chosen?.thread === row.thread ? colours.accent : colours.faint;
		}
		x += 10 * Math.min(row.depth || 0, 9);
		if (row.process && row.kind !== 'thread' || row.kind === 'thread' && !row.inner) {
			const ink = context.fillStyle;
			fillBox(context, `rgb(${row.process.colour.join()})`, GUTTER - 9, yOf(i) + 3, 4, BAR);
			context.fillStyle = ink;
		}
		const count = row.kind === 'process' && !row.process.open ? ` (${row.process.threads.length})` : '';
		context.fillText(fit(row.label, (GUTTER - x - 14 - 7 * count.length) * (row.kind === 'process' ? .8 : .9)) + count, x, y);
	}
	fillBox(context, colours.line, GUTTER - 1, 0, 1, view.height);
}

// A time that is marked in all rows.
function drawBand(context, from, to, colour) {
	if (to < view.from || from > view.to)
		return;
	const x0 = Math.max(GUTTER, xOf(from)), x1 = Math.max(x0 + 2, xOf(to));
	context.fillStyle = colour;
	context.globalAlpha = .2;
	context.fillRect(x0, AXIS, x1 - x0, view.height);
	context.globalAlpha = 1;
	context.fillRect(x0, AXIS - 4, x1 - x0, 3);
}

function drawMatches(context) {
	let last = -9;
	for (let i = 0; i < meta.matches.length; i++) {
		const [at, thread] = meta.matches[i], x = xOf(at);
		if (x < GUTTER || x > view.width)
			continue;
		context.fillStyle = colours.mark;
		if (i === matchAt)
			context.fillRect(x - .5, AXIS, 1, view.height);
		if (x - last > 2 || i === matchAt) {
			context.beginPath();
			context.moveTo(x, 1);
			context.lineTo(x + (i === matchAt ? 11 : 8), 5);
			context.lineTo(x, 9);
			context.fill();
			context.fillRect(x - .5, 1, 1, AXIS - 1);
			last = x;
		}
		const row = thread >= 0 ? rowOfThread[thread] : -1;
		if (row >= 0 && yOf(row) > AXIS) {
			context.beginPath();
			context.arc(x, yOf(row) + ROW / 2, i === matchAt ? 4.5 : 2.5, 0, 7);
			context.fill();
		}
	}
}

// The chosen slice, and the arrow from who woke its thread.
function drawChosen(context) {
	if (!chosen)
		return;
	context.strokeStyle = colours.accent;
	context.fillStyle = colours.accent;
	context.lineWidth = 2;
	const x0 = Math.max(GUTTER, xOf(chosen.begin)), x1 = Math.min(view.width + 2, xOf(chosen.end));
	for (const row of [rowOfThread[chosen.thread], chosen.state === RUNNING ? rowOfCpu[chosen.cpu] ?? -1 : -1]) {
		if (row >= 0 && yOf(row) + 3 > AXIS - ROW && x1 >= GUTTER)
			context.strokeRect(x0, yOf(row) + 2, Math.max(2, x1 - x0), BAR + 2);
	}
	if (wake) {
		const from = rowOfThread[wake.waker], to = rowOfThread[wake.thread], x = xOf(wake.at);
		if (from >= 0 && to >= 0 && x > GUTTER)
			drawArrow(context, x, from, to);
	}
	context.lineWidth = 1;
}

function sizeCanvas(canvas, width, height) {
	const ratio = Math.min(2, devicePixelRatio || 1), w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + 'px';
		canvas.style.height = height + 'px';
	}
	return ratio;
}

function prepare(context) {
	const { width, height } = context.canvas;
	if (!image || image.width !== width || image.height !== height) {
		image = context.createImageData(width, height);
		pixels = new Uint32Array(image.data.buffer);
		sums = { busy: new Float32Array(width), other: new Float32Array(width), most: new Float32Array(width), who: new Uint32Array(width) };
	}
	pixels.fill(colours.packedPaper);
	labels = [];
	exact = 0;
}

function draw() {
	const started = performance.now(), canvas = $('lanes'), context = canvas.getContext('2d', { alpha: false });
	frame++;
	view.ratio = sizeCanvas(canvas, view.width, view.height);
	prepare(context);
	const first = Math.max(0, Math.floor(view.scroll / ROW)), last = Math.min(rows.length - 1, Math.ceil((view.scroll + view.height - AXIS) / ROW));
	const near = chooseTiles();
	for (let i = first; i <= last; i++) {
		const y = Math.round((yOf(i) + 3) * view.ratio), top = Math.max(Math.round(AXIS * view.ratio), y), end = Math.min(image.height, y + Math.round(BAR * view.ratio));
		if (top >= end)
			continue;
		fill(Math.floor(GUTTER * view.ratio), image.width, top, end, colours.packedBand);
		if (binsToo)
			drawBins(rows[i], top, end);
	}
	for (const tile of near)
		drawTile(tile.data, first, last);
	context.setTransform(1, 0, 0, 1, 0, 0);
	context.putImageData(image, 0, 0);
	context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
	drawLabels(context);
	drawAxis(context);
	for (const [begin, end] of meta.losses)
		drawBand(context, begin, end, colours.mark);
	drawMatches(context);
	if (span)
		drawBand(context, span.from, span.to, colours.accent);
	drawWakes(context, near, first, last);
	drawChosen(context);
	drawGutter(context, first, last);
	drawStrip();
	forget();
	Object.assign(document.documentElement.dataset, { frame: (performance.now() - started).toFixed(2), exact, pending: pending() });
}

const pending = () => tiles.filter(tile => tile.used === frame && tile.asked && !tile.data).length + groups.filter(group => group.asked && !group.data).length;

// The whole trace: how busy the CPUs are with threads that were observed, losses, matches, and the part that is in sight.
let strip = null;
function drawStrip() {
	const canvas = $('strip'), context = canvas.getContext('2d'), width = canvas.clientWidth, height = canvas.clientHeight;
	const ratio = sizeCanvas(canvas, width, height);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	fillBox(context, colours.paper, 0, 0, width, height);
	const room = width - GUTTER, perNs = room / meta.length;
	strip = strip?.length === room ? strip : busyOf(room);
	context.fillStyle = colours.states[RUNNING];
	for (let x = 0; x < strip.length; x++)
		context.fillRect(GUTTER + x, height - 4 - strip[x] * (height - 12), 1, strip[x] * (height - 12));
	context.fillStyle = colours.mark;
	for (const [begin, end] of meta.losses)
		context.fillRect(GUTTER + begin * perNs, height - 4, Math.max(2, (end - begin) * perNs), 4);
	for (const [at] of meta.matches)
		context.fillRect(GUTTER + at * perNs, 0, 1, 7);
	context.fillStyle = colours.faint;
	context.font = '12px ' + FONT;
	context.fillText('all CPUs', 10, height / 2 + 4);
	context.fillText(length(meta.length), 10 + 74, height / 2 + 4);
	const x0 = GUTTER + view.from * perNs, x1 = GUTTER + view.to * perNs;
	context.globalAlpha = .35;
	fillBox(context, colours.line, GUTTER, 0, x0 - GUTTER, height);
	context.fillRect(x1, 0, width - x1, height);
	context.globalAlpha = 1;
	context.strokeStyle = colours.accent;
	context.lineWidth = 1.5;
	context.strokeRect(x0, 1, Math.max(2, x1 - x0), height - 2);
	context.lineWidth = 1;
}

function busyOf(width) {
	const busy = new Float32Array(Math.max(0, width)), bin = 2 ** meta.binBits;
	for (let cpu = 0; cpu < meta.cpus; cpu++) {
		const bins = lane(cpu);
		if (!bins)
			return [];
		for (let i = 0; i < bins.index.length; i++) {
			const x0 = bins.index[i] * bin / meta.length * width, x1 = x0 + bin / meta.length * width;
			for (let x = Math.floor(x0); x < Math.min(width, x1); x++)
				busy[x] += Math.max(0, bins.busy[i] - bins.stranger[i]) / 255 * (Math.min(x + 1, x1) - Math.max(x, x0)) / meta.cpus;
		}
	}
	return busy.map(part => Math.min(1, part));
}
