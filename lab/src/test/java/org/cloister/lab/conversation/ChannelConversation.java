package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.base.encoding.Digest;
import org.cloister.host.daemon.HostChannelFixture;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.resources.VmPlanSamples;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.relay.links.LoopbackRelay;
import org.cloister.transport.channel.PortFault;
import org.cloister.transport.channel.PortWire;
import org.cloister.transport.channel.PtyPort;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.daemon.BootedVm;

/**
 * A VM and its host, each with the code of its agent, at the ends of one port, and a relay that the host is linked to. What goes
 * wrong in the port's pipe may be that one of the agents ends and starts again.
 */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class ChannelConversation implements AutoCloseable {
    private static final long JOB = 4711;
    private static final long TIMEOUT_S = 90;
    /** Longer than a session and a question take to come again. */
    private static final long QUIET_MS = 2500;

    final LoopbackRelay relay;
    final BootedVm vm;
    final HostChannelFixture.Self self;
    VmPlan plan;
    volatile HostChannelFixture host;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final PtyPort pipe;
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private AssignmentMessage.Assigned assigned;
    private boolean closed;

    ChannelConversation(Path folder, PortWire wire) throws Exception {
        relay = new LoopbackRelay(Files.createDirectory(folder.resolve("relay")));
        self = new HostChannelFixture.Self(
                Files.createDirectory(folder.resolve("host")),
                relay.host(),
                relay.credential(relay.host()),
                relay.address(),
                relay.trustStore(),
                new AtomicInteger());
        pipe = PtyPort.open(Files.createDirectory(folder.resolve("port")), wire);
        vm = new BootedVm(pipe.device(), folder.resolve("run"));
        wire.endBy(this::closePath);
    }

    /** Another host of the site with its own link, on which somebody else is. */
    AgentLink elsewhere(AgentLinkListener events) throws Exception {
        TlsCredential own = relay.credential(new CertificateName("n2", "host", CertificateName.SITE));
        return new AgentLink(
                loops,
                new AgentLink.Settings(List.of(relay.address()), () -> own, each -> each, relay.trustStore(), "a test"),
                events,
                new SecureRandom());
    }

    /** Makes a VM as far as the host has it on disk. */
    void make(AssignmentMessage.Assigned assignment, Digest image, Optional<String> drive) throws Exception {
        assigned = assignment;
        ResourceOwner owner = new ResourceOwner(
                assigned.name().project(),
                assigned.ticket(),
                assigned.slot(),
                JOB,
                UUID.randomUUID().toString());
        plan = VmPlanSamples.on(pipe.socket(), owner, image, drive);
        HostChannelFixture.runs(self, plan, assigned);
    }

    /** The host's agent first: its VM finds it linked. */
    void boot() throws Exception {
        synchronized (this) {
            host = new HostChannelFixture(self);
        }
        await("the host's link", () -> host.isLinked());
        synchronized (this) {
            vm.start();
        }
    }

    private synchronized void closePath(PortFault.Kind kind) {
        if (closed) {
            return;
        }
        try {
            if (kind == PortFault.Kind.VM_RESTARTS) {
                // What the host writes first comes before the VM is there.
                if (vm.starts() > 0) {
                    vm.kill();
                    vm.start();
                }
                return;
            }
            pipe.hangUp();
            if (kind == PortFault.Kind.HOST_RESTARTS) {
                host.close();
                host = new HostChannelFixture(self);
            }
        } catch (Exception | AssertionError e) {
            failures.add(e);
        }
    }

    void await(String what, Callable<Boolean> condition) throws Exception {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        while (!condition.call()) {
            assertThat(failures).isEmpty();
            assertThat(System.nanoTime() - endNs)
                    .as("%s within %s s", what, TIMEOUT_S)
                    .isNegative();
            Thread.sleep(10);
        }
    }

    /** The same of a VM that may have gone off. */
    void awaitUnlessOff(String what, Callable<Boolean> condition) throws Exception {
        await(what, () -> vm.isOff() || condition.call());
    }

    /** A list of the VM's project that comes while it is there. */
    void revoke(byte[] second) throws Exception {
        relay.deliver(second);
        awaitUnlessOff("the second list of revocations", () -> vm.hasRevocations(2));
    }

    /** What the VM is was asked for, and is not asked for again. */
    void awaitAnswers() throws Exception {
        await("an answer", () -> self.answered().get() > 0);
        for (int before = 0; before < self.answered().get(); ) {
            before = self.answered().get();
            Thread.sleep(QUIET_MS);
        }
    }

    /** As its job ends it: the VM hears of it and goes off by itself. */
    void leave() throws Exception {
        synchronized (this) {
            host.end(plan);
        }
        await("a VM that is off", vm::isOff);
    }

    /** What holds for each VM, whatever became of it. */
    void requireAgreed() throws Exception {
        await("the VM's first word on disk", () -> host.isRegistered(plan));
        assertThat(failures).isEmpty();
        for (VmAssignment each : vm.assignments) {
            assertThat(each.name()).isEqualTo(assigned.name());
            assertThat(each.requester()).isEqualTo(assigned.requester());
            assertThat(each.ticket()).isEqualTo(assigned.ticket());
            assertThat(each.slot()).isEqualTo(assigned.slot());
            assertThat(each.project().id()).isEqualTo(assigned.name().project());
        }
    }

    /** What the host has vouched for, if it has: it is what this VM's own keys have asked for. */
    Optional<EvidenceStatement> vouched() throws IOException {
        Optional<byte[]> recorded = self.statements().find(plan.owner().vmId());
        if (recorded.isEmpty()) {
            return Optional.empty();
        }
        EvidenceStatement statement = EvidenceStatement.parse(recorded.get());
        assertThat(vm.isAsked()).as("a VM that knows it has asked").isTrue();
        assertThat(statement.facts()).isEqualTo(plan.facts());
        assertThat(statement.claim().keys()).isEqualTo(vm.keys.get(vm.keys.size() - 1));
        return Optional.of(statement);
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        vm.close();
        if (host != null) {
            host.close();
        }
        pipe.close();
        relay.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
