package org.cloister.host.libvirt;

/** Event that a hypervisor reports. */
public sealed interface HypervisorEvent {
    /** A domain, ours or not, has changed; {@link Hypervisor#domains} returns its new state. */
    record DomainChanged(String uuid) implements HypervisorEvent {}

    /**
     * A domain, ours or not, has ended.
     *
     * @param died true if it was destroyed, or its process crashed or was killed; false if its guest powered off, its
     *     process was asked to stop, or the cause is unknown
     */
    record DomainEnded(String uuid, boolean died) implements HypervisorEvent {}

    /** The hypervisor no longer answers; domains continue to run. */
    record ConnectionLost(String why) implements HypervisorEvent {}

    /** The hypervisor answers again, or for the first time. */
    record ConnectionRestored() implements HypervisorEvent {}
}
