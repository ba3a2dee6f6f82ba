package org.cloister.lab.relay;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;

/** A child process whose output is read by the line; it is measured, and ends with its parent. */
public final class ChildProcess implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration END = Duration.ofSeconds(10);
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    /** Options of the package's launcher. */
    private static final List<String> PACKAGED = List.of(
            "-XX:+UseSerialGC",
            "-Xms24m",
            "-Xmx512m",
            "-Xss512k",
            "-XX:TrimNativeHeapInterval=5000",
            "-XX:-UsePerfData",
            "-Dio.netty.jfr.enabled=false",
            "--enable-native-access=ALL-UNNAMED");

    private final String name;
    private final Process process;
    private final Path log;
    private final BlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();

    private ChildProcess(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
    }

    /** @param folder for its log */
    public static ChildProcess start(String name, Path folder, List<String> argv) throws IOException {
        Path log = folder.resolve(name + ".log");
        Process process = new ProcessBuilder(argv)
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        ChildProcess program = new ChildProcess(name, process, log);
        Thread reader = new Thread(program::read, name);
        reader.setDaemon(true);
        reader.start();
        return program;
    }

    /** Starts a class of this class path with the JVM's own defaults: clients are not measured. */
    public static ChildProcess java(Class<?> main, Path folder, Object... arguments) throws IOException {
        List<String> argv =
                new ArrayList<>(List.of(JAVA, "-Xmx3g", "-cp", System.getProperty("java.class.path"), main.getName()));
        for (Object argument : arguments) {
            argv.add(argument.toString());
        }
        return start(main.getSimpleName(), folder, argv);
    }

    /**
     * Starts the relay as it was built, with the options that its package gives the JVM; it listens when this returns.
     */
    public static ChildProcess relay(Path folder, Path config, int port) throws IOException {
        List<String> argv = new ArrayList<>(List.of(JAVA));
        argv.addAll(PACKAGED);
        argv.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), "org.cloister.relay.AgentRelayMain", config.toString()));
        return start("agent-relay", folder, argv).listening(port);
    }

    /** Waits until the port accepts connections. */
    public ChildProcess listening(int port) throws IOException {
        Poll.until(name + " on port " + port, START, "read " + log, () -> {
            if (!process.isAlive()) {
                throw new LabException(name + ": exit " + process.exitValue(), "read " + log);
            }
            try (Socket probe = new Socket()) {
                probe.connect(RelaySiteFiles.loopback(port));
                return true;
            } catch (IOException e) {
                return false;
            }
        });
        return this;
    }

    /** Returns a port of loopback that was free just before. */
    public static int port() throws IOException {
        try (ServerSocket any = new ServerSocket()) {
            any.bind(RelaySiteFiles.loopback(0));
            return any.getLocalPort();
        }
    }

    /** Returns its next line of output, or empty when it has ended. */
    public Optional<String> line(Duration limit) throws IOException {
        try {
            Optional<String> line = lines.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
            if (line == null) {
                throw new LabException(name + ": said nothing within " + limit.toSeconds() + " s", "read " + log);
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while " + name + " ran", "start again", e);
        }
    }

    public void await(String text, Duration limit) throws IOException {
        Optional<String> line = line(limit);
        if (!line.equals(Optional.of(text))) {
            throw new LabException(name + ": want " + text + ", have " + line.orElse("its end"), "read " + log);
        }
    }

    /** Returns the present megabytes of its memory, private or shared. */
    public double residentMb() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024 / 1e6;
            }
        }
        throw new LabException(name + ": ended", "read " + log);
    }

    /** Lets all other processes run before each of its threads. */
    public void yieldToOthers() throws IOException {
        List<String> argv = new ArrayList<>(List.of("renice", "-n", "19", "-p"));
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            threads.forEach(thread -> argv.add(thread.getFileName().toString()));
        }
        LabCommand.of(argv).succeed();
    }

    public long pid() {
        return process.pid();
    }

    /** Returns the only child of a process that entered another machine's namespaces: the program that runs there. */
    public long child() throws IOException {
        return process.children()
                .findFirst()
                .orElseThrow(() -> new LabException(name + ": no process in its namespaces", "read " + log))
                .pid();
    }

    /** Kills the process with SIGKILL: it sends and writes nothing more. */
    public void kill() throws IOException {
        process.destroyForcibly();
        try {
            if (!process.waitFor(END.toSeconds(), TimeUnit.SECONDS)) {
                throw new LabException(name + ": process " + process.pid() + " does not end", "kill -9 it");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while ending " + name, "start again", e);
        }
    }

    @Override
    public void close() throws IOException {
        kill();
    }

    private void read() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                lines.add(Optional.of(line));
            }
        } catch (IOException e) {
            // The process ended, which is reported below.
        }
        lines.add(Optional.empty());
    }
}
