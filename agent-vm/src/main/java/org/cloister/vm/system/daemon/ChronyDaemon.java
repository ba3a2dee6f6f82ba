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
 * This machine's chronyd, with one source and no other: a worker's follows its controlling VM, whose own is the project's
 * time. It speaks on the project's address alone, which the guard lets IPsec through to and nothing else; the configuration of
 * the distribution is not read. Nobody asks it anything on this machine.
 */
public final class ChronyDaemon {
    /** What users' VMs do not follow: there is no better clock behind it. */
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
     * In a controlling VM.
     *
     * @param folder on tmpfs
     * @param own address in the project's network
     * @param network whose machines may ask, such as {@code 10.64.12.0/22}
     */
    public static ChronyDaemon server(ProcessRunner programs, Path folder, String own, String network) {
        return new ChronyDaemon(programs, folder, """
                local stratum %d
                bindaddress %s
                allow %s
                %s""".formatted(STRATUM, own, network, common(folder)));
    }

    /**
     * In a worker, whose clock was set when it was handed over to.
     *
     * @param folder on tmpfs
     * @param own address in the project's network
     * @param controller the only one whose time counts
     */
    public static ChronyDaemon client(ProcessRunner programs, Path folder, String own, String controller) {
        // What is far off was stopped by the host meanwhile: to slew an hour would take half a day.
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
            // One that was killed leaves it, and the next would take any process of that number for it.
            Files.deleteIfExists(pid(folder));
        }
        WorldReadableFile.replace(file(folder), content.getBytes(StandardCharsets.US_ASCII));
        daemon.start();
    }

    public void stop() throws IOException {
        daemon.stop();
    }

    /** One of whichever kind, whether it ran or not. */
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
