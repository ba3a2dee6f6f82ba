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

    private static final String CONFIGURATION = "chrony.conf";

    private final Path folder;
    private final SupervisedDaemon daemon;

    /** @param folder on tmpfs; its name identifies this chronyd */
    public ChronyDaemon(ProcessRunner programs, Path folder) {
        this.folder = folder;
        this.daemon = new SupervisedDaemon(
                programs,
                "chronyd " + folder,
                List.of(
                        "/usr/sbin/chronyd",
                        "-4",
                        "-d",
                        "-f",
                        folder.resolve(CONFIGURATION).toString()),
                Map.of(),
                folder.resolve("chronyd.log"));
    }

    /**
     * Starts the server of a controlling VM.
     *
     * @param own address in the project's network
     * @param network whose machines may query it, such as {@code 10.64.12.0/22}
     */
    public void startServer(String own, String network) throws IOException {
        start(server(own, network));
    }

    /**
     * Starts the client of a worker, whose clock was set at the hand-over.
     *
     * @param own address in the project's network
     * @param controller the only time source
     */
    public void startClient(String own, String controller) throws IOException {
        start(client(own, controller));
    }

    String server(String own, String network) {
        return """
                local stratum %d
                bindaddress %s
                allow %s
                %s""".formatted(STRATUM, own, network, common());
    }

    String client(String own, String controller) {
        // A clock that is far off belongs to a VM that the host paused: slewing an hour would take half a day.
        return """
                server %s iburst minpoll 4 maxpoll 6
                bindacqaddress %s
                port 0
                makestep 10 -1
                %s""".formatted(controller, own, common());
    }

    private String common() {
        return """
                cmdport 0
                bindcmdaddress /
                pidfile %s
                logchange 1
                """.formatted(pid());
    }

    private void start(String settings) throws IOException {
        Files.createDirectories(folder);
        if (daemon.processes().isEmpty()) {
            // A killed chronyd leaves its pid file, and the next one would take any process of that number for it.
            Files.deleteIfExists(pid());
        }
        WorldReadableFile.replace(folder.resolve(CONFIGURATION), settings.getBytes(StandardCharsets.US_ASCII));
        daemon.start();
    }

    /** Stops it, whether it ran or not. An object that has not started it does not end another's supervision. */
    public void stop() throws IOException {
        daemon.stop();
    }

    private Path pid() {
        return folder.resolve("chronyd.pid");
    }
}
