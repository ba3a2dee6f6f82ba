package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A machine of the lab: namespaces, its own folder and an address.
 *
 * @param address on the network that its cluster uses
 * @param folder logs, sockets and configuration; removed with the lab
 */
public record LabMachine(String name, String address, Path folder, Sandbox sandbox) {
    private static final int MAX_SOCKET_PATH = 107;
    private static final Duration END_LIMIT = Duration.ofSeconds(30);

    public LabCommand command(List<String> argv) {
        return sandbox.command(argv);
    }

    public LabCommand command(String... argv) {
        return sandbox.command(argv);
    }

    /** Returns a folder below the machine's own. */
    public Path folder(String below) throws IOException {
        return Files.createDirectories(folder.resolve(below));
    }

    public Path log(String daemon) throws IOException {
        return folder("log").resolve(daemon + ".log");
    }

    /** Returns a path short enough for a Unix socket. */
    public Path socket(String file) throws IOException {
        Path path = folder("sock").resolve(file);
        if (path.toString().length() > MAX_SOCKET_PATH) {
            throw new LabException(
                    "socket " + path + ": " + path.toString().length() + " characters, a socket's path holds "
                            + MAX_SOCKET_PATH,
                    "set CLOISTER_LAB_DIR to a shorter path");
        }
        return path;
    }

    /** Waits until a daemon answers; the failure names its log. */
    public void await(String what, Path log, Duration limit, Poll.Question question) throws IOException {
        Poll.until(what + " on " + name, limit, "read " + log, question);
    }

    /** Returns a daemon's process by the file that {@link #signal} reads, or an empty text while there is none. */
    public String pid(String daemon) throws IOException {
        return command("sh", "-c", "cat \"/run/$1/$1.pid\" 2>/dev/null || cat \"/run/$1.pid\"", "sh", daemon)
                .run()
                .out()
                .strip();
    }

    /**
     * Signals a daemon whose process id file is in {@code /run}, or in its own folder there; after KILL and TERM the
     * process has ended when this returns.
     *
     * @param signal without SIG
     */
    public void signal(String daemon, String signal) throws IOException {
        String pid = pid(daemon);
        command("kill", "-" + signal, pid).succeed();
        if (signal.equals("KILL") || signal.equals("TERM")) {
            await(
                    "the end of " + daemon,
                    log(daemon),
                    END_LIMIT,
                    () -> command("kill", "-0", pid).run().exit() != 0);
        }
    }
}
