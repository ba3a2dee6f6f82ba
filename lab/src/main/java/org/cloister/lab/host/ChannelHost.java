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
import org.cloister.base.encoding.Digest;
import org.cloister.host.channel.ChannelMetrics;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.channel.EvidenceFileStore;
import org.cloister.host.channel.GuestRegistrationListener;
import org.cloister.host.channel.VmChannels;
import org.cloister.host.channel.VmEvidenceIssuer;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;

/** An agent of a host, reduced to its link and one VM's channel, as a process that can be killed. */
public final class ChannelHost implements AgentLinkListener {
    private ChannelHost() {}

    /** Returns the VM as a host's ledger would have it. */
    public static VmFacts facts(RelaySiteFiles site) {
        ResourceOwner owner = owner(site);
        return new VmFacts(
                owner.project(),
                owner.vmId(),
                VmRole.CONTROLLER,
                owner.ticket(),
                owner.slot(),
                Digest.sha384("image"),
                new VmShape(1, 1024, 0),
                HostSharing.NONE);
    }

    private static ResourceOwner owner(RelaySiteFiles site) {
        return new ResourceOwner(
                site.controller().project(), "t".repeat(26), 0, 7, "01234567-89ab-4cde-8f01-23456789abcd");
    }

    /** Arguments: the relay's port on loopback, the socket of the VM's port, the folder of {@code RelaySiteFiles}. */
    public static void main(String[] args) throws IOException, GeneralSecurityException, InterruptedException {
        Path folder = Path.of(args[2]);
        RelaySiteFiles site = RelaySiteFiles.at(folder);
        TlsCredential own = site.credential(RelaySiteFiles.HOST);
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]))),
                () -> own,
                trust -> trust.only(RelaySiteFiles.RELAY),
                site.beliefs(),
                "lab");
        VmForwarder forwarding = new VmForwarder(RelaySiteFiles.HOST, new ChannelHost());
        ChannelMetrics metrics = new ChannelMetrics(new MetricRegistry(), "");
        VmEvidenceIssuer evidence = new VmEvidenceIssuer(
                RelaySiteFiles.HOST.id(),
                SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key())),
                new EvidenceFileStore(Files.createDirectories(folder.resolve("statements"))),
                InstantSource.system(),
                metrics);
        GuestRegistrationListener firstWord = vm -> System.out.println("first word of " + vm.uuid());
        try (AgentLink link = new AgentLink(loops, terms, forwarding, new SecureRandom());
                VmChannels channels = new VmChannels(
                        loops, forwarding, evidence, vm -> Optional.empty(), firstWord, metrics, System::nanoTime)) {
            channels.open(new ChannelPlan(owner(site), Path.of(args[1]), Set.of(site.controller()), facts(site)));
            System.out.println("begun " + link.getClass().getSimpleName() + " " + channels.count());
            new CountDownLatch(1).await();
        }
    }

    public static ChildProcess start(int relay, Path socket, Path folder) throws IOException {
        return ChildProcess.java(ChannelHost.class, folder, relay, socket, folder);
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        System.out.println("attached");
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {}

    @Override
    public boolean onRevocationList(byte[] signed) {
        return true;
    }

    @Override
    public void onLost(String why) {
        System.out.println("lost: " + why);
    }
}
