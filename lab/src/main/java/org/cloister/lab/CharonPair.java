package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.cloister.base.process.Nft;
import org.cloister.ipsec.CharonSettings;
import org.cloister.ipsec.EspMode;
import org.jspecify.annotations.Nullable;

/** Two machines joined by a cable, {@code eth0} at both ends, each with its own charon and ESP in user space. */
public final class CharonPair implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final LabHome home;
    private final LabName name;
    private final List<Side> ends;

    private CharonPair(LabHome home, LabName name, List<Side> ends) {
        this.home = home;
        this.name = name;
        this.ends = List.copyOf(ends);
    }

    /**
     * Starts the machines without addresses and without charon. Remains of another pair of this name are removed first.
     */
    public static CharonPair start(LabHome home, LabName name) throws IOException {
        Lab.remove(home, name);
        Path folder = Files.createDirectories(home.folder(name));
        Files.writeString(folder.resolve("hosts"), "127.0.0.1 localhost\n");
        List<Side> ends = new ArrayList<>();
        for (String end : List.of("one", "two")) {
            Path own = folder.resolve(end);
            ends.add(new Side(Sandbox.start(home, name, end, own, LabRelease.own()), own));
        }
        CharonPair pair = new CharonPair(home, name, ends);
        String other = Long.toString(pair.side(2).sandbox.pid());
        pair.side(1)
                .sandbox
                .networkCommand(
                        List.of("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", other))
                .succeed();
        for (Side end : ends) {
            end.command("ethtool", "-K", "eth0", "tx", "off").succeed();
            end.command("ip", "link", "set", "eth0", "up").succeed();
        }
        return pair;
    }

    /** @param number 1 or 2 */
    public Side side(int number) {
        return ends.get(number - 1);
    }

    @Override
    public void close() throws IOException {
        for (Side end : ends) {
            end.killCharon();
        }
        Lab.remove(home, name);
    }

    /** A machine of the pair. */
    public static final class Side {
        private final Sandbox sandbox;
        private final Path folder;
        private @Nullable Process charon;

        Side(Sandbox sandbox, Path folder) {
            this.sandbox = sandbox;
            this.folder = folder;
        }

        public LabCommand command(String... argv) {
            return sandbox.command(argv);
        }

        public void address(String address) throws IOException {
            command("ip", "address", "add", address + "/24", "dev", "eth0").succeed();
        }

        /** Returns its network namespace. */
        public Path network() {
            return Path.of("/proc", Long.toString(sandbox.pid()), "ns/net");
        }

        public Path folder() {
            return folder;
        }

        public Path socket() {
            return folder.resolve("vici.sock");
        }

        public Nft nft() {
            return new Nft(sandbox.command("/usr/sbin/nft").argv());
        }

        public String log() throws IOException {
            return Files.readString(folder.resolve("charon.log"));
        }

        public void startCharon() throws IOException {
            startCharon("");
        }

        /** @param more lines of {@code strongswan.conf}, appended to those that the library renders */
        public void startCharon(String more) throws IOException {
            Path settings = folder.resolve("strongswan.conf");
            String rendered = new CharonSettings(socket(), EspMode.USERSPACE, folder.resolve("charon.log")).render();
            Files.writeString(settings, rendered + more);
            ProcessBuilder builder = new ProcessBuilder(
                            sandbox.command("/usr/sbin/charon-systemd").argv())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("charon.out").toFile());
            builder.environment().put("STRONGSWAN_CONF", settings.toString());
            charon = builder.start();
            Poll.until("charon's socket", LIMIT, "read " + folder + "/charon.out", () -> Files.exists(socket()));
        }

        /** Kills charon at once, as {@code kill -9} does. */
        public void killCharon() throws IOException {
            Process process = charon;
            if (process != null) {
                List<ProcessHandle> all = process.descendants().toList();
                all.forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                Poll.until(
                        "the end of charon",
                        LIMIT,
                        "kill -9 " + process.pid(),
                        () -> !process.isAlive() && all.stream().noneMatch(ProcessHandle::isAlive));
                Files.deleteIfExists(socket());
                charon = null;
            }
        }

        /** Returns a swanctl command with its own folder, see swanctl(8). */
        public LabCommand swanctl(String... arguments) {
            List<String> argv = new ArrayList<>(List.of("swanctl"));
            argv.addAll(List.of(arguments));
            argv.addAll(List.of("--uri", "unix://" + socket()));
            return sandbox.command(argv)
                    .with(Map.of("SWANCTL_DIR", folder.resolve("swanctl").toString()));
        }
    }
}
