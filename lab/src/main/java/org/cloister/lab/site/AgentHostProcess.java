package org.cloister.lab.site;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;

/** Runs agent-host as its main class starts it, on a host of the lab with its own libvirtd, Open vSwitch and slurmd. */
public final class AgentHostProcess implements AutoCloseable {
    public static final Duration LIMIT = Duration.ofSeconds(90);

    private final LabHost host;
    private final Path config;
    private final String usual;
    private final Path agentctl;
    private ChildProcess program;

    private AgentHostProcess(LabHost host, Path config, Path agentctl) throws IOException {
        this.host = host;
        this.config = config;
        this.usual = Files.readString(config);
        this.agentctl = agentctl;
        this.program = launch(host, config);
    }

    /**
     * @param relay address and port that the host reaches
     * @param agentctl {@link #agentctl}
     * @param drives of controlling VMs
     * @param console whether each VM has one
     */
    public static AgentHostProcess start(
            LabHost host, RelaySiteFiles site, String relay, Path agentctl, Optional<Path> drives, boolean console)
            throws IOException {
        Path config = AgentHostFiles.write(host, site, relay, drives, console);
        AgentHostProcess process = new AgentHostProcess(host, config, agentctl);
        boolean answers = false;
        try {
            process.awaitAnswer();
            answers = true;
        } finally {
            if (!answers) {
                process.close();
            }
        }
        return process;
    }

    /** Returns an agentctl for all hosts: it connects to the agent of the host on which it is called. */
    public static Path agentctl(Path folder, LabHost any) throws IOException {
        String socket = AgentHostFiles.socket(any).toString().replace("/" + any.name() + "/", "/$(hostname)/");
        Path script = Files.writeString(folder.resolve("agentctl"), """
                #!/bin/sh
                java=%s
                [ -x "$java" ] || java=java
                exec "$java" -Xmx32m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp %s org.cloister.ctl.Agentctl "$@" \
                --socket %s
                """.formatted(
                        Path.of(System.getProperty("java.home"), "bin", "java"),
                        System.getProperty("java.class.path"),
                        socket));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return script;
    }

    /** Starts the agent; it answers callers when this returns. */
    public void start() throws IOException {
        program = launch(host, config);
        awaitAnswer();
    }

    /**
     * Restarts the agent; it accepts work when this returns.
     *
     * @param times lines of its configuration's table {@code times}, beside the usual ones
     */
    public void restartWith(String times) throws IOException {
        kill();
        Files.writeString(config, usual + times + "\n");
        start();
        awaitReady();
    }

    private static ChildProcess launch(LabHost host, Path config) throws IOException {
        List<String> argv = new ArrayList<>(host.command(
                        host.java().toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xss512k",
                        "-Xmx96m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.cloister.host.daemon.AgentHostMain",
                        config.toString())
                .argv());
        return ChildProcess.start("agent-host", host.folder("log"), argv);
    }

    private void awaitAnswer() throws IOException {
        Poll.until(
                "agent-host of " + host.name(),
                LIMIT,
                "read " + log(),
                () -> hostCommand("vms").run().exit() == 0);
    }

    public Path log() throws IOException {
        return host.log("agent-host");
    }

    public void kill() throws IOException {
        host.command("pkill", "-KILL", "-f", "org.cloister.host.daemon.AgentHostMain " + config)
                .run();
        program.close();
    }

    public LabCommand hostCommand(String... arguments) {
        List<String> argv = new ArrayList<>(List.of(agentctl.toString(), "host"));
        argv.addAll(List.of(arguments));
        return host.command(argv.toArray(String[]::new));
    }

    public JsonNode hostAnswer(String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(arguments));
        argv.addAll(List.of("--output", "json"));
        return new ObjectMapper()
                .readTree(hostCommand(argv.toArray(String[]::new)).succeed());
    }

    public void awaitReady() throws IOException {
        Poll.until(
                "a host that takes work, " + host.name(),
                LIMIT,
                "ask agentctl host status, read " + log(),
                () -> hostCommand("status").run().exit() == 0);
    }

    @Override
    public void close() throws IOException {
        kill();
    }
}
