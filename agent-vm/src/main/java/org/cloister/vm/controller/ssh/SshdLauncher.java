package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Starts sessions' sshd apart from the agent. */
@FunctionalInterface
public interface SshdLauncher {
    /** What a session says and what it reads. */
    record Streams(InputStream out, OutputStream in) {}

    /** The program that reads the session's number in a line first, and is sshd for its folder then. */
    Streams start() throws IOException;
}
