package org.cloister.vm.system.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.base.process.ProcessRunner;

/**
 * This machine's chronyd, with exactly one source: a worker's follows its controlling VM, whose own clock is the
 * project's time. It uses only the project's address, to which the guard admits nothing but IPsec; it does not read the
 * distribution's configuration. It accepts no commands from this machine.
 */
public final class ChronyDaemon {
    /** Stratum of a clock with no better source behind it; users' VMs do not follow such a clock. */
    private static final int STRATUM = 10;

    private final Path folder;
    private final String content;
    private final SupervisedDaemon daemon;

    private ChronyDaemon(ProcessRunner programs, Path folder, String content) {
        this.folder = folder;
        this.content = content;
        this.daemon = daemon(programs, folder);
    }

    private static SupervisedDaemon daemon(ProcessRunner programs, Path folder) {
        return new SupervisedDaemon(
                programs,
                "chronyd " + folder,
                List.of("/usr/sbin/chronyd", "-4", "-d", "-f", file(folder).toString()),
                Map.of(),
                folder.resolve("chronyd.log"));
    }

    /**
     * Returns the server of a controlling VM.
     *
     * @param folder on tmpfs
     * @param own address in the project's network
     * @param network whose machines may query it, such as {@code 10.64.12.0/22}
     */
    public static ChronyDaemon server(ProcessRunner programs, Path folder, String own, String network) {
        return new ChronyDaemon(programs, folder, """
                local stratum %d
                bindaddress %s
                allow %s
                %s""".formatted(STRATUM, own, network, common(folder)));
    }

    /**
     * Returns the client of a worker, whose clock was set at the hand-over.
     *
     * @param folder on tmpfs
     * @param own address in the project's network
     * @param controller the only time source
     */
    public static ChronyDaemon client(ProcessRunner programs, Path folder, String own, String controller) {
        // A clock that is far off belongs to a VM that the host paused: slewing an hour would take half a day.
        return new ChronyDaemon(programs, folder, """
                server %s iburst minpoll 4 maxpoll 6
                bindacqaddress %s
                port 0
                makestep 10 -1
                %s""".formatted(controller, own, common(folder)));
    }

    private static String common(Path folder) {
        return """
                cmdport 0
                bindcmdaddress /
                pidfile %s
                logchange 1
                """.formatted(pid(folder));
    }

    String content() {
        return content;
    }

    public void start() throws IOException {
        Files.createDirectories(folder);
        if (daemon.processes().isEmpty()) {
            // A killed chronyd leaves its pid file, and the next one would take any process of that number for it.
            Files.deleteIfExists(pid(folder));
        }
        WorldReadableFile.replace(file(folder), content.getBytes(StandardCharsets.US_ASCII));
        daemon.start();
    }

    public void stop() throws IOException {
        daemon.stop();
    }

    /** Stops a client or a server, whether it ran or not. */
    public static void stop(ProcessRunner programs, Path folder) throws IOException {
        daemon(programs, folder).stop();
    }

    private static Path file(Path folder) {
        return folder.resolve("chrony.conf");
    }

    private static Path pid(Path folder) {
        return folder.resolve("chronyd.pid");
    }
}
