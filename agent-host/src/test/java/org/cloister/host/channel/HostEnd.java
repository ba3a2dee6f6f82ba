package org.cloister.host.channel;

import com.codahale.metrics.MetricRegistry;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.Digest;
import org.cloister.protocol.channel.Forwarding;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.StatementFolder;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;

/** One process of a host's, as far as channels go; it is attached to no relay. */
public final class HostEnd implements AutoCloseable {
    private static final String PROJECT = "a".repeat(52);

    final MetricRegistry registry = new MetricRegistry();
    final ChannelMetrics metrics = new ChannelMetrics(registry, "");
    final Forwarding forwarding = new Forwarding(new Name("n1", "host", "site"), new Alone());
    final Evidence evidence;
    final Channels channels;

    public HostEnd(EventLoopGroup loops, SigningKey key, Path statements, FirstWord firstWord) {
        this(loops, key, statements, vm -> Optional.empty(), firstWord);
    }

    HostEnd(EventLoopGroup loops, SigningKey key, Path statements, Assignments assignments, FirstWord firstWord) {
        evidence = new Evidence("n1", key, new StatementFolder(statements), InstantSource.system(), metrics);
        channels = new Channels(loops, forwarding, evidence, assignments, firstWord, metrics);
    }

    public static SigningKey key(Curve curve) throws IOException, GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return SigningKey.of(generator.generateKeyPair());
    }

    public Channels channels() {
        return channels;
    }

    static VmOwner owner(int number) {
        return new VmOwner(
                PROJECT, "t".repeat(26), number, 7, String.format("%08x-0000-4000-8000-000000000000", number));
    }

    static VmFacts facts(VmOwner owner) {
        return new VmFacts(
                owner.project(),
                owner.life(),
                VmRole.WORKER,
                owner.ticket(),
                owner.slot(),
                Digest.sha384("image"),
                new Shape(1, 1024, 0),
                Sharing.NONE);
    }

    static ChannelPlan plan(int number, Path socket) {
        VmOwner owner = owner(number);
        return new ChannelPlan(owner, socket, Set.of(new Name("w" + number, "worker", PROJECT)), facts(owner));
    }

    @Override
    public void close() {
        channels.close();
    }

    private static final class Alone implements AgentEvents {
        @Override
        public void attached(Attachment attachment) {}

        @Override
        public void served(Name name, Optional<CloseReason> refused) {}

        @Override
        public void dialled(Attachment attachment, RelayMessage.Dial dial) {}

        @Override
        public boolean revoked(byte[] signed) {
            return true;
        }

        @Override
        public void lost(String why) {}
    }
}
