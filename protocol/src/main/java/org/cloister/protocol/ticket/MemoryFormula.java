package org.cloister.protocol.ticket;

/**
 * Formula of a VM's memory in both directions: from a job's request to the request for Global Slurm, and from Global
 * Slurm's allocation to the VM. All values are in MiB.
 *
 * @param real memory for Slurm in the VM, its RealMemory; at least what the job requested
 * @param vm real and the guest's reserve: the size passed to QEMU
 * @param global vm and QEMU's reserve: the step's limit
 */
public record MemoryFormula(int real, int vm, int global) {
    /**
     * Returns the sizes for a job's request.
     *
     * @throws IllegalArgumentException if the memory is less than 1 MiB, or more than can be requested of Global Slurm
     */
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
     * Returns the largest VM that fits into a step's limit.
     *
     * @param least the ticket's
     * @throws IllegalArgumentException if the step's limit is less than the ticket needs
     */
    public static MemoryFormula within(int global, int least, MemoryReserves reserves) {
        MemoryFormula formula = forRequest(Math.max(1, least), reserves);
        if (global > ResourceRequest.MAX_MIB || formula.global > global) {
            throw new IllegalArgumentException("memory of the step: want " + formula.global + " to "
                    + ResourceRequest.MAX_MIB + " MiB for a ticket of " + least + " MiB, have " + global
                    + " MiB; look at the reserves of relay and host, which must be the same");
        }
        int fits = formula.real;
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
