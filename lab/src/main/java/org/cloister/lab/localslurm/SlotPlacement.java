package org.cloister.lab.localslurm;

/**
 * Placement of a slot on a host.
 *
 * @param host from 0
 * @param number of its address
 * @param ready whether its slurmd was started
 */
record SlotPlacement(int host, int number, int cpus, long memoryMib, long scratchMib, boolean ready) {
    SlotPlacement asReady() {
        return new SlotPlacement(host, number, cpus, memoryMib, scratchMib, true);
    }
}
