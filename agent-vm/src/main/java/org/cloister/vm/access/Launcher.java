package org.cloister.vm.access;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Starts sessions' sshd apart from the agent. */
@FunctionalInterface
public interface Launcher {
    /** What a session says and what it reads. */
    record Ends(InputStream out, OutputStream in) {}

    /** The program that reads the session's number in a line first, and is sshd for its folder then. */
    Ends start() throws IOException;
}
