# Interrupted twice, a step ends and the command says so.
srun -t 5 sh -c 'echo begun; sleep 60' > out.txt 2> err.txt &
pid=$!
for ((n = 0; n < 300; n++)); do grep -q begun out.txt && break; sleep 0.1; done
kill -INT $pid; sleep 0.3; kill -INT $pid
wait $pid
echo "exit $?"
for ((n = 0; n < 100; n++)); do squeue -h -u "$USER" -n sh -t R,CG,PD | grep -q . || break; sleep 0.2; done
squeue -h -u "$USER" -n sh -t R,CG,PD | wc -l
