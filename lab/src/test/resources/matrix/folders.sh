# A working folder, a chdir, a file in the home that the job writes and the login reads.
mkdir -p deep/er
sbatch --wait -t 5 -D deep/er -o here.txt --wrap 'basename "$PWD"; echo "$HOME" | grep -c "$USER"; echo kept > "$HOME/kept-by-job"'
cat deep/er/here.txt "$HOME/kept-by-job"
rm "$HOME/kept-by-job"
