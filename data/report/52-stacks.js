// SPDX-License-Identifier: BSD-2-Clause
// Stacks of the chosen slice, which matches of rules with CALL Stack() or StackOf() have left. They are JSON of strangers.

const STACKS = 5;

let stacks = null;

function findStacks() {
	stacks = [];
	for (const [at, thread, rule, text] of meta.matches) {
		try {
			const said = text.includes('"stack":[') ? JSON.parse(text) : {};
			for (const part of [said, ...said.threads ?? []]) {
				const frames = (part.stack ?? []).filter(frame => typeof frame === 'string');
				if (frames.length)
					stacks.push({ at: at + (+part.late || 0), rule, frames: part.stack_end ? [...frames, '... ' + part.stack_end] : frames, isOf: i => part === said ? i === thread : meta.threads.tid[i] === part.tid });
			}
		} catch {} // it is something else
	}
	stacks.sort((a, b) => a.at - b.at);
}

// In the slice; where it has none, the next one of the thread.
function showStacks(slice, box) {
	stacks ?? findStacks();
	const behind = stacks.filter(stack => stack.at >= slice.begin && stack.isOf(slice.thread)), inside = behind.filter(({ at }) => at <= slice.end);
	box.append(make('h2', 'Stacks'));
	for (const { at, rule, frames } of inside.length ? inside.slice(0, STACKS) : behind.slice(0, 1))
		box.append(make('p', `${when(at)} s, ` + (at > slice.end ? length(at - slice.end) + ' behind it, ' : '') + 'by ', make('span.rule', plain(rule, 60))),
			make('ol.stack', ...frames.map(frame => make('li', plain(frame, 300)))));
	box.append(more(inside.length, STACKS));
	if (!behind.length)
		box.append(make('p.faint', stacks.length ? 'None of this thread from here on.' : 'None: rules with CALL Stack() record them (record --rules).'));
}
