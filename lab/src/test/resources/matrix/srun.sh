# One task, several tasks, several nodes, its input, its exit code.
srun -t 5 echo one
srun -t 5 -n 2 echo two | sort
srun -t 5 -N 2 --ntasks-per-node=1 -l echo node | sort
echo data | srun -t 5 cat
srun -t 5 sh -c 'exit 7'
echo "exit $?"
srun -t 5 /no/such/program 2>&1 | sort
echo "exit ${PIPESTATUS[0]}"
