package org.cloister.vm.controller.ssh;

/** Receives what metrics count of people's sessions, without names. Called on any thread. */
public interface SshSessionMetrics {
    /** Refusal during the handshake, of which the person receives no reason. */
    String CIRCUIT = "circuit";

    void sessionStarted();

    void sessionEnded();

    /**
     * Counts a refusal.
     *
     * @param reason sent to the person, or {@link #CIRCUIT}
     */
    void sessionRefused(String reason);

    /** Counts a file that an exporter copied out, and whose record is on the disk. */
    void fileExported(long bytes);
}
