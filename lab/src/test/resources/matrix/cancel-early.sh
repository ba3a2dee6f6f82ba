# Cancelled at once after submission, again and again: none runs, none stays.
for n in 1 2 3 4 5 6; do
    job=$(sbatch --parsable -t 5 -J early -o /dev/null --wrap 'sleep 100')
    sleep "0.$((n * 15 % 10))"
    scancel "$job"
    ended "$job" | cut -d' ' -f1
done
squeue -h -n early | wc -l
