package org.cloister.ipsec;

/** Component that encrypts packets: the kernel, or charon itself where the kernel has no ESP. */
public enum EspMode {
    /** XFRM of the kernel. Trap policies work, so a tunnel can be set up by its first packet. */
    KERNEL("the kernel's ESP"),
    /**
     * charon's {@code kernel-libipsec}: always in UDP, always tunnel mode, through the device {@link #DEVICE}; no trap
     * policies.
     */
    USERSPACE("charon's own ESP in user space (kernel-libipsec)");

    /** The device that {@code kernel-libipsec} creates. */
    public static final String DEVICE = "ipsec0";

    private final String text;

    EspMode(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
