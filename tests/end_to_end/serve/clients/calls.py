"""Asks as often as its first argument says, or with a second one reports; prints the last answer, and the median and the longest call in
microseconds."""

import sys
import time

import tailback

tailback.PAUSE_S = tailback._asking.pause_s = tailback._reporting.pause_s = 0.0
took = []
answer = tailback._UNKNOWN
for call in range(int(sys.argv[1])):
    start = time.perf_counter()
    if len(sys.argv) > 2:
        tailback.progress("steps", call + 1)
    else:
        answer = tailback.contention()
    took.append((time.perf_counter() - start) * 1e6)
took.sort()
state = {"clear": 0, "contended": 3, "not_judged": 4}[answer.state]
print(state, -1 if answer.lost_s is None else answer.lost_s, took[len(took) // 2], took[-1])
