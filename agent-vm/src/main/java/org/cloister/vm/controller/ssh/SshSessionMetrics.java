package org.cloister.vm.controller.ssh;

/** What is counted of persons' sessions, and nobody's name with it. From any thread. */
public interface SshSessionMetrics {
    /** Who was refused in the handshake, and so heard no word. */
    String CIRCUIT = "circuit";

    void sessionStarted();

    void sessionEnded();

    /** @param word that the person heard, or {@link #CIRCUIT} */
    void sessionRefused(String word);

    /** A file went out, by an exporter, and its record is on the disk. */
    void fileExported(long bytes);
}
