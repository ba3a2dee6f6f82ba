# What an owner may change of a waiting job, and what of a running one.
job=$(sbatch --parsable -t 10 -H -N 1 -o out.txt --wrap 'echo "nodes $SLURM_JOB_NUM_NODES"; while [ ! -e stop ]; do sleep 0.2; done')
scontrol update jobid="$job" TimeLimit=5 JobName=renamed Nice=10; echo "exit $?"
scontrol update jobid="$job" NumNodes=2-2; echo "exit $?"
echo "$(field "$job" TimeLimit) $(field "$job" JobName) $(field "$job" Nice)"
scontrol release "$job"
until_state "$job" RUNNING
field "$job" NumNodes
scontrol update jobid="$job" TimeLimit=4; echo "exit $?"
field "$job" TimeLimit
scontrol update jobid="$job" TimeLimit=9 2>&1; echo "exit $?"
touch stop
ended "$job"
cat out.txt
