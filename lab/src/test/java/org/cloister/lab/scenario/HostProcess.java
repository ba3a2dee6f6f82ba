package org.cloister.lab.scenario;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.host.AgentHostFiles;

/** A {@link HostProgram}, as whoever starts and kills it has it. */
final class HostProcess implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int REMEMBERED = 30;

    private final LabHost host;
    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedDeque<String> transcript = new ConcurrentLinkedDeque<>();
    private final String pid;

    private HostProcess(LabHost host, Process process) throws IOException {
        this.host = host;
        this.process = process;
        Thread reader = new Thread(this::read, "host-program");
        reader.setDaemon(true);
        reader.start();
        this.pid = await("pid ");
    }

    /** @param halt a point of {@link KillPoints}, or the empty text */
    static HostProcess start(LabHost host, Duration powerOff, String halt) throws IOException {
        List<String> argv = host.command(
                        host.java().toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xshare:auto",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HostProgram.class.getName(),
                        AgentHostFiles.state(host).toString(),
                        AgentHostFiles.scratch(host).toString(),
                        LabHome.fromEnvironment().image("lab").toString(),
                        host.ovs().folder().toString(),
                        host.libvirt().uri(),
                        Long.toString(powerOff.toMillis()),
                        halt)
                .argv();
        return new HostProcess(
                host,
                new ProcessBuilder(argv)
                        .redirectError(ProcessBuilder.Redirect.appendTo(
                                host.log("host-program").toFile()))
                        .start());
    }

    void send(String command) throws IOException {
        OutputStream in = process.getOutputStream();
        in.write((command + "\n").getBytes(StandardCharsets.US_ASCII));
        in.flush();
    }

    /** @return what follows the beginning, in the next line that has it */
    String await(String prefix) throws IOException {
        return await(List.of(prefix)).substring(prefix.length());
    }

    /** The next line that begins with one of these. */
    String await(List<String> beginnings) throws IOException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        try {
            while (true) {
                String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (line == null) {
                    throw new LabException(
                            "not within " + LIMIT.toSeconds() + " s: \"" + beginnings + "\"; said last:\n"
                                    + String.join("\n", transcript),
                            "read " + host.log("host-program"));
                }
                if (beginnings.stream().anyMatch(line::startsWith)) {
                    return line;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted", "start again", e);
        }
    }

    /** It has ended when this returns. */
    void kill() throws IOException {
        host.command("kill", "-KILL", pid).succeed();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted", "start again", e);
        }
    }

    /** As when its host is shut down: VMs go on. */
    @Override
    public void close() throws IOException {
        if (process.isAlive()) {
            kill();
        }
    }

    private void read() {
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                transcript.add(line);
                if (transcript.size() > REMEMBERED) {
                    transcript.remove();
                }
                lines.add(line);
            }
        } catch (IOException e) {
            transcript.add("its output has ended: " + e.getMessage());
        }
    }
}
