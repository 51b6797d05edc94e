# SPDX-License-Identifier: BSD-2-Clause
"""Writes a CTF trace as LTTng's kernel tracer (or perf) would, through libbabeltrace2's own writer: play.py FOLDER [SCENE]."""

import gc
import sys

import bt2

OFFSET = bt2.ClockClassOffset(1700000000, 123)
END = 3000000
WHO = {"vpid": 10, "vtid": 11, "procname": "cat"}

# Name: fields with their types.
CLASSES = {
    "sched_switch": {"prev_comm": "text", "prev_tid": "i32", "prev_prio": "i32", "prev_state": "i64",
                     "next_comm": "text", "next_tid": "i32", "next_prio": "i32"},
    "sched_process_fork": {"parent_comm": "text", "parent_tid": "i32", "parent_pid": "i32", "child_comm": "text",
                           "child_tid": "i32", "child_pid": "i32"},
    "syscall_entry_openat": {"dfd": "i32", "filename": "text", "flags": "i32", "mode": "u16"},
    "syscall_exit_openat": {"ret": "i64"},
    "lttng_statedump_process_state": {"tid": "i32", "pid": "i32"},
    "sched:sched_process_exec": {"perf_tid": "i32", "perf_pid": "i32", "filename": "text", "pid": "i32", "old_pid": "i32"},
    "sched:sched_waking": {"perf_tid": "i32", "perf_pid": "i32", "comm": "text", "pid": "i32", "prio": "i32",
                           "target_cpu": "i32"},
    "syscalls:sys_enter_openat": {"perf_tid": "i32", "perf_pid": "i32", "dfd": "i32", "filename": "i64", "flags": "i32",
                                  "mode": "i32"},
    "my:thing": {"tid": "i32", "x": "real", "s": "text"},
}

# What happens: (ts, processor, event, fields), ("lost", begin, end, processor, count).
BASIC = [
    (200, 3, "sched_switch", {"prev_comm": "a", "prev_tid": 5, "prev_prio": 120, "prev_state": 1, "next_comm": "cat",
                              "next_tid": 11, "next_prio": 100}),
    (300, 3, "syscall_entry_openat", {"dfd": -100, "filename": "/etc/passwd", "flags": 64, "mode": 0}),
    (2000300, 3, "syscall_exit_openat", {"ret": -2}),
    (2000400, 3, "my:thing", {"tid": 7, "x": 1.5, "s": "hello"}),
    (2000500, 3, "sched_process_fork", {"parent_comm": "cat", "parent_tid": 11, "parent_pid": 10, "child_comm": "cat",
                                        "child_tid": 31, "child_pid": 30}),
]


def thing(ts, tid, text, cpu=0):
    return (ts, cpu, "my:thing", {"tid": tid, "x": 0.0, "s": text})


# begin/end pairs of four values of tid: before the loss, across it, after it, and within its time on another processor.
LOSSY = [thing(100, 1, "begin"), thing(110, 1, "end"), thing(120, 2, "begin"), ("lost", 200, 315, 0, 7),
         thing(210, 4, "begin", 1), thing(220, 4, "end", 1), thing(310, 2, "end"), thing(320, 3, "begin"),
         thing(330, 3, "end")]

# Without contexts; the state dump and the switch say who runs.
BARE = [(100, 1, "lttng_statedump_process_state", {"tid": 11, "pid": 10})] + BASIC

# perf: no contexts, who it was in every event, and tracepoints under their full names with fields called as the kernel does.
PERF = [(300, 1, "sched:sched_process_exec", {"perf_tid": 11, "perf_pid": 10, "filename": "/bin/cat", "pid": 99, "old_pid": 11})]

# What a name or a sort of field that is not ours leaves without a value.
NAMED = [(300, 1, "sched:sched_waking", {"perf_tid": 11, "perf_pid": 10, "comm": "sh", "pid": 21, "prio": 120,
                                         "target_cpu": 2}),
         (400, 1, "syscalls:sys_enter_openat", {"perf_tid": 11, "perf_pid": 10, "dfd": -100, "filename": 4096, "flags": 0,
                                                "mode": 0})]

SCENES = {"named": (NAMED, None), "perf": (PERF, None), "basic": (BASIC, WHO), "bare": (BARE, None), "lossy": (LOSSY, WHO)}


def field_class(trace_class, kind):
    return {"i32": lambda: trace_class.create_signed_integer_field_class(32),
            "i64": lambda: trace_class.create_signed_integer_field_class(64),
            "u16": lambda: trace_class.create_unsigned_integer_field_class(16),
            "real": trace_class.create_double_precision_real_field_class,
            "text": trace_class.create_string_field_class}[kind]()


def structure(trace_class, fields):
    made = trace_class.create_structure_field_class()
    for name, kind in fields.items():
        made.append_member(name, field_class(trace_class, kind))
    return made


class Messages(bt2._UserMessageIterator):
    def __init__(self, config, port):
        self.classes, stream, cpu, scene, self.who = port.user_data
        self.stream, self.messages = stream, [self._create_stream_beginning_message(stream)]
        self.closes = END
        self.packet(50, cpu)
        for step in scene:
            if step[0] == "lost" and step[3] == cpu:
                # CTF counts up to the end of a packet: the loss lasts until the one after it ends.
                self.messages.append(self._create_packet_end_message(self.open, step[1]))
                self.messages.append(self._create_discarded_events_message(stream, step[4], step[1], step[2]))
                self.packet(step[1], cpu)
                self.closes = step[2]
            elif step[0] != "lost" and step[1] == cpu:
                if step[0] > self.closes:
                    self.messages.append(self._create_packet_end_message(self.open, self.closes))
                    self.packet(self.closes, cpu)
                    self.closes = END
                self.event(*step)
        self.messages.append(self._create_packet_end_message(self.open, END))
        self.messages.append(self._create_stream_end_message(stream))
        self.at = iter(self.messages)

    def packet(self, ts, cpu):
        self.open = self.stream.create_packet()
        self.open.context_field["cpu_id"] = cpu
        self.messages.append(self._create_packet_beginning_message(self.open, ts))

    def event(self, ts, _, name, fields):
        message = self._create_event_message(self.classes[name], self.open, default_clock_snapshot=ts)
        for field, value in (self.who or {}).items():
            message.event.common_context_field[field] = value
        for field, value in fields.items():
            message.event.payload_field[field] = value
        self.messages.append(message)

    def __next__(self):
        return next(self.at)


class Player(bt2._UserSourceComponent, message_iterator_class=Messages):
    def __init__(self, config, params, scene):
        steps, who = scene
        made = self._create_trace_class()
        clock = self._create_clock_class(name="monotonic", frequency=1000000000, offset=OFFSET)
        packet = made.create_structure_field_class()
        packet.append_member("cpu_id", made.create_unsigned_integer_field_class(32))
        context = structure(made, {"vpid": "i32", "vtid": "i32", "procname": "text"}) if who else None
        streams = made.create_stream_class(
            default_clock_class=clock, supports_packets=True, packets_have_beginning_default_clock_snapshot=True,
            packets_have_end_default_clock_snapshot=True, packet_context_field_class=packet,
            event_common_context_field_class=context, supports_discarded_events=True,
            discarded_events_have_default_clock_snapshots=True)
        classes = {name: streams.create_event_class(name=name, payload_field_class=structure(made, fields))
                   for name, fields in CLASSES.items()}
        trace = made()
        for cpu in sorted({step[3] if step[0] == "lost" else step[1] for step in steps}):
            self._add_output_port(f"cpu{cpu}", (classes, trace.create_stream(streams), cpu, steps, who))


def main():
    graph = bt2.Graph()
    source = graph.add_component(Player, "player", obj=SCENES[sys.argv[2] if len(sys.argv) > 2 else "basic"])
    muxer = graph.add_component(bt2.find_plugin("utils").filter_component_classes["muxer"], "muxer")
    sink = graph.add_component(bt2.find_plugin("ctf").sink_component_classes["fs"], "sink",
                               {"path": sys.argv[1], "assume-single-trace": True, "quiet": True})
    for number, port in enumerate(source.output_ports.values()):
        graph.connect_ports(port, muxer.input_ports[f"in{number}"])
    graph.connect_ports(muxer.output_ports["out"], sink.input_ports["in"])
    graph.run()


main()
gc.collect()  # the writer finishes its files when it goes
