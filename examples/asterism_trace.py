# SPDX-License-Identifier: BSD-2-Clause
"""Traces in Python, over libasterism:

    from asterism_trace import Loss, Trace

    with Trace(["trace"], events="sched_*") as trace:
        for item in trace:                      # an Event, or a Loss where events are missing
            if not isinstance(item, Loss):
                print(item.time_ns, item.cpu, item.tid, item.type, item["next_comm"], item.text("prev_state"))

An event can be asked for its fields until the next one comes. What is damaged is an OSError; going on is fine.
"""

import ctypes
import ctypes.util
import errno
import os

_NAMES = [os.environ.get("ASTERISM_LIBRARY"), "libasterism.so.0", ctypes.util.find_library("asterism")]
_END, _EVENT = 0, 1
_text, _size, _word = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64


class _Options(ctypes.Structure):
    _fields_ = [("size", _size), ("events", _text), ("catalog", _text), ("from_ns", _word), ("to_ns", _word),
                ("on_clock", ctypes.c_int), *((name, ctypes.POINTER(ctypes.c_uint32)) for name in ("pids", "tids", "cpus")),
                *((name, _size) for name in ("pid_count", "tid_count", "cpu_count"))]


class _Event(ctypes.Structure):
    _fields_ = [("size", _size), ("type", _text), ("name", _text), ("seq", _word), ("time_ns", _word),
                *((name, ctypes.c_uint32) for name in ("cpu", "pid", "tid")), ("comm", _text), ("field_count", _size)]


class _Loss(ctypes.Structure):
    _fields_ = [("size", _size), ("count", _word), ("from_ns", _word), ("until_ns", _word)]


class _Any(ctypes.Union):
    _fields_ = [("i64", ctypes.c_int64), ("u64", _word), ("f64", ctypes.c_double), ("boolean", ctypes.c_int), ("string", _text)]


class _Value(ctypes.Structure):
    _fields_ = [("name", _text), ("kind", ctypes.c_int), ("value", _Any)]


class _Message(ctypes.Structure):
    _fields_ = [("severity", ctypes.c_int), ("file", _text), *((name, ctypes.c_uint32) for name in ("line", "column", "length")),
                ("offset", _word), ("source", _text), ("text", _text), ("hint", _text)]


_MEMBERS = {1: "i64", 2: "u64", 3: "f64", 4: "boolean", 5: "string"}


def _load():
    for name in filter(None, _NAMES):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError("libasterism is not installed (or set ASTERISM_LIBRARY)")


_library = _load()
for _name in ("asterism_diag_new", "asterism_trace_diag"):
    getattr(_library, _name).restype = ctypes.c_void_p
_library.asterism_diag_get.restype = ctypes.POINTER(_Message)


def _size_of(structure):
    structure.size = ctypes.sizeof(structure)
    return structure


def _raise(result, diag):
    message = _library.asterism_diag_get(ctypes.c_void_p(diag), _size(0))
    raise OSError(-result, message.contents.text.decode(errors="replace") if message else os.strerror(-result),
                  message.contents.file.decode(errors="replace") if message and message.contents.file else None)


def _list(items):
    return (ctypes.c_uint32 * len(items))(*items), len(items)


class Loss:
    """So many events are missing, raised between two times (0: not known)."""

    def __init__(self, loss):
        self.count, self.from_ns, self.until_ns = loss.count, loss.from_ns, loss.until_ns


class Event:
    """An event: type, seq, time_ns, cpu, pid, tid, comm; its fields by name or by index."""

    def __init__(self, trace, event):
        self._trace = trace
        self.type, self.comm = event.type.decode(errors="replace"), event.comm.decode(errors="replace")
        self.seq, self.time_ns, self.cpu, self.pid, self.tid = event.seq, event.time_ns, event.cpu, event.pid, event.tid
        self._count = event.field_count

    def __len__(self):
        return self._count

    def __getitem__(self, field):
        """The value: int, float, bool, bytes; None where a text could not be read."""
        value = _Value()
        if isinstance(field, int):
            result = _library.asterism_trace_field(self._trace, _size(field), ctypes.byref(value))
        else:
            result = _library.asterism_trace_field_find(self._trace, field.encode(), ctypes.byref(value))
        if result == -errno.ENODATA:
            return None
        if result < 0:
            raise KeyError(field)
        found = getattr(value.value, _MEMBERS[value.kind])
        return bool(found) if value.kind == 4 else found

    def text(self, field):
        """The same as people read it: a system call's name, flags."""
        index = field if isinstance(field, int) else _library.asterism_trace_field_index(self._trace, field.encode())
        length = _library.asterism_trace_field_text(self._trace, _size(index), None, _size(0)) if index >= 0 else index
        if length == -errno.ENODATA:
            return None
        if length < 0:
            raise KeyError(field)
        buffer = ctypes.create_string_buffer(length + 1)
        _library.asterism_trace_field_text(self._trace, _size(index), buffer, _size(length + 1))
        return buffer.value.decode(errors="replace")

    def json(self):
        """The event as `asterism dump -f json` has it."""
        length = _library.asterism_trace_json(self._trace, None, _size(0))
        buffer = ctypes.create_string_buffer(length + 1)
        _library.asterism_trace_json(self._trace, buffer, _size(length + 1))
        return buffer.value.decode()


class Trace:
    """Traces, merged by time. events: names with '*'; from_ns, to_ns after the first event; pids, tids, cpus: lists."""

    def __init__(self, paths, events=None, catalog=None, from_ns=0, to_ns=0, pids=(), tids=(), cpus=()):
        options = _size_of(_Options(events=events and events.encode(), catalog=catalog and os.fsencode(catalog),
                                    from_ns=from_ns, to_ns=to_ns))
        (options.pids, options.pid_count), (options.tids, options.tid_count) = _list(pids), _list(tids)
        options.cpus, options.cpu_count = _list(cpus)
        names, diag, made = (_text * len(paths))(*map(os.fsencode, paths)), _library.asterism_diag_new(), ctypes.c_void_p()
        result = _library.asterism_trace_open(names, _size(len(paths)), ctypes.byref(options), ctypes.c_void_p(diag),
                                              ctypes.byref(made))
        self._trace = made
        try:
            if result < 0:
                _raise(result, diag)
        finally:
            _library.asterism_diag_free(ctypes.c_void_p(diag))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        trace, self._trace = self._trace, ctypes.c_void_p()
        _library.asterism_trace_free(trace)

    def __iter__(self):
        return self

    def __next__(self):
        item = _library.asterism_trace_next(self._trace)
        if item < 0:
            _raise(item, _library.asterism_trace_diag(self._trace))
        if item == _END:
            raise StopIteration
        if item == _EVENT:
            event = _size_of(_Event())
            _library.asterism_trace_event(self._trace, ctypes.byref(event))
            return Event(self._trace, event)
        loss = _size_of(_Loss())
        _library.asterism_trace_loss(self._trace, ctypes.byref(loss))
        return Loss(loss)
