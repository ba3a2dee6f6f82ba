# What Slurm tells a job of its shape.
sbatch --wait -t 5 -N 2 --ntasks-per-node=2 --cpus-per-task=1 --mem=200 -o out.txt --wrap '
env | grep -E "^SLURM_(NNODES|NTASKS|JOB_NUM_NODES|TASKS_PER_NODE|JOB_CPUS_PER_NODE|CPUS_PER_TASK|MEM_PER_NODE|NTASKS_PER_NODE|CPUS_ON_NODE|JOB_PARTITION|JOB_NAME|JOB_ACCOUNT|JOB_QOS|JOB_USER|NPROCS|PRIO_PROCESS|NODEID|PROCID|LOCALID|GTIDS)=" | sort
srun --label sh -c "echo \$SLURM_PROCID \$SLURM_LOCALID \$SLURM_NODEID \$SLURM_NTASKS" | sort'
cat out.txt
