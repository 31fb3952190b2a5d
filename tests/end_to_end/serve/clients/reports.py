"""Counts ten names, two of them often, and again after the pause between two requests."""

import time

import tailback

tailback.PAUSE_S = 3.0
tailback.progress("steps", 1)
tailback.progress("bytes", 5)
tailback.progress("steps", 2)
for name in ("Not a name", "", "name_that_is_longer_than_32_bytes_", None, ["steps"]):
    tailback.progress(name, 1)
for count in (-1, 2**64, "many", None):
    tailback.progress("steps", count)
for number in range(1, 9):
    tailback.progress(f"n{number}", 2**64 - 1)
time.sleep(3.1)
tailback.progress("steps", 3)
