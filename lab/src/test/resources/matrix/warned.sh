# A signal some time before the limit, that the script catches.
job=$(sbatch --parsable -t 1 --signal=B:USR1@50 -o out.txt --wrap 'trap "echo warned; exit 0" USR1; while :; do sleep 0.2; done')
ended "$job"
cat out.txt
