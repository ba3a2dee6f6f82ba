package org.cloister.vm.access;

/** What is counted of persons' sessions, and nobody's name with it. From any thread. */
public interface Tally {
    /** Who was refused in the handshake, and so heard no word. */
    String CIRCUIT = "circuit";

    void begun();

    void ended();

    /** @param word that the person heard, or {@link #CIRCUIT} */
    void refused(String word);

    /** A file went out, by an exporter, and its record is on the disk. */
    void exported(long bytes);
}
