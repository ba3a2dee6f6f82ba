package org.cloister.host.channel;

import com.codahale.metrics.MetricRegistry;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.base.encoding.Digest;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;

/** One process of a host's, as far as channels go; it is attached to no relay. */
public final class HostChannelEnd implements AutoCloseable {
    private static final String PROJECT = "a".repeat(52);

    /** Moves by a test's hand alone, and begins where the number is about to overflow, as it may. */
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1);

    final MetricRegistry registry = new MetricRegistry();
    final ChannelMetrics metrics = new ChannelMetrics(registry, "");
    final VmForwarder forwarding = new VmForwarder(new CertificateName("n1", "host", "site"), new DetachedAgent());
    final VmEvidenceIssuer evidence;
    final VmChannels channels;

    public HostChannelEnd(
            EventLoopGroup loops, SigningKey key, Path statements, GuestRegistrationListener registration) {
        this(loops, key, statements, vm -> Optional.empty(), registration);
    }

    HostChannelEnd(
            EventLoopGroup loops,
            SigningKey key,
            Path statements,
            AssignmentSource assignments,
            GuestRegistrationListener registration) {
        evidence = new VmEvidenceIssuer("n1", key, new EvidenceFileStore(statements), InstantSource.system(), metrics);
        channels = new VmChannels(loops, forwarding, evidence, assignments, registration, metrics, nowNs::get);
    }

    public static SigningKey key(SignatureCurve curve) throws IOException, GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return SigningKey.of(generator.generateKeyPair());
    }

    public VmChannels channels() {
        return channels;
    }

    public VmEvidenceIssuer evidence() {
        return evidence;
    }

    /** Moves the channels' clock. */
    public void advance(Duration time) {
        nowNs.addAndGet(time.toNanos());
    }

    static ResourceOwner owner(int number) {
        return new ResourceOwner(
                PROJECT, "t".repeat(26), number, 7, String.format("%08x-0000-4000-8000-000000000000", number));
    }

    static VmFacts facts(ResourceOwner owner) {
        return new VmFacts(
                owner.project(),
                owner.vmId(),
                VmRole.WORKER,
                owner.ticket(),
                owner.slot(),
                Digest.sha384("image"),
                new VmShape(1, 1024, 0),
                HostSharing.NONE);
    }

    static ChannelPlan plan(int number, Path socket) {
        ResourceOwner owner = owner(number);
        return new ChannelPlan(
                owner, socket, Set.of(new CertificateName("w" + number, "worker", PROJECT)), facts(owner));
    }

    @Override
    public void close() {
        channels.close();
    }

    private static final class DetachedAgent implements AgentLinkListener {
        @Override
        public void onAttached(AgentAttachStream attachment) {}

        @Override
        public void onServed(CertificateName name, Optional<CloseReason> refused) {}

        @Override
        public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {}

        @Override
        public boolean onRevocationList(byte[] signed) {
            return true;
        }

        @Override
        public void onLost(String why) {}
    }
}
