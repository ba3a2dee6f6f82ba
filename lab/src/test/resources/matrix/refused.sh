# What every Slurm refuses.
for bad in "-p nowhere" "-A nobody" "-t nonsense" "-n 0" "-d afterok:99999999" "--mem=lots" "-a 5-1"; do
    echo "$bad"
    sbatch $bad --wrap true 2>&1; echo "exit $?"
done
sbatch no-such-file 2>&1; echo "exit $?"
printf 'echo no interpreter\n' > bare; sbatch bare 2>&1; echo "exit $?"
