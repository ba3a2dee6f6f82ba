package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.ovs.SecureBridge;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A switch that crashed and was started again has all its flows within a second, and let nothing wrong pass meanwhile. */
@Tag("scenario")
@Tag("ovs")
@ExtendWith(SharedLab.class)
class SwitchRestartTest {
    private static final int RESTARTS = 10;
    private static final Duration BOUND = Duration.ofSeconds(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final List<IsolationProbe> PROBES = List.of(IsolationProbe.values());

    private final Random random = new Random(ScenarioSeed.of("restarts"));
    private final Lab lab;
    private int sent;

    SwitchRestartTest(Lab lab) {
        this.lab = lab;
    }

    @Test
    void flows_are_back_within_a_second_and_nothing_wrong_passes_before() throws Exception {
        List<Long> millis = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        ExecutorService beside = Executors.newSingleThreadExecutor();
        try (BridgeFixture stage = BridgeFixture.set(lab);
                SecureBridge one = open(1);
                SecureBridge two = open(2)) {
            one.replace(BridgeMachines.plans(1));
            two.replace(BridgeMachines.plans(2));
            try {
                for (int i = 0; i < RESTARTS; i++) {
                    LabHost host = lab.host(1 + i % 2);
                    Future<Long> restart = beside.submit(() -> restart(host));
                    List<BridgeFixture.Sent> meanwhile = new ArrayList<>();
                    while (!restart.isDone()) {
                        volley(stage, meanwhile);
                    }
                    millis.add(restart.get());
                    volley(stage, meanwhile);
                    BridgeFixture.sleep(100);
                    stage.receive();
                    meanwhile.forEach(
                            each -> stage.wrong(each).forEach(where -> wrong.add(each.what() + " came to " + where)));
                    sent += meanwhile.size();
                }
            } finally {
                one.replace(List.of());
                two.replace(List.of());
            }
        } finally {
            beside.shutdownNow();
            for (LabHost host : lab.hosts()) {
                host.ovs().ofctl("del-flows", "br-secure");
            }
        }
        System.out.println("restarts: flows back after " + millis + " ms; " + sent + " frames meanwhile, "
                + wrong.size() + " wrong");
        assertThat(wrong).isEmpty();
        assertThat(millis).hasSize(RESTARTS).allMatch(each -> each < BOUND.toMillis());
    }

    /** From when the switch takes connections until it has, by the ordinary tool, the flows that it had before. */
    private static long restart(LabHost host) throws IOException {
        Set<String> before = flows(host);
        assertThat(before).hasSizeGreaterThan(100);
        host.ovs().kill("ovs-vswitchd");
        Path socket = host.ovs().folder().resolve("br-secure.mgmt");
        assertThat(accepts(socket)).as("the dead switch's socket").isFalse();
        ExecutorService starter = Executors.newSingleThreadExecutor();
        try {
            // The command ends when the switch has carried out the database's rows, which may be later.
            Future<?> started = starter.submit(() -> {
                host.ovs().startSwitch();
                return null;
            });
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            while (!accepts(socket) && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            long start = System.nanoTime();
            Poll.until("the flows", TIMEOUT, "read the log of ovs-vswitchd", () -> before.equals(flows(host)));
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            started.get();
            return millis;
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException(e);
        } finally {
            starter.shutdownNow();
        }
    }

    private static Set<String> flows(LabHost host) throws IOException {
        return host.ovs()
                .ofctl("--no-stats", "-OOpenFlow14", "dump-flows", "br-secure")
                .lines()
                .collect(Collectors.toSet());
    }

    private static boolean accepts(Path socket) {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return channel.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private void volley(BridgeFixture stage, List<BridgeFixture.Sent> all) throws IOException {
        for (int i = 0; i < 24; i++) {
            BridgeMachines from = BridgeMachines.ALL.get(random.nextInt(BridgeMachines.ALL.size()));
            BridgeMachines to = BridgeMachines.ALL.get(random.nextInt(BridgeMachines.ALL.size()));
            if (!from.name().equals(to.name())) {
                all.add(stage.send(from, PROBES.get(random.nextInt(PROBES.size())), to));
            }
        }
        stage.receive();
        BridgeFixture.sleep(5);
    }

    private SecureBridge open(int host) {
        return SecureBridge.open(lab.host(host).bridge(), new MetricRegistry());
    }
}
