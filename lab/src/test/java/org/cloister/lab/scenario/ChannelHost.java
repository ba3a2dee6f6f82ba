package org.cloister.lab.scenario;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.cloister.lab.relay.Program;
import org.cloister.lab.relay.RelaySite;
import org.cloister.protocol.channel.Forwarding;
import org.cloister.protocol.channel.VmPort;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;

/** A host's agent, reduced to its link and one VM's port, as a process that can be killed. */
final class ChannelHost implements AgentEvents {
    private ChannelHost() {}

    /** Arguments: the relay's port on loopback, the socket of the VM's port, the folder of {@code RelaySite}. */
    public static void main(String[] args) throws IOException, InterruptedException {
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
        Forwarding forwarding = new Forwarding(
                RelaySite.HOST, new ChannelHost(), (port, what) -> System.out.println(port + ": " + what));
        try (AgentLink link = new AgentLink(loops, terms, forwarding, new SecureRandom());
                VmPort port = forwarding.open(loops.next(), Path.of(args[1]), Set.of(site.controller()))) {
            System.out.println("begun " + link.getClass().getSimpleName() + " " + port);
            new CountDownLatch(1).await();
        }
    }

    static Program start(int relay, Path socket, Path folder) throws IOException {
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
