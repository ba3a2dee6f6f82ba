package org.cloister.host.libvirt;

/** What a hypervisor tells by itself. */
public sealed interface HypervisorEvent {
    /** A domain, ours or not, is no longer as it was: {@link Hypervisor#domains} says how it is. */
    record DomainChanged(String uuid) implements HypervisorEvent {}

    /**
     * A domain, ours or not, has ended.
     *
     * @param died it was destroyed, or its process crashed or was killed; otherwise its guest powered off, or its process was told
     *     to end, or it is not known how
     */
    record DomainEnded(String uuid, boolean died) implements HypervisorEvent {}

    /** It does not answer any more; domains run on. */
    record ConnectionLost(String why) implements HypervisorEvent {}

    /** It answers again, or for the first time. */
    record ConnectionRestored() implements HypervisorEvent {}
}
