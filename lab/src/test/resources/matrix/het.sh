# A heterogeneous job of two components: one start, one step over both.
cat > job.sh <<'J'
#!/bin/bash
#SBATCH -t 5 -N 1 -n 1 --output=out.txt
#SBATCH hetjob
#SBATCH -N 2 --ntasks-per-node=1
echo "components $SLURM_HET_SIZE"
srun --het-group=0,1 --label sh -c 'echo part $SLURM_HET_GROUP_ID' 2>&1 | sort
srun --het-group=1 sh -c 'echo second' | sort
J
job=$(sbatch --parsable job.sh)
ended "$job+0"
ended "$job+1"
cat out.txt
accounted "$job" 2
