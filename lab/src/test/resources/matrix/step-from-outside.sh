# A step into a running job of one's own, from the login.
job=$(sbatch --parsable -t 5 -o /dev/null --wrap 'while [ ! -e stop ]; do sleep 0.2; done')
until_state "$job" RUNNING
srun --jobid="$job" --overlap -n 1 echo inside
touch stop
ended "$job"
