// SPDX-License-Identifier: BSD-2-Clause
// What keys, the mouse and addresses do. An address holds the time in sight and the chosen slice: #1.5-2.25;thread=712@1.75

const SHORTEST = 50; // ns in sight

const past = [];
let waiting = false, addressTimer = 0;

function redraw() {
	if (waiting)
		return;
	waiting = true;
	requestAnimationFrame(() => {
		waiting = false;
		draw();
	});
}

function clampView(from, to) {
	const longest = meta.length, wanted = Math.min(longest, Math.max(SHORTEST, to - from));
	const middle = (from + to) / 2, start = Math.max(0, Math.min(longest - wanted, middle - wanted / 2));
	view.from = start;
	view.to = start + wanted;
}

function move(from, to) {
	clampView(from, to);
	redraw();
	clearTimeout(addressTimer);
	addressTimer = setTimeout(writeAddress, 250);
}

const seen = () => ({ from: view.from, to: view.to, scroll: $('scroll').scrollTop, chosen });

// A jump, which back undoes.
function show(from, to) {
	past.push(seen());
	if (past.length > 100)
		past.shift();
	move(from, to);
}

function back() {
	const last = past.pop();
	if (!last)
		return;
	chosen = last.chosen;
	wake = null;
	showChosen();
	$('scroll').scrollTop = last.scroll;
	move(last.from, last.to);
}

function zoom(factor, at = middle()) {
	const size = Math.min(meta.length, Math.max(SHORTEST, sight() * factor)), part = (at - view.from) / sight();
	move(at - part * size, at + (1 - part) * size);
}

const pan = part => move(view.from + part * sight(), view.to + part * sight());
function showAround(at, longest = Infinity) {
	const size = Math.min(sight(), longest);
	show(at - size / 2, at + size / 2);
}

function sizeRows() {
	$('height').style.height = Math.max(0, rows.length * ROW + AXIS + 40 - $('scroll').clientHeight) + 'px';
	redraw();
}

function resize() {
	const box = $('scroll');
	view.width = box.clientWidth;
	view.height = box.clientHeight;
	sizeRows();
}

function scrollTo(row) {
	if (row < 0)
		return;
	const box = $('scroll'), y = row * ROW;
	if (y < box.scrollTop || y > box.scrollTop + view.height - AXIS - 2 * ROW)
		box.scrollTop = Math.max(0, y - view.height / 2);
}

// Makes a slice the one that all is told of; comes to it where it is out of sight.
function choose(slice, jump) {
	chosen = slice;
	wake = null;
	if (slice) {
		scrollTo(reveal(slice.thread));
		if (jump && (slice.end < view.from || slice.begin > view.to))
			showAround(Math.min(Math.max(slice.begin, middle()), slice.end));
		cameFrom(slice).then(hop => {
			if (hop?.waker >= 0 && chosen === slice) {
				wake = hop;
				redraw();
			}
		});
	}
	showChosen();
	showSums();
	move(view.from, view.to);
}

function zoomToChosen() {
	if (chosen)
		show(chosen.begin - (chosen.end - chosen.begin) * .2, chosen.end + (chosen.end - chosen.begin) * .2);
}

// The next slice of the same thread, or the one before.
async function neighbour(step) {
	if (!chosen)
		return nextThread(1);
	const next = step > 0 ? await sliceAt(chosen.thread, chosen.end, false) : await sliceAt(chosen.thread, chosen.begin, true);
	if (next)
		choose(next, true);
}

async function goToThread(thread) {
	scrollTo(reveal(thread));
	const at = middle(), found = await sliceAt(thread, at, false) || await firstOf(thread);
	if (found)
		choose(found, true);
}

// What bins know of a thread, to the first slice of it.
async function firstOf(thread) {
	const bins = lane(meta.cpus + thread), bin = 2 ** meta.binBits;
	if (!bins || !bins.index.length)
		return null;
	for (let part = 0; part < 8; part++) {
		const found = await sliceAt(thread, (bins.index[0] + part / 8) * bin, false);
		if (found)
			return found;
	}
	return null;
}

// Goes to who woke the thread, over what it did since.
async function follow() {
	let slice = chosen;
	for (let steps = 0; slice && steps < 4; steps++) {
		const hop = await cameFrom(slice);
		if (!hop || hop.by)
			return say(hop ? 'Woken by ' + hop.by : 'The waker is unknown');
		slice = hop.slice;
		if (hop.waker >= 0) {
			const before = seen();
			choose(slice, true);
			past.push(before);
			return;
		}
	}
}

function goToMatch(i) {
	const count = meta.matches.length;
	if (!count)
		return;
	matchAt = (i + count) % count;
	const [at, thread] = meta.matches[matchAt];
	if (thread >= 0) {
		scrollTo(reveal(thread));
		sliceAt(thread, at, true).then(slice => slice && choose(slice));
	}
	showAround(at, 10e6);
	[...$('hits-list').querySelectorAll('button')].forEach((button, n) => {
		button.classList.toggle('current', n === matchAt);
		if (n === matchAt)
			button.scrollIntoView({ block: 'nearest' });
	});
	say(`Match ${matchAt + 1} of ${count}: ${plain(meta.matches[matchAt][2])} at ${when(at)}`);
}

function nextMatch(step) {
	if (matchAt >= 0)
		return goToMatch(matchAt + step);
	const i = meta.matches.findIndex(([at]) => at >= middle());
	goToMatch(step > 0 ? Math.max(0, i) : i - 1);
}

// Where the mouse is: x, y in the lanes, and the row.
function spot(event) {
	const box = $('lanes').getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
	return { x, y, row: rows[Math.floor((y - AXIS + view.scroll) / ROW)], at: timeOf(Math.max(GUTTER, x)) };
}

// The slice under the mouse: the longest of those that share its pixel.
function sliceUnder(event) {
	const { x, y, row } = spot(event);
	if (x < GUTTER || y < AXIS || !row)
		return null;
	const from = timeOf(x - .5), to = timeOf(x + .5);
	let best = null, longest = -1;
	for (const { data, used, begin, end } of tiles) {
		if (!data || used !== frame || begin > to || end < from)
			continue;
		for (let i = 0; i < data.count; i++) {
			if (data.begin[i] > to || data.end[i] < from || data.end[i] - data.begin[i] <= longest)
				continue;
			const thread = data.thread[i], running = data.state[i] === RUNNING;
			if (row.kind === 'cpu' ? (running || thread < 0) && data.cpu[i] === row.cpu : row.kind === 'thread' ? thread === row.thread : running && rowOfProcess[thread] >= 0 && processKey(thread) === row.process.key) {
				best = sliceOf(data, i);
				longest = best.end - best.begin;
			}
		}
	}
	return best;
}

function click(event) {
	const { x, row } = spot(event);
	if (x < GUTTER) {
		if (row?.kind === 'process') {
			row.process.open = !row.process.open;
			layRows();
			sizeRows();
		}
		return;
	}
	const found = sliceUnder(event), slice = found?.thread >= 0 ? found : null;
	if (slice && chosen && slice.thread === chosen.thread && slice.begin === chosen.begin)
		follow();
	else
		choose(slice);
}

function listenToMouse() {
	const canvas = $('lanes'), box = $('scroll');
	let held = null;
	canvas.onpointerdown = event => {
		canvas.setPointerCapture(event.pointerId);
		held = { x: event.clientX, y: event.clientY, from: view.from, to: view.to, top: box.scrollTop, moved: false, at: spot(event).at, span: event.shiftKey && spot(event).x > GUTTER };
	};
	canvas.onpointermove = event => {
		if (!held) {
			const arrow = arrowUnder(event);
			return arrow ? showWake(event, arrow.slice) : showTip(event, sliceUnder(event));
		}
		const dx = event.clientX - held.x, dy = event.clientY - held.y;
		held.moved ||= Math.abs(dx) + Math.abs(dy) > 3;
		if (!held.moved)
			return;
		$('tip').hidden = true;
		if (held.span)
			return chooseSpan(...[held.at, spot(event).at].sort((a, b) => a - b));
		box.scrollTop = held.top - dy;
		move(held.from - dx / scale(), held.to - dx / scale());
	};
	canvas.onpointerup = event => {
		if (held && !held.moved)
			click(event);
		else if (held?.span)
			showSums();
		held = null;
	};
	canvas.onpointerleave = () => $('tip').hidden = true;
	canvas.ondblclick = zoomToChosen;
	box.addEventListener('wheel', event => {
		const lines = event.deltaMode === 1 ? 16 : 1;
		if (event.ctrlKey || event.metaKey || event.altKey) {
			event.preventDefault();
			zoom(1.0025 ** (event.deltaY * lines), spot(event).at);
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			pan((event.deltaX || event.deltaY) * lines / view.width);
		}
	}, { passive: false });
	box.onscroll = () => {
		view.scroll = box.scrollTop;
		redraw();
	};
	listenToStrip();
}

function listenToStrip() {
	const canvas = $('strip');
	let start = null;
	const at = event => Math.max(0, (event.clientX - canvas.getBoundingClientRect().left - GUTTER) / (canvas.clientWidth - GUTTER) * meta.length);
	canvas.onpointerdown = event => {
		canvas.setPointerCapture(event.pointerId);
		start = at(event);
	};
	canvas.onpointerup = event => {
		const end = at(event);
		if (start !== null && Math.abs(end - start) * scale() > 0 && Math.abs(end - start) > meta.length / 300)
			show(Math.min(start, end), Math.max(start, end));
		else
			showAround(end);
		start = null;
	};
}

const DEEDS = {
	in: () => zoom(.5), out: () => zoom(2), all: () => show(0, meta.length), back, help: () => $('help').showModal(),
	next: () => nextMatch(1), previous: () => nextMatch(-1), wakes: toggleWakes,
};

function setOrder(wanted) {
	order = $('order').value = wanted;
	layRows();
	sizeRows();
	scrollTo(chosen ? rowOfThread[chosen.thread] : -1);
	say('Lanes ' + $('order').selectedOptions[0].text.toLowerCase());
}

const ORDERS = ['tree', 'start', 'cpu'];

const KEYS = [
	[['w', '+', '='], 'zoom in', DEEDS.in], [['s', '-'], 'zoom out', DEEDS.out],
	[['a'], 'go left', () => pan(-.25)], [['d'], 'go right', () => pan(.25)], [['0', 'Home'], 'the whole trace', DEEDS.all],
	[['ArrowRight'], 'next slice of the thread', () => neighbour(1)], [['ArrowLeft'], 'slice before', () => neighbour(-1)],
	[['ArrowDown', 'j'], 'next thread', () => nextThread(1)], [['ArrowUp', 'k'], 'thread before', () => nextThread(-1)],
	[['f'], 'follow the thread that woke it (as a second click does)', follow], [['z', 'Enter'], 'zoom to the chosen slice', zoomToChosen],
	[['u'], 'arrows of wake-ups, of the chosen thread or of all', toggleWakes], [['n'], 'next match', DEEDS.next], [['p'], 'match before', DEEDS.previous], [['Backspace', 'b'], 'back to where the last jump began', back],
	[['o'], 'another order of lanes: tree, start, CPU time', () => setOrder(ORDERS[(ORDERS.indexOf(order) + 1) % 3])],
	[['/'], 'find', () => $('query').focus()], [['m'], 'sums of what is in sight', () => (chooseSpan(view.from, view.to), showSums())],
	[['Escape'], 'no span; choose nothing', () => span ? chooseSpan(0, 0) : choose(null)], [['?'], 'these keys', DEEDS.help],
];

function nextThread(step) {
	let row = chosen ? rowOfThread[chosen.thread] : step > 0 ? -1 : rows.length;
	for (row += step; rows[row] && rows[row].kind !== 'thread';)
		row += step;
	if (rows[row])
		goToThread(rows[row].thread);
}

function listenToKeys() {
	for (const [names, text] of KEYS)
		$('keys').append(make('tr', make('td', ...names.flatMap(name => [make('kbd', name.replace('Arrow', '')), ' '])), make('td', text)));
	$('keys').append(make('tr', make('td', 'Ctrl + wheel, drag, Shift + drag'), make('td', 'zoom, move, sums of a span; drag on the strip above: show that part')));
	addEventListener('keydown', event => {
		if (event.ctrlKey || event.metaKey || event.altKey || $('help').open || event.target.matches?.('input, button, select, summary, a'))
			return;
		const found = KEYS.find(([names]) => names.includes(event.key));
		if (found) {
			event.preventDefault();
			found[2]();
		}
	});
	$('query').oninput = showFound;
	$('query').onkeydown = event => {
		if (event.key === 'Escape') {
			$('found').hidden = true;
			$('scroll').focus();
		} else if (event.key === 'ArrowDown') {
			$('found').querySelector('button')?.focus();
		}
	};
	$('find').onsubmit = event => {
		event.preventDefault();
		const found = showFound();
		if (found.length) {
			$('found').hidden = true;
			found[0].go();
			$('scroll').focus();
		}
	};
	for (const button of document.querySelectorAll('[data-do]'))
		button.onclick = () => DEEDS[button.dataset.do]();
	$('order').onchange = () => setOrder($('order').value);
	$('tables').ontoggle = showTables;
	addEventListener('beforeprint', () => {
		$('tables').open = true;
		showTables();
	});
}

function writeAddress() {
	let text = `#${seconds(view.from)}-${seconds(view.to)}`;
	if (chosen)
		text += `;thread=${meta.threads.tid[chosen.thread]}@${seconds(Math.max(chosen.begin, 0))}`;
	history.replaceState(null, '', text);
}

async function readAddress() {
	const found = /^#(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)(?:;thread=(\d+)@(\d+(?:\.\d+)?))?/.exec(location.hash);
	if (!found)
		return;
	const [, from, to, tid, at] = found;
	move(nanoseconds(from), nanoseconds(to));
	for (let i = 0; tid && i < meta.threads.tid.length; i++) {
		const slice = meta.threads.tid[i] === +tid ? await sliceAt(i, nanoseconds(at), false) : null;
		if (slice)
			return choose(slice);
	}
}

// Exactly: a fraction of a double is not.
function nanoseconds(text) {
	const [whole, part = ''] = text.split('.');
	return +whole * 1e9 + +part.slice(0, 9).padEnd(9, '0');
}
