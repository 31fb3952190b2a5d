"""Asks as often as its argument says, and prints the last answer, and the median and the longest call in microseconds."""

import sys
import time

import tailback

tailback.PAUSE_S = tailback._pause_s = 0.0
took = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    answer = tailback.contention()
    took.append((time.perf_counter() - start) * 1e6)
took.sort()
state = {"clear": 0, "contended": 3, "not_judged": 4}[answer.state]
print(state, -1 if answer.lost_s is None else answer.lost_s, took[len(took) // 2], took[-1])
