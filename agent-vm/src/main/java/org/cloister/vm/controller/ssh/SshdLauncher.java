package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Starts the sshd of a session apart from the agent. */
@FunctionalInterface
public interface SshdLauncher {
    /** Output and input of a session's process. */
    record Streams(InputStream out, OutputStream in) {}

    /** Starts the program that first reads a line with the session's number, and then becomes sshd for its folder. */
    Streams start() throws IOException;
}
