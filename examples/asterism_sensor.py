# SPDX-License-Identifier: BSD-2-Clause
"""Sensors in Python, over libasterism-sensor:

    from asterism_sensor import Sensor

    order = Sensor("order", "somebody orders", number="u32", price="f64", item="text32")
    if order.watched:                      # where nobody looks, this costs less than the arguments would
        order(number=7, price=9.5, item="tea")

`python3 asterism_sensor.py [SECONDS]` raises ten a second.
"""

import ctypes
import ctypes.util
import os

_NAMES = [os.environ.get("ASTERISM_SENSOR_LIBRARY"), "libasterism-sensor.so.0", ctypes.util.find_library("asterism-sensor")]
_TYPES = {"u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
          "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
          "f64": ctypes.c_double, "bool": ctypes.c_uint8, "time": ctypes.c_int64, "addr": ctypes.c_uint64}
_TYPES.update({f"text{size}": ctypes.c_char * size for size in (8, 16, 32, 64, 128, 256)})


def _load():
    for name in filter(None, _NAMES):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError("libasterism-sensor is not installed (or set ASTERISM_SENSOR_LIBRARY)")


_library = _load()
_library.asterism_sensor_new.restype = ctypes.c_void_p
_library.asterism_sensor_new.argtypes = [ctypes.c_char_p, ctypes.c_uint32]
_library.asterism_sensor_is_watched.argtypes = [ctypes.c_void_p]
_library.asterism_sensor_write.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32]


def _quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Sensor:
    """A type of events: its name, what it means, and its fields, NAME="TYPE" or NAME=("TYPE", "unit", "meaning")."""

    def __init__(self, name, doc="", **fields):
        described = {key: (value, "", "") if isinstance(value, str) else value for key, value in fields.items()}
        lines = [f"{key}: {kind.replace('text', 'string[') + ']' if kind.startswith('text') else kind}"
                 f" UNIT {_quoted(unit)} {_quoted(says)}" for key, (kind, unit, says) in described.items()]
        members = [(key, _TYPES[kind]) for key, (kind, _, _) in described.items()]
        self._event = type(name, (ctypes.Structure,), {"_fields_": members})
        text = f"EVENT {name} {_quoted(doc)} {{ {', '.join(lines)} }}\n"
        self._sensor = _library.asterism_sensor_new(text.encode(), ctypes.sizeof(self._event))
        self._texts = {key for key, (kind, _, _) in described.items() if kind.startswith("text")}

    @property
    def watched(self):
        """Whether somebody looks."""
        return bool(self._sensor and _library.asterism_sensor_is_watched(self._sensor))

    def __call__(self, **values):
        if not self.watched:
            return
        event = self._event()
        for key, value in values.items():
            if key in self._texts:
                value = str(value).encode()[:getattr(self._event, key).size - 1]
            setattr(event, key, value)
        _library.asterism_sensor_write(self._sensor, ctypes.byref(event), ctypes.sizeof(event))


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
