# Steps one after the other and side by side, and what accounting keeps of them.
job=$(sbatch --parsable -t 5 -N 2 -n 4 --mem-per-cpu=100 --job-name=steps -o out.txt --wrap '
srun --job-name=first -n 4 true
srun --job-name=left -N1 -n1 --exact sleep 1 & srun --job-name=right -N1 -n1 --exact sleep 1 & wait
srun --job-name=bad -n 1 -N 1 sh -c "exit 5"; echo "step exit $?"')
ended "$job"
grep -o 'step exit .*' out.txt
accounted "$job"
