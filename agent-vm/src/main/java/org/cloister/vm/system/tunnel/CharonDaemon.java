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
 * This VM's charon, kept running. Its settings lie in a folder on tmpfs and hold nothing secret; keys come over its socket.
 * One that an agent before this one had started goes on, with its tunnels.
 */
public final class CharonDaemon {
    private final Path folder;
    private final Path settings;
    private final CharonSettings content;
    private final SupervisedDaemon daemon;

    /** @param folder such as {@code /run/cloister/charon}; its name is this charon's */
    public CharonDaemon(ProcessRunner programs, Path folder, EspMode by) {
        this.folder = folder;
        this.settings = folder.resolve("strongswan.conf");
        Path log = folder.resolve("charon.log");
        this.content = new CharonSettings(folder.resolve("vici.sock"), by, log);
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

    /** It answers a little later; {@link ProjectTunnels} waits for that. */
    public void start() throws IOException {
        Files.createDirectories(folder);
        content.write(settings);
        daemon.start();
    }

    /** Looked after no more; tunnels go on. */
    public void detach() {
        daemon.detach();
    }

    /** All tunnels end; the guard stays. */
    public void stop() throws IOException {
        daemon.stop();
        Files.deleteIfExists(content.socket());
    }

    /** Its processes: two, where it is entered by a program that stays. */
    public List<ProcessHandle> processes() {
        return daemon.processes();
    }
}
