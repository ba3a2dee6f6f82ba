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
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.lab.TcpStream;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.vm.system.network.NetworkPlan;
import org.cloister.vm.system.network.ProjectInterface;
import org.cloister.vm.system.tunnel.CharonDaemon;
import org.cloister.vm.system.tunnel.ProjectTunnels;
import org.cloister.vm.system.tunnel.TunnelPeer;

/**
 * Runs one end of a project's network as agent-vm makes it, in a separate guest, and the same interface without guard
 * and tunnel. Each line of its input is a step: {@code tunnel}, {@code plain}, or {@code give BYTES} to the other end.
 * It writes the answer to each step to a pipe: {@code done}, the seconds, or the failure.
 */
public final class LinkScript implements AutoCloseable {
    public static final GuestProjectFolder FOLDER = new GuestProjectFolder(Path.of("/run/link"));
    public static final TunnelIdentity CONTROLLER = TunnelIdentity.controller("c", "a");
    public static final TunnelIdentity WORKER = TunnelIdentity.worker("w1", "a");

    private static final TunnelPeer FIRST = new TunnelPeer("c", CONTROLLER, new Ipv4Address("10.70.0.1"));
    private static final TunnelPeer SECOND = new TunnelPeer("w1", WORKER, new Ipv4Address("10.70.0.2"));
    private static final String DEVICE = "eth0";
    private static final int MTU = 1500;
    private static final int PREFIX = 24;
    private static final int PORT = 5001;
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final ProcessRunner programs = ProcessRunner.local();
    private final ProjectInterface uplink = new ProjectInterface(programs);
    private final CharonDaemon charon = new CharonDaemon(programs, Path.of("/run/charon-link"), EspMode.KERNEL);
    private final boolean calls;
    private final TunnelPlan plan;
    private final NetworkPlan network;
    private Optional<ProjectTunnels> tunnels = Optional.empty();

    private LinkScript(boolean calls) throws IOException {
        this.calls = calls;
        TunnelPeer self = calls ? SECOND : FIRST;
        this.plan = FOLDER.plan(SecretAllocator.open(SecretAllocator.Locking.REQUIRED), self)
                .with(
                        calls
                                ? TunnelPeer.peersOfWorker(FIRST, List.of())
                                : TunnelPeer.peersOfController(List.of(SECOND)));
        String link = programs.runChecked("ip", "-brief", "link", "show", "dev", DEVICE);
        this.network = new NetworkPlan(
                link.strip().split("\\s+", -1)[2],
                self.address(),
                PREFIX,
                MTU,
                FIRST.address(),
                calls ? List.of() : List.of(SECOND.address()),
                EspMode.KERNEL);
    }

    /** @param args {@code c}, or {@code w1}, which initiates; and the pipe for answers */
    public static void main(String[] args) throws IOException {
        try (LinkScript link = new LinkScript(args[0].equals("w1"));
                BufferedReader steps =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
            link.receiveFrames();
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
                Ipv4Address other = calls ? FIRST.address() : SECOND.address();
                return Double.toString(
                        TcpStream.send(new InetSocketAddress(other.text(), PORT), Long.parseLong(words[1])));
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
        programs.runChecked("ip", "xfrm", "state", "flush");
        programs.runChecked("ip", "xfrm", "policy", "flush");
        programs.runChecked("nft", "flush", "ruleset");
    }

    /** Receives bytes over any path, for as long as this program runs. */
    private void receiveFrames() {
        Thread taker = new Thread(
                () -> {
                    try {
                        TcpStream.receive(new InetSocketAddress(PORT));
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
