package org.cloister.protocol.ticket;

/**
 * Memory that a VM needs in addition to its job's.
 *
 * @param guest for the system in the VM
 * @param qemu for QEMU's process beside the guest's memory, also in the step's cgroup
 */
public record MemoryReserves(MemoryReserve guest, MemoryReserve qemu) {
    /** The kernel describes each page of 4 KiB in 64 bytes. */
    private static final int KERNEL_PAGES_ONE_IN = 64;
    /** The host's page tables for the guest's pages, once for the guest and once for QEMU, need 8 bytes each. */
    private static final int PAGE_TABLES_ONE_IN = 256;
    /** Measured in a controlling VM of 1,024 MiB under load: 52 for the kernel at boot, 187 for all programs. */
    private static final int GUEST_MIB = 256;
    /**
     * Measured under emulation with two CPUs, just booted: 141 resident beside the guest's memory and translated code.
     */
    private static final int QEMU_KVM_MIB = 192;
    /** Translated code, as a domain sets it; by default QEMU 7.2 uses a quarter of the guest's memory, up to 1,024. */
    public static final int TCG_CODE_MIB = 256;

    private static final int QEMU_TCG_MIB = QEMU_KVM_MIB + TCG_CODE_MIB;

    /**
     * Returns the measured reserves.
     *
     * @param emulated whether QEMU translates the guest's code
     */
    public static MemoryReserves defaults(boolean emulated) {
        int qemu = emulated ? QEMU_TCG_MIB : QEMU_KVM_MIB;
        return new MemoryReserves(
                new MemoryReserve(GUEST_MIB, KERNEL_PAGES_ONE_IN), new MemoryReserve(qemu, PAGE_TABLES_ONE_IN));
    }
}
