package org.cloister.protocol.ticket;

/**
 * What a VM's memory is more than the job's.
 *
 * @param guest the system in the VM
 * @param qemu its process besides the guest's memory, in the step's cgroup like it
 */
public record MemoryReserves(MemoryReserve guest, MemoryReserve qemu) {
    /** The kernel describes each page of 4 KiB in 64 bytes. */
    private static final int KERNEL_PAGES_ONE_IN = 64;
    /** Page tables of the host for the guest's pages, once for the guest and once for QEMU: 8 bytes each. */
    private static final int PAGE_TABLES_ONE_IN = 256;
    /** Measured in a controlling VM of 1,024 MiB under load: 52 the kernel at boot, 187 all programs. */
    private static final int GUEST_MIB = 256;
    /** Measured: 141 resident besides the guest's memory and translated code, just booted, two CPUs, under emulation. */
    private static final int QEMU_KVM_MIB = 192;
    /** Translated code: as a domain says it; unsaid, QEMU 7.2 takes a quarter of the guest's memory, up to 1,024. */
    public static final int TCG_CODE_MIB = 256;

    private static final int QEMU_TCG_MIB = QEMU_KVM_MIB + TCG_CODE_MIB;

    /** @param emulated whether QEMU translates the guest's code */
    public static MemoryReserves defaults(boolean emulated) {
        int qemu = emulated ? QEMU_TCG_MIB : QEMU_KVM_MIB;
        return new MemoryReserves(
                new MemoryReserve(GUEST_MIB, KERNEL_PAGES_ONE_IN), new MemoryReserve(qemu, PAGE_TABLES_ONE_IN));
    }
}
