# An exit code reaches whoever waits, and accounting.
job=$(sbatch --parsable -t 5 -o out.txt --wrap 'echo half; exit 3')
ended "$job"
accounted "$job"
sbatch --wait -t 5 -o /dev/null --wrap 'kill -9 $$'
echo "exit $?"
