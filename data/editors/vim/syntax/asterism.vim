" Vim syntax file: rules and catalogs of asterism. Written by tools/make-highlighting, do not edit.
if exists("b:current_syntax")
  finish
endif
syntax case match
syntax keyword asterismKeyword ABSENT AFTER AGGREGATE AND AS ASYNCHRONOUS AVG BY CALL COPY COUNT DELTA DESCRIPTION DISCARD DO DROP EMIT END ENTRY EVENT EVENTS EVERY EXCEPT EXIT FROM HISTOGRAM IN KEEP KEY LATEST LIKE LOSS MACHINE MATCH MAX MIN NOT NOTHING ON OR OVER PARAM PATTERN PER PID POOL PROCESS QUANTILES REFUSE REPLACE RETURN RULE SCOPE SEQUENCE SEVERITY SKIPTILLANY SKIPTILLNEXT STATE STAY STRICTPARTITION STRICTSEQUENCE SUM SYNCHRONOUS SYSCALL TAGS TAINT TID TOP TRAIL UNIT VAR WARN WHEN WHERE WITHIN
syntax keyword asterismConstant FALSE TRUE
syntax match asterismType /\(:\s*\)\@<=\(addr\|bool\|f64\|i16\|i32\|i64\|i8\|string\|time\|u16\|u32\|u64\|u8\)\>/
syntax match asterismSeverity /\(\<SEVERITY\s\+\)\@<=\(info\|low\|medium\|high\|critical\)\>/
syntax match asterismAction /\(\<CALL\s\+\)\@<=\(Ask\|BoostThreadPriority\|Continue\|Count\|Exec\|Freeze\|Histogram\|Kill\|Message\|SetThreadPriority\|ShareCpu\|Signal\|Snapshot\|Stack\|StackOf\|Stop\|Thaw\|Veto\)\>/
syntax match asterismNumber /\<\(0[xX]\x\+\|\d\+\(\.\d\+\)\?\([eE][-+]\?\d\+\)\?\(GiB\|KiB\|MiB\|min\|ms\|ns\|us\|h\|s\)\?\)\>/
syntax match asterismEscape /\\\(x\x\{1,2}\|\o\{1,3}\|.\)/ contained
syntax region asterismString start=/"/ skip=/\\./ end=/"/ oneline contains=asterismEscape
syntax match asterismComment "//.*$" contains=@Spell
syntax match asterismComment "^\s*#.*$" contains=@Spell
syntax region asterismComment start="/\*" end="\*/" contains=@Spell
highlight default link asterismKeyword Keyword
highlight default link asterismConstant Boolean
highlight default link asterismType Type
highlight default link asterismSeverity Constant
highlight default link asterismAction Function
highlight default link asterismNumber Number
highlight default link asterismEscape SpecialChar
highlight default link asterismString String
highlight default link asterismComment Comment
let b:current_syntax = "asterism"
