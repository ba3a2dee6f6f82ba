package org.cloister.lab.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Plan;
import org.cloister.lab.TcpStream;
import org.cloister.luks.secret.Secrets;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.network.NetworkPlan;
import org.cloister.vm.network.Uplink;
import org.cloister.vm.tunnel.Charon;
import org.cloister.vm.tunnel.Machine;
import org.cloister.vm.tunnel.ProjectTunnels;

/**
 * One end of a project's network as agent-vm makes it, in a guest of its own, and the same interface without guard and tunnel.
 * Each line of its input is a step: {@code tunnel}, {@code plain}, or {@code give BYTES} to the other end. The answer to each
 * goes to a pipe: {@code done}, or the seconds, or what went wrong.
 */
public final class LinkScript implements AutoCloseable {
    public static final ProjectFolder FOLDER = new ProjectFolder(Path.of("/run/link"));
    public static final Identity CONTROLLER = Identity.controller("c", "a");
    public static final Identity WORKER = Identity.worker("w1", "a");

    private static final Machine FIRST = new Machine("c", CONTROLLER, new Address("10.70.0.1"));
    private static final Machine SECOND = new Machine("w1", WORKER, new Address("10.70.0.2"));
    private static final String DEVICE = "eth0";
    private static final int MTU = 1500;
    private static final int PREFIX = 24;
    private static final int PORT = 5001;
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final Programs programs = Programs.ofThisMachine();
    private final Uplink uplink = new Uplink(programs);
    private final Charon charon = new Charon(programs, Path.of("/run/charon-link"), Esp.KERNEL);
    private final boolean calls;
    private final Plan plan;
    private final NetworkPlan network;
    private Optional<ProjectTunnels> tunnels = Optional.empty();

    private LinkScript(boolean calls) throws IOException {
        this.calls = calls;
        Machine self = calls ? SECOND : FIRST;
        this.plan = FOLDER.plan(Secrets.open(Secrets.Locking.REQUIRED), self)
                .with(calls ? Machine.peersOfWorker(FIRST, List.of()) : Machine.peersOfController(List.of(SECOND)));
        String link = programs.succeed("ip", "-brief", "link", "show", "dev", DEVICE);
        this.network = new NetworkPlan(
                link.strip().split("\\s+", -1)[2],
                self.address(),
                PREFIX,
                MTU,
                FIRST.address(),
                calls ? List.of() : List.of(SECOND.address()),
                Esp.KERNEL);
    }

    /** @param args {@code c}, or {@code w1}, which calls; and the pipe for answers */
    public static void main(String[] args) throws IOException {
        try (LinkScript link = new LinkScript(args[0].equals("w1"));
                BufferedReader steps =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
            link.take();
            for (String step = steps.readLine(); step != null; step = steps.readLine()) {
                String answer;
                try {
                    answer = link.step(step.split(" ", -1));
                } catch (IOException e) {
                    answer = "failed: " + e.getMessage();
                }
                Files.writeString(Path.of(args[1]), answer + "\n");
            }
        }
    }

    private String step(String[] words) throws IOException {
        switch (words[0]) {
            case "tunnel" -> tunnel();
            case "plain" -> plain();
            case "give" -> {
                Address other = calls ? FIRST.address() : SECOND.address();
                return Double.toString(
                        TcpStream.give(new InetSocketAddress(other.text(), PORT), Long.parseLong(words[1])));
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
        return "done";
    }

    private void tunnel() throws IOException {
        uplink.up(network);
        charon.start();
        ProjectTunnels opened = ProjectTunnels.open(charon.socket(), plan, event -> System.out.println(event));
        tunnels = Optional.of(opened);
        if (calls) {
            opened.awaitUp(FIRST.name(), LIMIT);
        }
    }

    private void plain() throws IOException {
        close();
        charon.stop();
        programs.succeed("ip", "xfrm", "state", "flush");
        programs.succeed("ip", "xfrm", "policy", "flush");
        programs.succeed("nft", "flush", "ruleset");
    }

    /** Whatever the way here, for as long as this program lives. */
    private void take() {
        Thread taker = new Thread(
                () -> {
                    try {
                        TcpStream.take(new InetSocketAddress(PORT));
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                "take");
        taker.setDaemon(true);
        taker.start();
    }

    @Override
    public void close() {
        tunnels.ifPresent(ProjectTunnels::close);
        tunnels = Optional.empty();
    }
}
