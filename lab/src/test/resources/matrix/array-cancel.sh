# One task of an array, then the rest.
job=$(sbatch --parsable -t 5 -a 1-3 -H -o /dev/null --wrap true)
squeue -h -r -o '%t %r' -j "$job" | sort
scancel "${job}_2"
squeue -h -r -o '%t' -j "$job" | sort
scancel "$job"
ended "${job}_1"
ended "${job}_2"
