package org.cloister.host.daemon;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.host.channel.AssignmentSource;
import org.cloister.host.channel.EvidenceFileStore;
import org.cloister.host.channel.VmChannels;
import org.cloister.host.channel.VmEvidenceIssuer;
import org.cloister.host.metrics.HostMetrics;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTimeouts;
import org.cloister.host.resources.VmFolders;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.resources.VmPlanSamples;
import org.cloister.host.tickets.ClaimResponseVerifier;
import org.cloister.host.tickets.EpochStore;
import org.cloister.host.tickets.TicketClaims;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.tls.TlsCredential;

/**
 * A host's agent as far as its VMs' channels go, put together as {@link HostDaemon} does: for tests that have the
 * agents of its VMs. One that ends leaves what it had on disk to the next.
 */
@SuppressWarnings("NullAway") // what nobody here uses is not there
public final class HostChannelFixture implements AutoCloseable {
    private static final VmTimeouts TIMES =
            new VmTimeouts(Duration.ofMinutes(5), Duration.ofMinutes(5), Duration.ofMinutes(5));

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final VmLedger ledger;
    private final TicketClaims claims;
    private final HostMetrics metrics;
    private final VmRuns runs;
    private final VmChannels channels;
    private final AgentLink link;

    /**
     * Host's own side: its name and what it knows of its VMs.
     *
     * @param state a folder of its own
     * @param trustStore of its site
     * @param answered counts how often it said what a VM is, or that it does not know
     */
    public record Self(
            Path state,
            CertificateName name,
            TlsCredential own,
            InetSocketAddress relay,
            TrustStore trustStore,
            AtomicInteger answered) {
        public SigningKey key() throws IOException {
            return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
        }

        private VmFolders folders() throws IOException {
            return new VmFolders(Files.createDirectories(state.resolve("vms")));
        }

        private Path ledger() {
            return state.resolve("ledger");
        }

        /** The record of what it has vouched for. */
        public EvidenceFileStore statements() throws IOException {
            return new EvidenceFileStore(Files.createDirectories(state.resolve("statements")));
        }

        /** The folder of a VM, where its assignment is. */
        public Path folder(VmPlan plan) throws IOException {
            return folders().folder(plan.owner());
        }
    }

    public HostChannelFixture(Self self) throws IOException {
        InstantSource clock = InstantSource.system();
        ledger = VmLedger.open(self.ledger());
        VmFolders folders = self.folders();
        EpochStore epochs = EpochStore.open(self.state().resolve("epochs"));
        claims = new TicketClaims(
                new ClaimResponseVerifier(self.key().verificationKey(), self.trustStore(), epochs, ledger::hasTicket),
                (head, from) -> {},
                TicketClaims.DEFAULT_TIMEOUT);
        metrics = new HostMetrics(ledger::entries, Duration.ofMinutes(1), clock);
        VmTerminator terminator = new VmTerminator(ledger, metrics, () -> {}, owner -> {}, clock);
        runs = new VmRuns(null, ledger, terminator, null, (ticket, code, phase) -> {}, clock);
        VmForwarder forwarding = new VmForwarder(self.name(), new HostLinkListener(claims, (head, from) -> {}));
        VmEvidenceIssuer evidence =
                new VmEvidenceIssuer(self.name().id(), self.key(), self.statements(), clock, metrics.channels());
        AssignmentSource assignments = owner -> {
            self.answered().incrementAndGet();
            return folders.assignment(owner);
        };
        channels = new VmChannels(
                loops, forwarding, evidence, assignments, runs::onRegistered, metrics.channels(), System::nanoTime);
        GuestShutdownNotifier shutdownNotifier = new GuestShutdownNotifier(ledger, TIMES, clock, channels);
        runs.setEndListener(shutdownNotifier::onEndRecorded);
        new ChannelUpdates(ledger, folders, TIMES, channels, evidence, shutdownNotifier, terminator).update();
        link = new AgentLink(
                loops,
                new AgentLink.Settings(List.of(self.relay()), self::own, each -> each, self.trustStore(), "agent-host"),
                forwarding,
                new SecureRandom());
    }

    /** Makes a VM as far as a host has it on disk when it runs: whoever begins next finds it. */
    public static void runs(Self self, VmPlan plan, AssignmentMessage.Assigned assignment) throws Exception {
        VmPlanSamples.make(self.folders(), plan, assignment);
        try (VmLedger ledger = VmLedger.open(self.ledger())) {
            ledger.claim(VmLedgerEntry.claim(plan.owner(), false, System.currentTimeMillis()));
            for (VmStartStep step : VmStartStep.values()) {
                if (step != VmStartStep.CLAIMED && step != VmStartStep.REGISTERED) {
                    ledger.recordStep(plan.owner().uuid(), step);
                }
            }
        }
    }

    /** Whether it can reach whom its VMs ask for. */
    public boolean isLinked() {
        return claims.isConnected();
    }

    /** Whether the VM's agent was heard, by this one or one before it. */
    public boolean isRegistered(VmPlan plan) {
        return ledger.entry(plan.owner().uuid())
                .filter(entry -> entry.step() == VmStartStep.REGISTERED)
                .isPresent();
    }

    /** As its job's end does. */
    public void end(VmPlan plan) throws IOException {
        runs.requestEnd(plan.owner().uuid());
    }

    /** A counter of its metrics, without their prefix. */
    public long counted(String name) {
        return metrics.registry().counter("cloister.host." + name).getCount();
    }

    @Override
    public void close() throws IOException {
        link.close();
        channels.close();
        runs.close();
        claims.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        ledger.close();
    }
}
