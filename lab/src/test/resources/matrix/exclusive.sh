# A node for oneself, and all of its memory.
sbatch --wait -t 5 --exclusive -o out.txt --wrap 'echo "cpus $SLURM_JOB_CPUS_PER_NODE"'
sbatch --wait -t 5 --mem=0 --exclusive -o mem.txt --wrap 'scontrol show job $SLURM_JOB_ID | tr " " "\n" | grep -E "^(MinMemoryNode|NumCPUs)="'
cat out.txt mem.txt
