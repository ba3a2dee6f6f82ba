package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * One of the lab's machines: namespaces, a folder of its own and an address on the management network.
 *
 * @param folder logs, sockets and configuration; removed with the lab
 */
record Machine(String name, String address, Path folder, Sandbox sandbox, Accelerator accelerator) {
    private static final int MAX_SOCKET_PATH = 107;

    Command command(List<String> argv) {
        return sandbox.command(argv);
    }

    Command command(String... argv) {
        return sandbox.command(argv);
    }

    /** A folder below the machine's own. */
    Path folder(String below) throws IOException {
        return Files.createDirectories(folder.resolve(below));
    }

    Path log(String daemon) throws IOException {
        return folder("log").resolve(daemon + ".log");
    }

    /** A path short enough for a Unix socket. */
    Path socket(String file) throws IOException {
        Path path = folder("sock").resolve(file);
        if (path.toString().length() > MAX_SOCKET_PATH) {
            throw new LabException(
                    "socket " + path + ": " + path.toString().length() + " characters, a socket's path holds "
                            + MAX_SOCKET_PATH,
                    "set CLOISTER_LAB_DIR to a shorter path");
        }
        return path;
    }

    /** Waits until a daemon answers, and points at its log when it does not. */
    void await(String what, Path log, Duration limit, Poll.Question question) throws IOException {
        Poll.until(what + " on " + name, limit, "read " + log, question);
    }
}
