"""Asks as often as its first argument says, or reports if the second one is "report"; prints the last answer, and the median and the
longest call in microseconds. If it is "fork" two processes ask after half of the calls, and the first one prints."""

import os
import sys
import time

import tailback

tailback.PAUSE_S = tailback._asking.pause_s = tailback._reporting.pause_s = 0.0
calls, mode, child = int(sys.argv[1]), "".join(sys.argv[2:]), None
took = []
answer = tailback._UNKNOWN
for call in range(calls):
    if mode == "fork" and call == calls // 2:
        child = os.fork()
    start = time.perf_counter()
    if mode == "report":
        tailback.progress("steps", call + 1)
    else:
        answer = tailback.contention()
    took.append((time.perf_counter() - start) * 1e6)
if child == 0:
    os._exit(0)
if child:
    os.waitpid(child, 0)
took.sort()
state = {"clear": 0, "contended": 3, "not_judged": 4}[answer.state]
print(state, -1 if answer.lost_s is None else answer.lost_s, took[len(took) // 2], took[-1])
