// SPDX-License-Identifier: BSD-2-Clause
// How times, lengths and names are written. Texts of others go through make() and text nodes, never through HTML.

const $ = id => document.getElementById(id);

// make('td.n', 'text', child, ...)
function make(what, ...parts) {
	const [tag, ...classes] = what.split('.');
	const made = document.createElement(tag);
	if (classes.length)
		made.className = classes.join(' ');
	made.append(...parts);
	return made;
}

// A patch of colour, as legends have it.
function swatch(colour) {
	const made = make('i');
	made.style.background = colour;
	return made;
}

const say = text => $('said').textContent = text;
const more = (count, listed) => count > listed ? `and ${number(count - listed)} more` : '';
const button = (act, ...parts) => Object.assign(make('button', ...parts), { type: 'button', onclick: act });

const BIDI = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
// What directs text, or is not seen, is written as what it is.
const plain = (text, length = Infinity) => cut(text.replace(BIDI, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')), length);
const cut = (text, length) => text.length > length ? text.slice(0, length - 1) + '…' : text;

const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

// Three digits that count: 12.3 ms.
function length(ns) {
	if (!ns)
		return '0';
	const [size, unit] = UNITS.find(([size]) => Math.abs(ns) >= size) || UNITS[3];
	const n = ns / size;
	return (size === 1 ? Math.round(n * 10) / 10 : n.toFixed(n >= 100 ? 0 : n >= 10 ? 1 : 2)) + '\u202f' + unit;
}

// From the beginning of the trace, to the nanosecond.
function when(ns) {
	const whole = Math.floor(ns), s = Math.floor(whole / 1e9);
	return s + '.' + String(whole - s * 1e9).padStart(9, '0').replace(/(...)(?=.)/g, '$1\u2009');
}

// The same without thin spaces, for addresses.
const seconds = ns => when(ns).replaceAll('\u2009', '');

// The date, where the trace knows it.
function clock(ns) {
	if (meta.wall === '0')
		return '';
	const at = BigInt(meta.wall) + BigInt(meta.begin) + BigInt(Math.floor(ns));
	return new Date(Number(at / 1000000n)).toISOString().slice(0, 19).replace('T', ' ') + '.' + String(at % 1000000000n).padStart(9, '0');
}

const number = n => n.toLocaleString('en');
const percent = (part, whole) => whole ? (100 * part / whole).toFixed(part && part < whole / 100 ? 2 : 1) + '\u202f%' : '';
