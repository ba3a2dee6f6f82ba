package org.cloister.lab.host;

import com.codahale.metrics.MetricRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.cloister.host.channel.ChannelMetrics;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.channel.Channels;
import org.cloister.host.channel.Evidence;
import org.cloister.host.channel.FirstWord;
import org.cloister.host.vm.VmOwner;
import org.cloister.lab.relay.Program;
import org.cloister.lab.relay.RelaySite;
import org.cloister.protocol.Digest;
import org.cloister.protocol.channel.Forwarding;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.StatementFolder;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;

/** A host's agent, reduced to its link and one VM's channel, as a process that can be killed. */
public final class ChannelHost implements AgentEvents {
    private ChannelHost() {}

    /** The VM, as a host's ledger would have it. */
    public static VmFacts facts(RelaySite site) {
        VmOwner owner = owner(site);
        return new VmFacts(
                owner.project(),
                owner.life(),
                VmRole.CONTROLLER,
                owner.ticket(),
                owner.slot(),
                Digest.sha384("image"),
                new Shape(1, 1024, 0),
                Sharing.NONE);
    }

    private static VmOwner owner(RelaySite site) {
        return new VmOwner(site.controller().project(), "t".repeat(26), 0, 7, "01234567-89ab-4cde-8f01-23456789abcd");
    }

    /** Arguments: the relay's port on loopback, the socket of the VM's port, the folder of {@code RelaySite}. */
    public static void main(String[] args) throws IOException, GeneralSecurityException, InterruptedException {
        Path folder = Path.of(args[2]);
        RelaySite site = RelaySite.at(folder);
        Credential own = site.credential(RelaySite.HOST);
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        AgentLink.Terms terms = new AgentLink.Terms(
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]))),
                () -> own,
                trust -> trust.only(RelaySite.RELAY),
                site.beliefs(),
                "lab");
        Forwarding forwarding = new Forwarding(RelaySite.HOST, new ChannelHost());
        ChannelMetrics metrics = new ChannelMetrics(new MetricRegistry(), "");
        Evidence evidence = new Evidence(
                RelaySite.HOST.id(),
                SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key())),
                new StatementFolder(Files.createDirectories(folder.resolve("statements"))),
                InstantSource.system(),
                metrics);
        FirstWord firstWord = vm -> System.out.println("first word of " + vm.uuid());
        try (AgentLink link = new AgentLink(loops, terms, forwarding, new SecureRandom());
                Channels channels =
                        new Channels(loops, forwarding, evidence, vm -> Optional.empty(), firstWord, metrics)) {
            channels.open(new ChannelPlan(owner(site), Path.of(args[1]), Set.of(site.controller()), facts(site)));
            System.out.println("begun " + link.getClass().getSimpleName() + " " + channels.count());
            new CountDownLatch(1).await();
        }
    }

    public static Program start(int relay, Path socket, Path folder) throws IOException {
        return Program.java(ChannelHost.class, folder, relay, socket, folder);
    }

    @Override
    public void attached(Attachment attachment) {
        System.out.println("attached");
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {}

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.REFUSED);
    }

    @Override
    public boolean revoked(byte[] signed) {
        return true;
    }

    @Override
    public void lost(String why) {
        System.out.println("lost: " + why);
    }
}
