package org.cloister.host.libvirt;

/** What a hypervisor tells by itself. */
public sealed interface HypervisorEvent {
    /** A domain, ours or not, is no longer as it was: {@link Hypervisor#domains} says how it is. */
    record Changed(String uuid) implements HypervisorEvent {}

    /** A domain, ours or not, has ended, for whatever reason. */
    record Ended(String uuid) implements HypervisorEvent {}

    /** It does not answer any more; domains run on. */
    record Lost(String why) implements HypervisorEvent {}

    /** It answers again, or for the first time. */
    record Found() implements HypervisorEvent {}
}
