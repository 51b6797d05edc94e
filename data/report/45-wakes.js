// SPDX-License-Identifier: BSD-2-Clause
// The wake-ups in sight, where they are asked for: an arrow each from who woke to who was woken, of the chosen thread or of all.
// Where there are too many, every second one goes, again and again.

const ARROWS = 500;

let showsWakes = false, arrows = [];

const wakeRow = thread => rowOfThread[thread] >= 0 ? rowOfThread[thread] : rowOfProcess[thread] ?? -1;

// From row to row; what no thread did comes from above.
function drawArrow(context, x, from, to) {
	const y1 = yOf(to) + ROW / 2, y0 = from < 0 ? y1 - ROW : yOf(from) + ROW / 2, side = Math.sign(y1 - y0) * 6;
	context.beginPath();
	context.moveTo(x, y0);
	context.lineTo(x, y1 - side);
	context.stroke();
	context.beginPath();
	context.moveTo(x, y1);
	context.lineTo(x - 4, y1 - side * 1.4);
	context.lineTo(x + 4, y1 - side * 1.4);
	if (from >= 0) {
		context.moveTo(x, y0);
		context.arc(x, y0, 3, 0, 7);
	}
	context.fill();
	return [Math.min(y0, y1), Math.max(y0, y1)];
}

function drawWakes(context, near, first, last) {
	const isSeen = row => row >= first && row <= last;
	let found = 0, step = 1, picked = [];
	arrows = [];
	$('wakes').hidden = !showsWakes;
	if (!showsWakes)
		return;
	for (const { data } of near) {
		for (let i = 0; i < data.count; i++) {
			if (!data.waker[i] || data.begin[i] < view.from || data.begin[i] > view.to)
				continue;
			const thread = data.thread[i], waker = data.waker[i] - 3, from = waker < 0 ? -1 : wakeRow(waker), to = wakeRow(thread);
			if (to < 0 || waker >= 0 && from < 0 || !isSeen(from) && !isSeen(to) || chosen && thread !== chosen.thread && waker !== chosen.thread)
				continue;
			if (found++ % step === 0)
				picked.push({ data, i, waker, from, to });
			if (picked.length > ARROWS) {
				picked = picked.filter((_, n) => n % 2 === 0);
				step *= 2;
			}
		}
	}
	for (const { data, i, waker, from, to } of picked) {
		const x = xOf(data.begin[i]);
		context.strokeStyle = context.fillStyle = waker < 0 ? colours.faint : `rgb(${processes.get(processKey(waker)).colour.join()})`;
		const [top, bottom] = drawArrow(context, x, from, to);
		arrows.push({ x, top, bottom, slice: sliceOf(data, i) });
	}
	const text = `Wake-ups in sight${chosen ? ' of ' + threadLabel(chosen.thread) : ''}: ${number(found)}` + (step > 1 ? `, of which ${picked.length} are drawn: zoom in, or choose a thread` : '')
		+ (binsToo ? '. More are too short for this zoom, or only in sums' : '');
	if ($('wakes').textContent !== text)
		$('wakes').textContent = text;
}

function arrowUnder(event) {
	const { x, y } = spot(event);
	return arrows.find(arrow => Math.abs(arrow.x - x) < 3 && arrow.top <= y && arrow.bottom >= y);
}

function toggleWakes() {
	showsWakes = !showsWakes;
	document.querySelector('[data-do=wakes]').setAttribute('aria-pressed', showsWakes);
	redraw();
}
