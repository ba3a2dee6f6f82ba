# Cancelled while it waits, while it runs, by name and by state, with a signal that it catches.
job=$(sbatch --parsable -t 5 -H -o /dev/null --wrap true)
scancel "$job"; ended "$job"
# Once its script has begun: before, its batch step may be FAILED, as was seen on a busy machine.
job=$(sbatch --parsable -t 5 -o runs.txt --wrap 'echo runs; sleep 100')
for ((n = 0; n < 300; n++)); do grep -qs runs runs.txt && break; sleep 0.1; done
scancel "$job"; cancelled "$job"; accounted "$job" | cut -d"|" -f1,2
job=$(sbatch --parsable -t 5 -o sig.txt --wrap 'trap "echo caught; exit 0" USR1; echo ready; while :; do sleep 0.2; done')
for ((n = 0; n < 300; n++)); do grep -qs ready sig.txt && break; sleep 0.1; done
scancel --batch --signal=USR1 "$job"; ended "$job"; cat sig.txt
sbatch -t 5 -H -J by-name -o /dev/null --wrap true > /dev/null
scancel --name=by-name --state=PENDING; squeue -h -n by-name | wc -l
scancel 99999999; echo "exit $?"
