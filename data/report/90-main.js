// SPDX-License-Identifier: BSD-2-Clause
// From the data to the first picture.

function showFacts() {
	const parts = [plain(meta.host), clock(0).slice(0, 19), length(meta.length), `${number(meta.events)} events`, `${meta.cpus} CPU${meta.cpus === 1 ? '' : 's'}`, `${number(meta.threads.tid.length)} threads`];
	$('facts').textContent = parts.filter(part => part).join(' · ');
	if (meta.dropped)
		$('facts').textContent += ` · ${number(meta.dropped)} of ${number(meta.slices)} slices are only in sums (--size)`;
	if (meta.bare)
		$('facts').textContent += ' · without programs and command lines (--size)';
}

function showLegend() {
	$('legend').replaceChildren();
	for (const [state, text] of [[RUNNING, 'running'], [READY, 'ready, but not running'], [BLOCKED, 'waiting'], [OTHERS, 'others on the CPU, or not known']])
		$('legend').append(make('li', swatch(colours.states[state]), text));
	$('legend').append(make('li', swatch(colours.mark), 'match, loss'), make('li', 'Lanes of CPUs and processes: a colour per process'));
}

async function main() {
	if (!('DecompressionStream' in self))
		throw new Error('This browser cannot inflate (DecompressionStream): Chrome 103, Firefox 113, Safari 16.4 or later can.');
	await openStore();
	findProcesses();
	layRows();
	chooseColours();
	showFacts();
	showLegend();
	listMatches();
	listLosses();
	listenToMouse();
	listenToKeys();
	clampView(0, meta.length);
	new ResizeObserver(resize).observe($('scroll'));
	resize();
	DARK.onchange = () => {
		chooseColours();
		showLegend();
		if (chosen)
			showChosen();
		redraw();
	};
	addEventListener('hashchange', readAddress);
	await readAddress();
	draw();
	document.documentElement.dataset.ready = performance.now().toFixed(0);
}

main().catch(error => {
	document.querySelector('main').prepend(make('p.warning', 'The timeline cannot be drawn: ' + error.message));
	console.error(error);
});
