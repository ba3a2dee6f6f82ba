# One at a time of a name.
for n in 1 2 3; do sbatch --wait -t 5 -J only-one -d singleton -o "out-$n.txt" --wrap 'mkdir lock || echo overlap; sleep 0.5; rmdir lock; echo done' > /dev/null & done
wait
cat out-*.txt
