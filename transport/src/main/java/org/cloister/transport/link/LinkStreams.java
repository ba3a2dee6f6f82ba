package org.cloister.transport.link;

import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.link.ProtocolLimits;

/**
 * Number of streams of a link and their window: many for hosts and VMs, whose jobs have hundreds of circuits on a local
 * network, and few, with room for long round trips, for everyone else. All windows together are the connection's, so
 * that streams whose receiver has stopped reading take nothing from the others.
 */
public enum LinkStreams {
    /** A host's link, and its VMs' channels. */
    MACHINE(ProtocolLimits.STREAMS, ProtocolLimits.STREAM_WINDOW_BYTES),
    /** The link of a person's device or of the registration authority. */
    DEVICE(ProtocolLimits.DEVICE_STREAMS, ProtocolLimits.DEVICE_STREAM_WINDOW_BYTES);

    private final int count;
    private final int window;

    LinkStreams(int count, int window) {
        this.count = count;
        this.window = window;
    }

    /** @param role of the agent, which dials the relay */
    public static LinkStreams of(CertificateRole role) {
        return role == CertificateRole.HOST ? MACHINE : DEVICE;
    }

    /** Returns the number of streams that may be open at one time. */
    public int count() {
        return count;
    }

    /** Returns the window of one stream, in bytes. */
    int window() {
        return window;
    }
}
