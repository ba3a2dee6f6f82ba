package org.cloister.lab.local;

/**
 * A slot's part of a host.
 *
 * @param host from 0
 * @param number of its address
 * @param ready whether its slurmd was started
 */
record Place(int host, int number, int cpus, long memoryMib, long scratchMib, boolean ready) {
    Place nowReady() {
        return new Place(host, number, cpus, memoryMib, scratchMib, true);
    }
}
