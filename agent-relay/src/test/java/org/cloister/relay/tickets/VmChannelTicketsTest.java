package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestAgent;
import org.cloister.transport.channel.PtyPort;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.channel.VmPort;
import org.cloister.transport.channel.VmPortListener;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A controlling VM's tickets from within the VM: through its port, its host and the relay. */
@Timeout(120)
@SuppressWarnings("NullAway") // set up before each
class VmChannelTicketsTest extends TicketFixture {
    @TempDir
    private Path folder;

    private AgentLink hostsLink;
    private PtyPort pipe;
    private VmPort port;
    private TestAgent inside;

    /** The host's own agent keeps nothing but its link, and each VM has a port of its name. */
    @Override
    void attach() throws Exception {
        host = TestAgent.silent(fixture);
        VmForwarder forwarding = new VmForwarder(RelayFixture.HOST, host);
        hostsLink = TestAgent.dialling(fixture, () -> hostOwn, fixture.relay.address(), host.trustStore, forwarding);
        hostLink = host.attachment().link();
        pipe = PtyPort.open(Files.createDirectory(folder.resolve("port")));
        port = forwarding.open(
                fixture.loops.next(), pipe.socket(), Set.of(fixture.controller), new VmPortListener() {});
        inside = TestAgent.inVm(fixture, pipe.device());
    }

    @AfterEach
    void close() {
        inside.close();
        port.close();
        pipe.close();
        hostsLink.close();
    }

    @Test
    void a_ticket_goes_out_by_the_vms_channel_and_its_nodes_come_back_by_it() throws Exception {
        vm = TestTicketAgent.controller(inside.attachment().link(), fixture.controller, controllerOwn);
        CertifiedIdentity relay = CertificateChain.parse(
                        vm.welcome.chain().stream().map(ByteString::toByteArray).toList())
                .verifyUnlisted(
                        Set.of(CertificateRole.RELAY),
                        TrustAnchors.none()
                                .withSite(fixture.trustStore.anchors().of(CertificateName.SITE)),
                        Instant.now());
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        RelayTicketMessage.Update running = vm.awaitState(ticket.id(), TicketState.RUNNING);
        assertThat(AllocationVerifier.read(running.allocation().toByteArray(), relay)
                        .ticket())
                .isEqualTo(ticket.id());
        vm.withdraw(ticket.id());
        assertThat(vm.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
    }

    @Test
    void a_vm_has_no_stream_of_tickets_for_a_name_that_is_not_its_own_or_for_none() throws Exception {
        ClientLink link = inside.attachment().link();
        TlsCredential worker = fixture.credential(fixture.worker);
        assertThat(end(link, Optional.of(speaker(fixture.worker, worker)))).contains("not-allowed");
        assertThat(end(link, Optional.empty())).contains("not-allowed");
    }

    @Test
    void who_the_vm_is_the_relay_believes_by_the_vms_own_key_and_not_by_its_host() throws Exception {
        ClientLink link = inside.attachment().link();
        // The port lets the name pass, and what signs is the host's key, or a worker's under the name.
        for (TlsCredential other : new TlsCredential[] {hostOwn, fixture.credential(fixture.worker)}) {
            assertThat(end(link, Optional.of(speaker(fixture.controller, other))))
                    .isNotEmpty();
        }
        assertThat(TestTicketAgent.controller(link, fixture.controller, controllerOwn)
                        .welcome
                        .chain())
                .as("its own is believed on the same channel")
                .isNotEmpty();
    }

    private static TicketStream.ControllerSigner speaker(CertificateName name, TlsCredential own) throws Exception {
        return new TicketStream.ControllerSigner(
                name,
                TestTicketAgent.chain(own).stream().map(ByteString::toByteArray).toList(),
                TestTicketAgent.key(own));
    }

    /** Why a stream ended on which nothing came. */
    private static String end(ClientLink link, Optional<TicketStream.ControllerSigner> speaker) throws Exception {
        BlockingQueue<String> ends = new LinkedBlockingQueue<>();
        TicketStream.open(link, speaker, new TicketStream.Events() {
            @Override
            public void onMessage(TicketStream stream, RelayTicketMessage message) {
                ends.add("heard " + message);
            }

            @Override
            public void onClosed(String why) {
                ends.add(why);
            }
        });
        String end = TestAgent.require(ends.poll(40, TimeUnit.SECONDS), "the stream goes on");
        assertThat(end).doesNotStartWith("heard");
        return end;
    }
}
