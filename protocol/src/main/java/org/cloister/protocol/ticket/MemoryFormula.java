package org.cloister.protocol.ticket;

/**
 * The one formula of a VM's memory, both ways: from what a job asked to what Global Slurm is asked, and from what Global Slurm
 * gave to what the VM gets. All in MiB.
 *
 * @param real for Slurm in the VM, its RealMemory; at least what the job asked
 * @param vm real and the guest's reserve: as QEMU is told
 * @param global vm and QEMU's own: the step's limit
 */
public record MemoryFormula(int real, int vm, int global) {
    /** @throws IllegalArgumentException if Global Slurm cannot be asked for so much, or it is nothing */
    public static MemoryFormula forRequest(int real, MemoryReserves reserves) {
        long vm = reserves.guest().with(real);
        long global = reserves.qemu().with(vm);
        if (real < 1 || global > ResourceRequest.MAX_MIB) {
            throw new IllegalArgumentException("memory: want 1 MiB to what makes a step of " + ResourceRequest.MAX_MIB
                    + " MiB, have " + real + " MiB, which makes one of " + global);
        }
        return new MemoryFormula(real, (int) vm, (int) global);
    }

    /**
     * The largest that a step's limit holds.
     *
     * @param least the ticket's
     * @throws IllegalArgumentException if it is less than the ticket's
     */
    public static MemoryFormula within(int global, int least, MemoryReserves reserves) {
        MemoryFormula asked = forRequest(Math.max(1, least), reserves);
        if (global > ResourceRequest.MAX_MIB || asked.global > global) {
            throw new IllegalArgumentException("memory of the step: want " + asked.global + " to "
                    + ResourceRequest.MAX_MIB + " MiB for a ticket of " + least + " MiB, have " + global
                    + " MiB; look at the reserves of relay and host, which must be the same");
        }
        int fits = asked.real;
        int tooMuch = global + 1;
        while (tooMuch - fits > 1) {
            int middle = fits + (tooMuch - fits) / 2;
            if (reserves.qemu().with(reserves.guest().with(middle)) <= global) {
                fits = middle;
            } else {
                tooMuch = middle;
            }
        }
        MemoryFormula largest = forRequest(fits, reserves);
        return new MemoryFormula(fits, largest.vm, global);
    }
}
