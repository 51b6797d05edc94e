// SPDX-License-Identifier: BSD-2-Clause
// What is said about the chosen slice, what is found, matches, losses, and the tables that stand for the canvas.

const LISTED = 500;

const wakerText = slice => slice.waker === INTERRUPT ? 'an interrupt' : slice.waker === TIMER ? 'its timer' : slice.waker >= 0 ? threadLabel(slice.waker) : '';

function facts(slice) {
	const reason = meta.reasons[slice.reason], list = [['State', STATES[slice.state]]];
	if (slice.reason && reason)
		list.push([slice.state === RUNNING ? 'In' : slice.state === READY ? 'Because' : 'For', plain(reason)]);
	list.push(['Lasts', length(slice.end - slice.begin)], ['From', when(slice.begin) + ' s'], ['To', when(slice.end) + ' s']);
	if (slice.cpu >= 0)
		list.push(['CPU', slice.cpu]);
	if (slice.prio !== NO_PRIO)
		list.push(['Priority', slice.prio < 100 ? 'real time ' + (99 - slice.prio) : 'nice ' + (slice.prio - 120)]);
	list.push(['Woken by', wakerText(slice)]);
	return list.filter(pair => pair[1] !== '');
}

function definitions(list) {
	const made = make('dl');
	for (const [name, value] of list)
		made.append(...value === '' ? [] : [make('dt', name), make('dd', value)]);
	return made;
}

let nothing = null; // what the panel says at first

function showChosen() {
	const box = $('chosen');
	nothing ??= [...box.childNodes];
	box.replaceChildren(...chosen ? [] : nothing);
	if (!chosen)
		return;
	const thread = chosen.thread, threads = meta.threads, list = facts(chosen);
	const date = clock(chosen.begin);
	if (date)
		list.push(['Date', date]);
	box.append(make('h2', threadLabel(thread)), definitions(list));
	const buttons = make('p');
	for (const [text, act] of [['◂ Before', () => neighbour(-1)], ['After ▸', () => neighbour(1)], ['Follow the waker', follow], ['Zoom to it', zoomToChosen]])
		buttons.append(button(act, text), ' ');
	box.append(buttons);
	const [running, ready, blocked, runs] = threads.sums.slice(4 * thread, 4 * thread + 4), all = running + ready + blocked;
	box.append(make('h2', 'Its thread'), definitions([
		['Process', processName(processes.get(processKey(thread)) ?? { pid: threads.pid[thread], threads: [thread] })],
		['Name', threads.function[thread] && plain(threads.comm[thread])], ['Command line', plain(threads.arguments[thread])],
		['Running', `${length(running)} (${percent(running, all)}), ${number(runs)} times`],
		['Ready', `${length(ready)} (${percent(ready, all)})`], ['Waiting', `${length(blocked)} (${percent(blocked, all)})`]]));
	showStacks(chosen, box);
	const path = make('ol');
	path.id = 'path';
	box.append(make('h2', 'How it came to that'), path);
	showPath(chosen, path);
	say(`${threadLabel(thread)}: ${list.map(pair => pair.join(' ')).join(', ')}`);
}

// Backwards from a slice: what the thread did before, and where it waited, what the one did that woke it.
async function showPath(slice, list) {
	for (let hops = 0; hops < 24 && slice && list.isConnected; hops++) {
		const here = slice, go = button(() => choose(here, true), `${threadLabel(slice.thread)} ${STATES[slice.state]}`);
		const reason = slice.reason ? plain(meta.reasons[slice.reason] || '') : '';
		if (reason)
			go.append(' · ' + cut(reason, 80));
		list.append(make('li', swatch(colours.states[slice.state]), go, make('span.faint', length(slice.end - slice.begin))));
		const hop = await cameFrom(slice);
		if (hop?.by)
			list.append(make('li', make('i'), make('span.faint', 'woken by ' + hop.by), ''));
		slice = hop?.slice;
	}
}

async function cameFrom(slice) {
	if (slice.state === UNKNOWN || slice.state === OTHERS)
		return null;
	// Who ended a wait is known to what comes behind it.
	const after = slice.state === BLOCKED ? await sliceAt(slice.thread, slice.end, false) : slice;
	if (after?.waker >= 0) {
		const found = await sliceAt(after.waker, after.begin, true);
		return found && { slice: found, at: after.begin, waker: after.waker, thread: slice.thread };
	}
	if (after?.waker === INTERRUPT)
		return { by: wakerText(after) };
	// A sleep that its timer has ended leads back to what the thread did itself.
	const before = await sliceAt(slice.thread, slice.begin, true);
	return before && { slice: before, by: after?.waker === TIMER && slice.state === READY && wakerText(after) };
}

function showTip(event, slice, list = slice && facts(slice)) {
	const tip = $('tip');
	tipOf = slice;
	tip.hidden = !slice;
	if (!slice)
		return;
	tip.replaceChildren(make('b', threadLabel(slice.thread)), ...list.map(pair => make('div', pair.join(' '))));
	tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
	tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + 'px';
	if (slice.state === BLOCKED)
		sliceAt(slice.thread, slice.end, false).then(next => {
			const by = tipOf === slice && next && wakerText(next);
			if (by)
				tip.append(make('div', 'Woken by ' + by));
		});
}

let tipOf = null;
const showWake = (event, slice) => showTip(event, slice, [['Woken by', wakerText(slice)], ['At', when(slice.begin) + ' s'], ['Then ready for', length(slice.end - slice.begin)]]);

function listMatches() {
	$('hits').hidden = !meta.matches.length;
	$('hits-count').textContent = number(meta.matches.length);
	const list = $('hits-list');
	meta.matches.slice(0, LISTED).forEach(([at, thread, rule, text], i) => {
		list.append(make('li', button(() => goToMatch(i), make('span.rule', plain(rule, 60)), ' ', make('span.when', when(at)), thread >= 0 ? ' ' + threadLabel(thread) : '', text ? ' ' + plain(text, 200) : '')));
	});
	if (meta.matches.length > LISTED)
		list.append(make('li', more(meta.matches.length, LISTED) + ': n and p go on'));
	if (meta.matchesLeftOut)
		list.append(make('li', `${number(meta.matchesLeftOut)} more are not on this page: --from and --to choose a part`));
}

function listLosses() {
	$('losses').hidden = !meta.losses.length;
	for (const [begin, end, events] of meta.losses.slice(0, LISTED)) {
		const room = end - begin || 1e6;
		$('losses-list').append(make('li', button(() => show(begin - room, end + room), `${events ? number(events) : 'unknown'} events `, make('span.when', `${when(begin)} – ${when(end)}`))));
	}
	$('losses-list').append(more(meta.losses.length, LISTED));
}

// Threads, rules and times that the words mean.
function search(text) {
	const words = text.toLowerCase().trim(), found = [];
	if (!words)
		return found;
	if (/^\d+(\.\d+)?s?$/.test(words) && words.includes('.'))
		found.push({ text: 'Time ' + when(parseFloat(words) * 1e9), go: () => showAround(parseFloat(words) * 1e9, 20e6) });
	const { tid, pid, comm, function: functions } = meta.threads;
	for (let i = 0; i < tid.length && found.length < 60; i++) {
		if (!processes.has(processKey(i)))
			continue;
		if (String(tid[i]) === words || String(pid[i]) === words || comm[i].toLowerCase().includes(words) || functions[i].toLowerCase().includes(words))
			found.push({ text: threadLabel(i), go: () => goToThread(i) });
	}
	for (let i = 0; i < meta.matches.length && found.length < 80; i++) {
		if (meta.matches[i][2].toLowerCase().includes(words))
			found.push({ text: `Match ${plain(meta.matches[i][2])} ${when(meta.matches[i][0])}`, go: () => goToMatch(i) });
	}
	return found;
}

function showFound() {
	const list = $('found'), found = search($('query').value);
	list.replaceChildren(...found.map(({ text, go }) => make('li', button(() => {
		list.hidden = true;
		go();
		$('scroll').focus();
	}, cut(text, 120)))));
	if (!found.length)
		list.append(make('li', 'Nothing of that name'));
	list.hidden = !$('query').value;
	return found;
}

function table(heads, lines) {
	const body = make('tbody'), isNumber = value => typeof value === 'string' && /^[\d.,]+($|\u202f)/.test(value);
	for (const line of lines)
		body.append(make('tr', ...line.map(value => value.nodeName ? value : make(isNumber(value) ? 'td.n' : 'td', value))));
	return make('table', make('thead', make('tr', ...heads.map(head => make('th', head)))), body);
}

// Made when somebody opens them.
function showTables() {
	const body = $('tables-body');
	if (body.firstChild)
		return;
	const threads = [...processes.values()].flatMap(process => process.threads).sort((a, b) => threadRunning(b) - threadRunning(a));
	body.append(make('h2', 'Threads'), table(['Thread', 'Process', 'Running', 'Ready', 'Waiting', 'Runs'], threads.slice(0, 5000).map(i => [threadLabel(i), processName(processes.get(processKey(i))), ...meta.threads.sums.slice(4 * i, 4 * i + 3).map(length), number(meta.threads.sums[4 * i + 3])])));
	body.append(more(threads.length, 5000));
}
