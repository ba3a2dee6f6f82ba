# What a job gets by what it asks: CPUs of a task, tasks of a node, tasks without a node count, memory.
shape='echo "nodes $SLURM_JOB_NUM_NODES tasks ${SLURM_NTASKS:-none} per node $SLURM_TASKS_PER_NODE cpus $SLURM_JOB_CPUS_PER_NODE memory ${SLURM_MEM_PER_NODE:-none} ${SLURM_MEM_PER_CPU:-none}"'
n=0
for ask in "-n 1" "-c 2" "-N 1 -n 2" "-N 2" "-N 2 -n 4" "-N 2 -n 2 -c 2" "--mem=300" "-N 1 -n 2 --mem-per-cpu=150"; do
    n=$((n + 1))
    sbatch --wait -t 5 --mem-per-cpu=100 -o "out-$n.txt" $ask --wrap "$shape" > /dev/null &
done
wait
for ((i = 1; i <= n; i++)); do cat "out-$i.txt"; done
# Without a node count Slurm takes what is free: tasks and CPUs in all are as asked.
n=0
for ask in "-n 4" "-n 2 -c 2" "-N 1-2 -n 3"; do
    n=$((n + 1))
    sbatch --wait -t 5 --mem-per-cpu=100 -o "free-$n.txt" $ask --wrap 'echo "tasks $SLURM_NTASKS"; srun true; echo "exit $?"' > /dev/null
    cat "free-$n.txt"
done
