# A file to every node of a job.
echo cargo > cargo.txt
sbatch --wait -t 5 -N 2 --ntasks-per-node=1 -o out.txt --wrap 'sbcast -f cargo.txt /tmp/cargo-$SLURM_JOB_ID; srun sh -c "cat /tmp/cargo-$SLURM_JOB_ID; rm -f /tmp/cargo-$SLURM_JOB_ID"'
sort out.txt
