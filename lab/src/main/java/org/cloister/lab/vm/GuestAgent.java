package org.cloister.lab.vm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.Poll;
import org.cloister.lab.host.ChannelHost;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;

/**
 * The image's agent in a guest whose host answers on the channel and gives no assignment; measures when each phase is
 * reached, and the cost of waiting afterwards.
 */
@SuppressWarnings("try") // relay and host are there only for the agent
public final class GuestAgent implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Duration PAUSE = Duration.ofSeconds(1);
    /** The bench measures an agent that has waited for a while; it sends no messages then. */
    private static final Duration SETTLE = Duration.ofSeconds(10);

    private static final String UNIT = "agent-vm.service";
    private static final String STATUS = "/run/cloister/agent-vm.status";
    /** Index in proc(5), counted from the field after the program's name; in hundredths of a second. */
    private static final int USER_TIME = 11;

    private static final double TICKS = 100;
    private static final double KIB_A_MB = 1024 / 1e6;

    private final Path folder;
    private final int port;
    private final ChildProcess relay;

    private GuestAgent(Path folder, int port, ChildProcess relay) {
        this.folder = folder;
        this.port = port;
        this.relay = relay;
    }

    /**
     * Measurements of one boot.
     *
     * @param seconds since the guest's kernel began, of each of the agent's phases
     * @param agentSeconds of these, those since the agent's own start until it was attached
     * @param cpuSeconds of processor time until then
     * @param residentMb when it waits
     * @param ownMb the same without mapped files
     */
    public record Boot(
            Map<String, Double> seconds, double agentSeconds, double cpuSeconds, double residentMb, double ownMb) {}

    /**
     * Starts with a running relay.
     *
     * @param folder of a site, which is created again
     */
    public static GuestAgent start(Path folder) throws IOException {
        LabHome.delete(folder);
        Files.createDirectories(folder);
        RelaySiteFiles site = RelaySiteFiles.create(folder, 0);
        int port = ChildProcess.port();
        GuestAgent agent = new GuestAgent(folder, port, ChildProcess.relay(folder, site.relayConfig(port), port));
        boolean isRunning = false;
        try {
            site.deliver();
            isRunning = true;
            return agent;
        } finally {
            if (!isRunning) {
                agent.relay.close();
            }
        }
    }

    public Boot boot(LabHost host, LabVmSpec spec) throws IOException {
        try (LabVm vm = host.boot(spec);
                ChildProcess channel = ChannelHost.start(port, vm.agentSocket(), folder)) {
            vm.awaitRunner();
            Poll.until(
                    "agent-vm attached",
                    LIMIT,
                    "read " + vm.consoleFile(),
                    PAUSE,
                    () -> status(vm).containsKey("attached"));
            String process = "/proc/"
                    + vm.succeed("systemctl", "show", "--value", "-p", "MainPID", UNIT)
                            .strip();
            String stat = vm.succeed("cat", process + "/stat");
            Map<String, String> status = status(vm);
            pause();
            String memory = vm.succeed("cat", process + "/status");
            Map<String, Double> seconds = new HashMap<>();
            for (String phase : new String[] {"started", "keys", "attached"}) {
                seconds.put(phase, words(status, phase)[0]);
            }
            return new Boot(
                    seconds,
                    words(status, "attached")[1],
                    cpu(stat),
                    megabytes(memory, "VmRSS:"),
                    megabytes(memory, "RssAnon:"));
        }
    }

    private static double[] words(Map<String, String> status, String phase) throws LabException {
        String[] words = Optional.ofNullable(status.get(phase))
                .orElseThrow(() -> new LabException(STATUS + ": no " + phase, "read the agent's journal"))
                .split(" ", -1);
        return new double[] {Double.parseDouble(words[0]), Double.parseDouble(words[1])};
    }

    private static Map<String, String> status(LabVm vm) throws IOException {
        Map<String, String> status = new HashMap<>();
        vm.run("cat", STATUS).out().lines().map(line -> line.split(" ", 2)).forEach(words -> {
            if (words.length == 2) {
                status.put(words[0], words[1]);
            }
        });
        return status;
    }

    private static double cpu(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1])) / TICKS;
    }

    private static double megabytes(String status, String key) throws LabException {
        return status.lines()
                        .filter(line -> line.startsWith(key))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                        .findFirst()
                        .orElseThrow(() -> new LabException("agent-vm's status: no " + key, "look at it by hand"))
                * KIB_A_MB;
    }

    private static void pause() throws LabException {
        try {
            Thread.sleep(SETTLE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted", "start again", e);
        }
    }

    @Override
    public void close() throws IOException {
        relay.close();
        LabHome.delete(folder);
    }
}
