#!/bin/bash
# follow.sh UNIT: submits job.sh on the project's controller as any user does, and tells by its clock what became of it until its
# node is deleted; then the time itself, some times, for whoever listens to set a clock by.
set -eu
rm -f first uptime unit last
submitted=$(date +%s.%N)
job=$(sbatch --parsable --tmp=32 --output=/dev/null job.sh "$1")
echo "job $job"
until [ -e last ]; do sleep 1; done
until ! sinfo -h -N -o %N | grep -qv '^waiting-for-vm-'; do sleep 0.5; done
gone=$(date +%s.%N)
echo "submit $submitted"
echo "first $(stat -c %.9Y first)"
echo "last $(stat -c %.9Y last)"
echo "read $(stat -c %.9Y uptime)"
echo "uptime $(cut -d ' ' -f 1 uptime)"
echo "unit $(head -n 1 unit)"
echo "devices $(tail -n 1 unit)"
echo "gone $gone"
for _ in 1 2 3 4 5 6; do
    echo "tick $(date +%s.%N)"
    sleep 0.3
done
