package org.cloister.ipsec;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.cloister.base.process.Nft;
import org.jspecify.annotations.Nullable;

/** A machine of the test's own: namespaces that end with the test's JVM, with a real charon in them when asked. */
public final class CharonHost implements AutoCloseable {
    private static final long LIMIT_S = 20;

    private final Path folder;
    private final Process holder;
    private final long first;
    private @Nullable Process charon;

    private CharonHost(Path folder, Process holder, long first) {
        this.folder = folder;
        this.holder = holder;
        this.first = first;
    }

    public static CharonHost make() throws IOException {
        Path folder = Files.createTempDirectory("ipsec");
        // The first process of the namespaces ends when this JVM's end of its input does, and everything with it.
        Process holder = new ProcessBuilder(
                        "unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "cat")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        until("the namespaces", () -> holder.children().findAny().isPresent());
        long first = holder.children().findAny().orElseThrow().pid();
        CharonHost made = new CharonHost(folder, holder, first);
        until("the namespaces' processes", made::isInside);
        made.run("ip", "link", "set", "lo", "up");
        return made;
    }

    /** A cable to the other machine, {@code eth0} at both ends, without addresses. */
    public void connect(CharonHost other) throws IOException {
        // The other's process is named by a number that this one's process namespace does not have.
        List<String> argv = List.of("nsenter", "--target", Long.toString(first), "--net", "--");
        run(new ProcessBuilder(concat(
                argv,
                List.of(
                        "ip",
                        "link",
                        "add",
                        "eth0",
                        "type",
                        "veth",
                        "peer",
                        "name",
                        "eth0",
                        "netns",
                        Long.toString(other.first)))));
        for (CharonHost each : List.of(this, other)) {
            each.run("sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=1");
            each.run("ethtool", "-K", "eth0", "tx", "off");
            each.run("ip", "link", "set", "eth0", "up");
        }
    }

    public void address(String address) throws IOException {
        run("ip", "addr", "add", address + "/24", "dev", "eth0");
    }

    public Path folder() {
        return folder;
    }

    public Path socket() {
        return folder.resolve("vici.sock");
    }

    public String log() throws IOException {
        return Files.readString(folder.resolve("charon.log"));
    }

    public void startCharon() throws IOException {
        Path settings = folder.resolve("strongswan.conf");
        new CharonSettings(socket(), EspMode.USERSPACE, folder.resolve("charon.log")).write(settings);
        ProcessBuilder builder = inside("/usr/sbin/charon-systemd")
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("charon.out").toFile());
        builder.environment().put("STRONGSWAN_CONF", settings.toString());
        charon = builder.start();
        until("charon", () -> Files.exists(socket()));
    }

    /** At once, as {@code kill -9} does it. */
    public void killCharon() {
        Process process = charon;
        if (process != null) {
            List<ProcessHandle> all = process.descendants().toList();
            all.forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            until("the end of charon", () -> all.stream().noneMatch(ProcessHandle::isAlive) && !process.isAlive());
            try {
                Files.deleteIfExists(socket());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    public String swanctl(String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of("swanctl"));
        argv.addAll(Arrays.asList(arguments));
        argv.addAll(List.of("--uri", "unix://" + socket()));
        return run(argv.toArray(String[]::new));
    }

    /** Succeeds, or what it said is the exception's text. */
    public String run(String... argv) throws IOException {
        return run(inside(argv));
    }

    private static String run(ProcessBuilder builder) throws IOException {
        Process process = builder.redirectErrorStream(true).start();
        process.getOutputStream().close();
        try (InputStream out = process.getInputStream()) {
            String output = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException(String.join(" ", builder.command()) + ": " + output);
            }
            return output;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    public Nft nft() {
        return new Nft(concat(enter(), List.of("/usr/sbin/nft")));
    }

    /** One of the kernel's counters for this network, see RFC 1213 for their names. */
    public String snmp(String protocol, String counter) throws IOException {
        List<String> rows = run("cat", "/proc/net/snmp")
                .lines()
                .filter(line -> line.startsWith(protocol))
                .toList();
        int column = List.of(rows.get(0).split(" ", -1)).indexOf(counter);
        return rows.get(1).split(" ", -1)[column];
    }

    /** For programs that are to be run in this machine's network. */
    public List<String> enter() {
        return List.of("nsenter", "--target", Long.toString(first), "--net", "--pid", "--mount", "--");
    }

    public static void until(String what, BooleanSupplier question) {
        until(what, LIMIT_S, question);
    }

    public static void until(String what, long seconds, BooleanSupplier question) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!question.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within " + seconds + " s: " + what);
            }
            try {
                TimeUnit.MILLISECONDS.sleep(5);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        holder.destroyForcibly().onExit().join();
        // The namespace's first process ends last.
        ProcessHandle.of(first)
                .filter(ProcessHandle::destroyForcibly)
                .ifPresent(each -> each.onExit().join());
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    public ProcessBuilder inside(String... argv) {
        return new ProcessBuilder(concat(enter(), List.of(argv)));
    }

    private static List<String> concat(List<String> first, List<String> second) {
        return Stream.of(first, second).flatMap(List::stream).toList();
    }

    private boolean isInside() {
        try {
            return !Files.readSymbolicLink(Path.of("/proc", Long.toString(first), "ns", "pid"))
                            .equals(Files.readSymbolicLink(Path.of("/proc/self/ns/pid")))
                    && Files.readString(Path.of("/proc", Long.toString(first), "comm"))
                            .strip()
                            .equals("cat");
        } catch (IOException e) {
            return false;
        }
    }
}
