package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestAgent;
import org.cloister.relay.slurm.FakeGlobalSlurm;
import org.cloister.relay.slurm.GlobalJob;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A relay with a Slurm in memory, a host, and a controlling VM on its stream: real links, streams, records and log. */
@SuppressWarnings("NullAway") // set up before each
public abstract class TicketFixture {
    private static final TicketTimeouts FAST = new TicketTimeouts(
            Duration.ofMinutes(10),
            Duration.ofMinutes(5),
            Duration.ofMillis(100),
            Duration.ofMillis(400),
            Duration.ofSeconds(2),
            Duration.ofHours(8));

    @TempDir
    Path state = Path.of("");

    public final FakeGlobalSlurm slurm = new FakeGlobalSlurm(List.of("n1", "n2"), Set.of(), true);
    public RelayFixture fixture;
    public TestAgent host;
    public TlsCredential hostOwn;
    TlsCredential controllerOwn;
    public TestTicketAgent vm;
    public AgentAttachStream hostAttachment;
    public ClientLink hostLink;

    @BeforeEach
    void start() throws Exception {
        fixture = new RelayFixture(state);
        fixture.kill();
        fixture.slurm = Optional.of(slurm);
        fixture.times = FAST;
        fixture.relay = fixture.serve(0, RelayLimits.DEFAULT);
        hostOwn = fixture.credential(RelayFixture.HOST);
        controllerOwn = fixture.credential(fixture.controller);
        attach();
    }

    void attach() throws Exception {
        host = new TestAgent(fixture, hostOwn);
        hostAttachment = host.attachment();
        hostLink = hostAttachment.link();
        vm = TestTicketAgent.controller(hostLink, fixture.controller, controllerOwn);
    }

    @AfterEach
    void stop() {
        host.close();
        fixture.close();
    }

    public void restart() throws Exception {
        host.close();
        fixture.kill();
        fixture.relay = fixture.serve(0, RelayLimits.DEFAULT);
        attach();
    }

    public long job(String ticket) throws IOException {
        List<GlobalJob> jobs =
                slurm.jobs().stream().filter(job -> job.ticket().equals(ticket)).toList();
        assertThat(jobs).hasSize(1);
        return jobs.get(0).id();
    }

    public static void await(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.call()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.sleep(20);
        }
    }

    CertifiedIdentity relay() throws Exception {
        return CertificateChain.of(fixture.relayOwn().chain())
                .verifyUnlisted(Set.of(CertificateRole.RELAY), fixture.site.anchors(), Instant.now());
    }

    /** All records of the audit log, as text. */
    final String audit() throws Exception {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(state)) {
            for (Path each : files.filter(file -> file.toString().contains("audit"))
                    .filter(Files::isRegularFile)
                    .toList()) {
                all.append(new String(Files.readAllBytes(each), StandardCharsets.UTF_8));
            }
        }
        return all.toString();
    }
}
