package org.cloister.vm.system.tunnel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.CharonSettings;
import org.cloister.ipsec.EspMode;
import org.cloister.vm.system.daemon.SupervisedDaemon;

/**
 * This VM's charon, kept running. Its settings are in a folder on tmpfs and contain no secret; keys are loaded over its
 * socket. A charon that an earlier agent started continues to run, with its tunnels.
 */
public final class CharonDaemon {
    private final Path folder;
    private final Path settings;
    private final CharonSettings content;
    private final SupervisedDaemon daemon;

    /**
     * Describes the daemon.
     *
     * @param folder such as {@code /run/cloister/charon}; its name identifies this charon
     */
    public CharonDaemon(ProcessRunner programs, Path folder, EspMode esp) {
        this.folder = folder;
        this.settings = folder.resolve("strongswan.conf");
        Path log = folder.resolve("charon.log");
        this.content = new CharonSettings(folder.resolve("vici.sock"), esp, log);
        this.daemon = new SupervisedDaemon(
                programs,
                "charon " + folder,
                List.of("/usr/sbin/charon-systemd"),
                Map.of("STRONGSWAN_CONF", settings.toString()),
                folder.resolve("charon.out"),
                log);
    }

    public Path socket() {
        return content.socket();
    }

    /** Starts charon. It answers a little later; {@link ProjectTunnels} waits for that. */
    public void start() throws IOException {
        Files.createDirectories(folder);
        content.write(settings);
        daemon.start();
    }

    /** Stops charon and with it all tunnels; the guard stays. */
    public void stop() throws IOException {
        daemon.stop();
        Files.deleteIfExists(content.socket());
    }

    /** Returns its processes: two if another program enters its namespaces and stays. */
    public List<ProcessHandle> processes() {
        return daemon.processes();
    }
}
