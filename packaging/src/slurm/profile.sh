# Login shells on the controlling VM: Slurm's commands know all worker VMs by their addresses, docs/slurm.md.
if [ -r /run/cloister/slurm.conf ]; then
    export SLURM_CONF=/run/cloister/slurm.conf
fi
