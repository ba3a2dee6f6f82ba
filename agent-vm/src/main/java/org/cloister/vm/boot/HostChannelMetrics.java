package org.cloister.vm.boot;

/** Receives what metrics count of the channel to the host. */
public interface HostChannelMetrics {
    /**
     * Records that the channel is attached.
     *
     * @param seconds from the kernel's start until now
     */
    void channelAttached(double seconds);

    /** Records the loss of a channel that was attached. */
    void channelLost();
}
