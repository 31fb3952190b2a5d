"""A program that reports its steps, and puts off its checkpoint while it is contended, but not for longer than ten steps."""

import tailback

put_off = 0
for step in range(1, 101):
    # compute(step)
    tailback.progress("steps", step)
    if step % 10 and not put_off:
        continue
    now = tailback.contention()
    if now.state == tailback.CONTENDED and put_off < 10:
        put_off += 1
        continue
    put_off = 0
    print(f"step {step}: checkpoint, lost so far: {now.lost_s or 0:.1f} s")
    # checkpoint(step)
