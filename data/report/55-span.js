// SPDX-License-Identifier: BSD-2-Clause
// What threads did in a chosen span of time: sums by state and reason, of the chosen thread or of all that have lanes, from exact
// slices. Never longer at a time than a part of a frame.

const SLICE_MS = 6, SUMS_LISTED = 40;

let span = null;

function chooseSpan(from, to) {
	const clamp = at => Math.round(Math.min(meta.length, Math.max(0, at)));
	span = to > from ? { from: clamp(from), to: clamp(to) } : null;
	$('sums').hidden = !span;
	redraw();
}

// A sum per state and reason, or null where another span was chosen meanwhile.
async function addUp(mine, thread) {
	const { from, to } = mine, sums = new Map();
	let missing = 0, started = performance.now();
	for (const tile of tiles) {
		if (tile.begin >= to || tile.end <= from)
			continue;
		missing += tile.there ? 0 : tile.slices;
		const data = tile.there ? await askTile(tile) : { count: 0 };
		for (let i = 0; i < data.count; i++) {
			if (i % 1024 === 0 && performance.now() - started > SLICE_MS) {
				await new Promise(requestAnimationFrame);
				started = performance.now();
			}
			const ns = Math.min(data.end[i], to) - Math.max(data.begin[i], from), who = data.thread[i];
			if (ns <= 0 || who < 0 || (thread >= 0 ? who !== thread : rowOfThread[who] < 0 && rowOfProcess[who] < 0))
				continue;
			const key = data.state[i] + 8 * data.reason[i], sum = sums.get(key) || { state: data.state[i], reason: data.reason[i], ns: 0, count: 0 };
			sum.ns += ns;
			sum.count++;
			sums.set(key, sum);
		}
		if (span !== mine)
			return null;
	}
	return { missing, sums: [...sums.values()].sort((a, b) => b.ns - a.ns) };
}

async function showSums() {
	if (!span)
		return;
	const thread = chosen ? chosen.thread : -1, mine = span = { ...span }, box = $('sums');
	const found = await addUp(mine, thread);
	if (!found)
		return;
	const all = found.sums.reduce((ns, sum) => ns + sum.ns, 0);
	const lines = found.sums.slice(0, SUMS_LISTED).map(({ state, reason, ns, count }) => {
		const sum = make('td.n', length(ns)), why = plain(meta.reasons[reason] || '');
		sum.title = ns + ' ns';
		return [STATES[state] + (why ? ' · ' + cut(why, 80) : ''), sum, percent(ns, all), number(count)];
	});
	box.replaceChildren(make('h2', 'Span of ' + length(mine.to - mine.from)), definitions([
		['Of', thread >= 0 ? threadLabel(thread) : 'all threads'], ['From', when(mine.from) + ' s'], ['To', when(mine.to) + ' s']]),
	table(['State', 'Sum', 'Share', 'Slices'], lines));
	box.append(more(found.sums.length, SUMS_LISTED));
	if (found.missing)
		box.append(make('p.warning', `Up to ${number(found.missing)} slices are missing in these sums: they are only in sums of the page (--size)`));
	say(`Sums of ${length(mine.to - mine.from)}: ${lines.slice(0, 5).map(([name, sum]) => name + ' ' + sum.textContent).join(', ')}`);
}
