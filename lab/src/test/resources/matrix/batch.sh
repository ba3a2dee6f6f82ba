# A script with its options in it, its output in the file that it names.
cat > job.sh <<'J'
#!/bin/bash
#SBATCH --output=out-%x.txt
#SBATCH --job-name=hello
#SBATCH -t 5
echo "hello from a job as $(id -un), in $(basename "$PWD")"
J
sbatch --wait job.sh
echo "exit $?"
cat out-hello.txt
