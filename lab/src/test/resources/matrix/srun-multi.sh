# Several programs in one step.
printf '0 echo zero\n1 echo one %%t\n' > conf
srun -t 5 -n 2 --multi-prog conf | sort
