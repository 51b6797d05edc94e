# SPDX-License-Identifier: BSD-2-Clause
"""Sensors in Python, over libasterism-sensor:

    from asterism_sensor import Sensor

    order = Sensor("order", "somebody orders", number="u32", price="f64", item="text32")
    if order.watched:                      # where nobody looks, this costs less than the arguments would
        order(number=7, price=9.5, item="tea")
    order.close()                          # a plug-in that goes takes its types with it

`python3 asterism_sensor.py [SECONDS]` raises ten a second.
"""

import ctypes
import ctypes.util
import operator
import os

_NAMES = [os.environ.get("ASTERISM_SENSOR_LIBRARY"), "libasterism-sensor.so.0", ctypes.util.find_library("asterism-sensor")]
_TYPES = {"u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
          "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
          "f64": ctypes.c_double, "boolean": ctypes.c_uint8, "time": ctypes.c_int64, "addr": ctypes.c_uint64}
_TYPES.update({f"text{size}": ctypes.c_char * size for size in (8, 16, 32, 64, 128, 256)})


class _Field(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("type", "name", "unit", "documentation")]


def _load():
    for name in filter(None, _NAMES):
        try:
            return ctypes.CDLL(name, use_errno=True)
        except OSError:
            continue
    raise ImportError("libasterism-sensor is not installed (or set ASTERISM_SENSOR_LIBRARY)")


_library = _load()
_library.asterism_sensor_register.restype = ctypes.c_void_p
_library.asterism_sensor_register.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_Field), ctypes.c_size_t]
_library.asterism_sensor_unregister.argtypes = [ctypes.c_void_p]
_library.asterism_sensor_is_watched.argtypes = [ctypes.c_void_p]
_library.asterism_sensor_log.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


def _fit(kind, value):
    """The value as the field has it. A text that is too long is cut, as everywhere; what fits in no way is an error."""
    if kind.startswith("text"):
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"a text is needed, not {value!r}")
        room = int(kind[4:]) - 1
        cut = (value.encode() if isinstance(value, str) else value)[:room]
        return cut.decode(errors="ignore").encode() if isinstance(value, str) else cut
    if kind == "f64":
        return float(value)
    if kind == "boolean":
        return bool(value)
    number = operator.index(value)
    if _TYPES[kind](number).value != number:
        raise OverflowError(f"{number} does not fit into {kind}")
    return number


class Sensor:
    """A type of events: its name, what it means, and its fields, NAME="TYPE" or NAME=("TYPE", "unit", "meaning").

    An event has all fields, by name. What is wrong with them is an error whether anybody looks or not; texts are cut to
    what their field holds. After close() nothing can be raised.
    """

    def __init__(self, name, doc="", **fields):
        described = {key: (value, "", "") if isinstance(value, str) else value for key, value in fields.items()}
        for key, (kind, _, _) in described.items():
            if kind not in _TYPES:
                raise ValueError(f"sensor {name}: {key} is of no type {kind!r}; there are {', '.join(_TYPES)}")
        members = [(key, _TYPES[kind]) for key, (kind, _, _) in described.items()]
        self._event = type(name, (ctypes.Structure,), {"_fields_": members})
        self._name, self._kinds = name, {key: kind for key, (kind, _, _) in described.items()}
        told = (_Field * len(described))(*(_Field(kind.encode(), key.encode(), unit.encode(), says.encode())
                                           for key, (kind, unit, says) in described.items()))
        self._sensor = _library.asterism_sensor_register(name.encode(), doc.encode(), told, len(described))
        if not self._sensor:
            raise OSError(ctypes.get_errno(), f"{os.strerror(ctypes.get_errno())}: sensor {name}")

    def close(self):
        """No more of it will come."""
        sensor, self._sensor = self._sensor, None
        if sensor:
            _library.asterism_sensor_unregister(sensor)

    @property
    def watched(self):
        """Whether somebody looks."""
        return bool(self._sensor and _library.asterism_sensor_is_watched(self._sensor))

    def _fill(self, values):
        event = self._event()
        for key, kind in self._kinds.items():
            try:
                setattr(event, key, _fit(kind, values[key]))
            except (TypeError, ValueError, OverflowError) as error:
                raise type(error)(f"sensor {self._name}: {key}: {error}") from None
        return event

    def __call__(self, **values):
        if not self._sensor:
            raise ValueError(f"sensor {self._name} is closed")
        if values.keys() != self._kinds.keys():
            wrong = ", ".join(sorted(values.keys() ^ self._kinds.keys()))
            raise TypeError(f"sensor {self._name} has the fields {', '.join(self._kinds)}: {wrong} unknown or missing")
        event = self._fill(values)
        if not self.watched:
            return
        _library.asterism_sensor_log(self._sensor, ctypes.byref(event), ctypes.sizeof(event))


if __name__ == "__main__":
    import sys
    import time

    order = Sensor("order", "somebody orders", number=("u32", "", "counted from 1"), price="f64", item="text32")
    until = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 60)
    number = 0
    while time.monotonic() < until:
        number += 1
        order(number=number, price=number * 1.25, item=("tea", "coffee")[number % 2])
        time.sleep(0.1)
