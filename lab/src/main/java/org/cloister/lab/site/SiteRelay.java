package org.cloister.lab.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.cloister.lab.Lab;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;

/** The relay as a process outside of the lab, which runs tickets in the lab's Slurm. */
public final class SiteRelay implements AutoCloseable {
    /** Account in the site's approval. */
    public static final String ACCOUNT = "lab";

    private final Path folder;
    private final Path config;
    private final int port;
    private ChildProcess program;

    private SiteRelay(Path folder, Path config, int port) throws IOException {
        this.folder = folder;
        this.config = config;
        this.port = port;
        this.program = ChildProcess.relay(folder, config, port);
    }

    /**
     * Starts the relay; it listens and serves the project when this returns.
     *
     * @param folder for its configuration and its log
     * @param step command of a job's step, to which the ticket is appended
     * @param boot boot time that the site permits a VM in addition to the requested time
     */
    public static SiteRelay start(Lab lab, RelaySiteFiles site, Path folder, String step, Duration boot)
            throws IOException {
        lab.slurm().account(ACCOUNT);
        int port = ChildProcess.port();
        Path programs = lab.slurm().programs().folder();
        SiteRelay relay = new SiteRelay(folder, configure(site, folder, port, programs, step, boot), port);
        site.deliver();
        return relay;
    }

    /**
     * Writes a configuration with few addresses, which are free again at once: a leak shows as a refusal. An sbatch has
     * 4 s, and what it sent has 4 s more to arrive; in the lab it takes milliseconds.
     */
    private static Path configure(RelaySiteFiles site, Path folder, int port, Path programs, String step, Duration boot)
            throws IOException {
        String text = Files.readString(site.relayConfig(port)) + """

                [slurm]
                partition = "secure"
                controllers = "controllers"
                user = "root"
                programs = "%s"
                step = "%s"
                boot = %d
                erase = 60
                limit = 4
                look = 1
                settle = 4
                hosts = 20

                [network]
                prefix = 28
                rest = 0
                """.formatted(programs, step, boot.toSeconds());
        return Files.writeString(folder.resolve("tickets.toml"), text);
    }

    /** Returns the relay's port on loopback. */
    public int port() {
        return port;
    }

    public void kill() throws IOException {
        program.kill();
    }

    /** Starts the relay again after a {@link #kill}. */
    public void restart() throws IOException {
        program = ChildProcess.relay(folder, config, port);
    }

    @Override
    public void close() throws IOException {
        program.close();
    }
}
