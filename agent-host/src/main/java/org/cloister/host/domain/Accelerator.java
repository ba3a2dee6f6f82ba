package org.cloister.host.domain;

/**
 * Accelerator that runs the guest's instructions; determined by running a guest, never by checking for a device file.
 */
public enum Accelerator {
    KVM("kvm", "host-passthrough"),
    /** QEMU's emulation: everything works, an order of magnitude slower. */
    TCG("qemu", "maximum");

    private final String domainType;
    private final String cpuMode;

    Accelerator(String domainType, String cpuMode) {
        this.domainType = domainType;
        this.cpuMode = cpuMode;
    }

    String domainType() {
        return domainType;
    }

    String cpuMode() {
        return cpuMode;
    }
}
