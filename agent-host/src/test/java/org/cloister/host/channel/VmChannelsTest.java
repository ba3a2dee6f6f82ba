package org.cloister.host.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceRefusedException;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.AssignmentRefusedException;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.transport.channel.AssignmentQuery;
import org.cloister.transport.channel.EvidenceQuery;
import org.cloister.transport.link.ClientLink;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Channels over a real character device and a real socket. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit and start() set it
class VmChannelsTest {
    private static final int PAUSE_MS = 20;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final BlockingQueue<ResourceOwner> registrations = new LinkedBlockingQueue<>();

    @TempDir
    private Path folder;

    private SigningKey key;
    private Path statements;
    private GuestChannelEnd vm;

    @BeforeEach
    void start() throws Exception {
        key = HostChannelEnd.key(SignatureCurve.P256);
        statements = Files.createDirectory(folder.resolve("statements"));
        vm = new GuestChannelEnd(loops, folder.resolve("vm"));
    }

    @AfterEach
    void stop() {
        vm.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private HostChannelEnd host() {
        return new HostChannelEnd(loops, key, statements, registrations::add);
    }

    private static AttestationClaims claim() throws Exception {
        return new AttestationClaims(
                new BootPublicKeys(
                        HostChannelEnd.key(SignatureCurve.P384).verificationKey(),
                        HostChannelEnd.key(SignatureCurve.P384).verificationKey()),
                Nonce.random(new SecureRandom()),
                CircuitBinding.of(new byte[1], new byte[2]));
    }

    private EvidenceStatement ask(ClientLink channel, AttestationClaims claim) throws Exception {
        DsseEnvelope envelope =
                GuestChannelEnd.done(EvidenceQuery.ask(channel, claim)).get();
        return EvidenceStatement.parse(envelope.verify(EvidenceStatement.TYPE, List.of(key.verificationKey()), 1));
    }

    /** As a VM does that is told to come back. */
    private EvidenceStatement askOften(ClientLink channel, AttestationClaims claim) throws Exception {
        while (true) {
            try {
                return ask(channel, claim);
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof EvidenceRefusedException refusal)) {
                    throw e;
                }
                if (refusal.why() != EvidenceMessage.RefusalReason.BUSY) {
                    throw refusal;
                }
                // Who asks without a pause is cut off as a flood.
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
        }
    }

    @Test
    void the_first_word_is_told_once_and_again_by_the_next_process() throws Exception {
        try (HostChannelEnd host = host()) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            vm.attach();
            assertThat(GuestChannelEnd.next(registrations)).isEqualTo(HostChannelEnd.owner(1));
            assertThat(host.channels.countAttached()).isEqualTo(1);
            ClientLink second = vm.attach().link();
            // Behind whatever the second session had told, for there is one writer.
            askOften(second, claim());
            assertThat(registrations).isEmpty();
            assertThat(host.metrics.sessions.getCount()).isGreaterThanOrEqualTo(2);
        }
        try (HostChannelEnd host = host()) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            vm.nextAttachment();
            assertThat(GuestChannelEnd.next(registrations)).isEqualTo(HostChannelEnd.owner(1));
        }
    }

    @Test
    void a_vm_that_is_asked_to_end_hears_it_again_from_the_next_process() throws Exception {
        try (HostChannelEnd host = host()) {
            host.channels.requestShutdown(HostChannelEnd.owner(1).uuid(), Duration.ofSeconds(20));
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            vm.attach();
            assertThat(GuestChannelEnd.next(registrations)).isEqualTo(HostChannelEnd.owner(1));
            assertThat(vm.leaves).as("there was no channel yet").isEmpty();
            host.channels.requestShutdown(HostChannelEnd.owner(1).uuid(), Duration.ofSeconds(20));
            assertThat(GuestChannelEnd.next(vm.leaves)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(20));
        }
        try (HostChannelEnd host = host()) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            host.channels.requestShutdown(HostChannelEnd.owner(1).uuid(), Duration.ofSeconds(10));
            vm.nextAttachment();
            assertThat(GuestChannelEnd.next(vm.leaves)).isLessThanOrEqualTo(Duration.ofSeconds(10));
        }
    }

    @Test
    void a_first_word_that_was_not_written_down_is_told_again() throws Exception {
        GuestRegistrationListener full = owner -> {
            registrations.add(owner);
            if (registrations.size() < 2) {
                throw new IOException("no space left on device");
            }
        };
        try (HostChannelEnd host = new HostChannelEnd(loops, key, statements, full)) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            vm.attach();
            long endNs = System.nanoTime() + Duration.ofSeconds(40).toNanos();
            while (registrations.size() < 2) {
                assertThat(System.nanoTime() - endNs).isNegative();
                Thread.onSpinWait();
            }
            assertThat(registrations).containsOnly(HostChannelEnd.owner(1));
        }
    }

    @Test
    void a_statement_has_the_hosts_facts_and_the_vms_claim_and_is_the_same_after_a_restart() throws Exception {
        AttestationClaims claim = claim();
        EvidenceStatement first;
        try (HostChannelEnd host = host()) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            first = ask(vm.attach().link(), claim);
            assertThat(first.facts()).isEqualTo(HostChannelEnd.facts(HostChannelEnd.owner(1)));
            assertThat(first.claim()).isEqualTo(claim);
            assertThat(first.host()).isEqualTo("n1");
            assertThat(host.metrics.statementsSigned.getCount()).isEqualTo(1);
        }
        try (HostChannelEnd host = host()) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            assertThat(ask(vm.nextAttachment().link(), claim)).isEqualTo(first);
        }
    }

    @Test
    void another_claim_is_refused_for_good_and_a_question_too_soon_for_now() throws Exception {
        try (HostChannelEnd host = host()) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            ClientLink channel = vm.attach().link();
            AttestationClaims claim = claim();
            ask(channel, claim);
            assertThatThrownBy(() -> ask(channel, claim)).hasMessageContaining("refusal: busy");
            assertThatThrownBy(() -> askOften(channel, claim())).hasMessageContaining("refusal: another");
            assertThat(askOften(channel, claim).claim()).isEqualTo(claim);
            assertThat(host.metrics.statementsRefused.getCount()).isEqualTo(1);
        }
    }

    private VmAssignment askWhat(ClientLink channel) throws Exception {
        while (true) {
            try {
                return GuestChannelEnd.done(AssignmentQuery.ask(channel)).get();
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof AssignmentRefusedException refusal)) {
                    throw e;
                }
                if (refusal.why() != AssignmentMessage.RefusalReason.BUSY) {
                    throw refusal;
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
        }
    }

    private HostChannelEnd host(AssignmentSource assignments) {
        return new HostChannelEnd(loops, key, statements, assignments, registrations::add);
    }

    @Test
    void a_vm_hears_what_it_is_and_verifies_it_and_hears_the_same_after_a_restart() throws Exception {
        BootFixture fixture = new BootFixture();
        Map<ResourceOwner, AssignmentMessage.Assigned> kept = Map.of(HostChannelEnd.owner(1), fixture.assigned());
        AssignmentSource assignments = vm -> Optional.ofNullable(kept.get(vm));
        VmAssignment first;
        try (HostChannelEnd host = host(assignments)) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            ClientLink channel = vm.attach().link();
            first = askWhat(channel);
            assertThat(first.name()).isEqualTo(fixture.worker);
            assertThat(first.requester()).isEqualTo(fixture.controller);
            assertThat(first.project().number()).isEqualTo(fixture.project.number());
            assertThatThrownBy(() ->
                            GuestChannelEnd.done(AssignmentQuery.ask(channel)).get())
                    .hasMessageContaining("refusal: busy");
            // Each kind of question has its own pause.
            ask(channel, claim());
        }
        try (HostChannelEnd host = host(assignments)) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            VmAssignment again = askWhat(vm.nextAttachment().link());
            assertThat(again.name()).isEqualTo(first.name());
            assertThat(again.project().id()).isEqualTo(first.project().id());
        }
    }

    @Test
    void a_vm_hears_that_nothing_was_kept_or_that_it_cannot_be_read_and_no_more() throws Exception {
        try (HostChannelEnd host = host()) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            ClientLink channel = vm.attach().link();
            assertThatThrownBy(() -> askWhat(channel)).hasMessageContaining("refusal: unknown");
        }
        AssignmentSource unreadable = owner -> {
            throw new IOException("/var/lib/cloister: input/output error");
        };
        try (HostChannelEnd host = host(unreadable)) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            ClientLink channel = vm.nextAttachment().link();
            assertThatThrownBy(() -> askWhat(channel))
                    .hasMessageContaining("refusal: failed")
                    .hasMessageNotContaining("/var");
        }
    }

    @Test
    void documents_that_a_host_has_forged_make_no_assignment() throws Exception {
        BootFixture fixture = new BootFixture();
        AssignmentMessage.Assigned forged = new AssignmentMessage.Assigned(
                fixture.worker, BootFixture.TICKET, 3, fixture.controller, new BootFixture().documents());
        try (HostChannelEnd host = host(owner -> Optional.of(forged))) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            ClientLink channel = vm.attach().link();
            assertThatThrownBy(() -> askWhat(channel))
                    .hasMessageContaining("want documents of " + fixture.project.id());
        }
    }

    @Test
    void what_cannot_be_recorded_is_not_signed_and_the_vm_learns_nothing_of_why() throws Exception {
        try (HostChannelEnd host = new HostChannelEnd(loops, key, folder.resolve("missing"), registrations::add)) {
            host.channels.open(HostChannelEnd.plan(1, vm.socket()));
            ClientLink channel = vm.attach().link();
            assertThatThrownBy(() -> ask(channel, claim()))
                    .hasMessageContaining("refusal: failed")
                    .hasMessageNotContaining("missing");
            assertThat(host.metrics.statementsFailed.getCount()).isEqualTo(1);
        }
    }

    @Test
    void channels_are_those_of_the_plans_and_no_two_have_one_name() throws Exception {
        ChannelPlan plan = HostChannelEnd.plan(1, vm.socket());
        ChannelPlan other = HostChannelEnd.plan(2, folder.resolve("nobody"));
        ResourceOwner third = HostChannelEnd.owner(3);
        ChannelPlan thief = new ChannelPlan(third, folder.resolve("nobody"), plan.names(), HostChannelEnd.facts(third));
        try (HostChannelEnd host = host()) {
            host.channels.reconcile(List.of(plan, other));
            vm.attach();
            assertThatThrownBy(() -> host.channels.open(thief)).hasMessageContaining("names of another port");
            assertThatThrownBy(() -> host.channels.open(HostChannelEnd.plan(1, folder.resolve("other"))))
                    .hasMessageContaining("want ChannelPlan");
            host.channels.reconcile(List.of(other));
            GuestChannelEnd.next(vm.losses);
            assertThat(host.channels.countAttached()).isZero();
            assertThat(host.channels.count()).isEqualTo(1);
            host.channels.reconcile(List.of(thief));
            assertThat(host.channels.count()).isEqualTo(1);
            host.channels.reconcile(List.of(thief, plan));
            assertThat(host.channels.count()).isEqualTo(1);
        }
    }

    @Test
    void facts_of_another_vm_are_no_plan() {
        ResourceOwner owner = HostChannelEnd.owner(1);
        for (ResourceOwner other : List.of(
                HostChannelEnd.owner(2),
                new ResourceOwner("b".repeat(51) + "a", owner.ticket(), 1, 7, owner.uuid()),
                new ResourceOwner(owner.project(), "u".repeat(26), 1, 7, owner.uuid()),
                new ResourceOwner(owner.project(), owner.ticket(), 4, 7, owner.uuid()))) {
            assertThatThrownBy(() -> new ChannelPlan(owner, folder, Set.of(), HostChannelEnd.facts(other)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("want facts of");
        }
    }

    @Test
    void statements_of_vms_that_are_no_more_are_forgotten() throws Exception {
        try (HostChannelEnd host = host()) {
            for (int i = 0; i < 3; i++) {
                assertThat(host.evidence.issue(HostChannelEnd.facts(HostChannelEnd.owner(i)), claim()))
                        .isInstanceOf(EvidenceMessage.Granted.class);
            }
            host.evidence.retain(() -> List.of(HostChannelEnd.owner(1)));
            assertThat(statements.toFile().list())
                    .containsExactly(HostChannelEnd.owner(1).vmId() + ".json");
            // Its life goes on with what it said.
            assertThat(host.evidence.issue(HostChannelEnd.facts(HostChannelEnd.owner(1)), claim()))
                    .isEqualTo(new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.ANOTHER));
        }
    }

    @Test
    void channels_that_are_closed_leave_no_thread_and_no_file() throws Exception {
        Path socket = folder.resolve("qemu");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                HostChannelEnd host = host()) {
            // Nobody accepts: each round's connections stay in the backlog.
            server.bind(UnixDomainSocketAddress.of(socket), 1024);
            openAndClose(host, socket);
            long files = files();
            int threads = Thread.activeCount();
            for (int round = 0; round < 5; round++) {
                openAndClose(host, socket);
            }
            assertThat(files()).isLessThanOrEqualTo(files);
            assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads);
        }
    }

    /** 100 VMs that say nothing. */
    private void openAndClose(HostChannelEnd host, Path socket) throws Exception {
        long before = files();
        for (int i = 0; i < 100; i++) {
            host.channels.open(HostChannelEnd.plan(i, socket));
        }
        await(() -> files() >= before + 100);
        host.channels.reconcile(List.of());
        await(() -> files() <= before);
    }

    private interface Condition {
        boolean holds() throws IOException;
    }

    private static void await(Condition condition) throws IOException {
        long endNs = System.nanoTime() + Duration.ofSeconds(40).toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime() - endNs).isNegative();
            Thread.onSpinWait();
        }
    }

    private static long files() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
