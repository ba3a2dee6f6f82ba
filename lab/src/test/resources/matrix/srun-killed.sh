# Interrupted twice, a step ends, the command says so, and its job goes. The job has a name of its own: other cases run jobs called sh.
srun -t 5 -J interrupted sh -c 'echo begun; sleep 60' > out.txt 2> err.txt &
pid=$!
for ((n = 0; n < 300; n++)); do grep -qs begun out.txt && break; sleep 0.1; done
kill -INT $pid; sleep 0.3; kill -INT $pid
wait $pid
echo "exit $?"
for ((n = 0; n < 300; n++)); do
    left=$(squeue -h --me -n interrupted -o %T)
    [ -n "$left" ] || break
    sleep 0.2
done
echo "left: $left"
