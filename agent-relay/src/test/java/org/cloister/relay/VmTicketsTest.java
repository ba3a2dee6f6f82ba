package org.cloister.relay;

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
import org.cloister.protocol.channel.Forwarding;
import org.cloister.protocol.channel.PortEvents;
import org.cloister.protocol.channel.PtyPort;
import org.cloister.protocol.channel.VmPort;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A controlling VM's tickets from within the VM: through its port, its host and the relay. */
@Timeout(120)
@SuppressWarnings("NullAway") // set up before each
class VmTicketsTest extends TicketStage {
    @TempDir
    private Path folder;

    private AgentLink hostsLink;
    private PtyPort pipe;
    private VmPort port;
    private Agent inside;

    /** The host's own agent keeps nothing but its link, and each VM has a port of its name. */
    @Override
    void attach() throws Exception {
        host = Agent.silent(cast);
        Forwarding forwarding = new Forwarding(Cast.HOST, host);
        hostsLink = Agent.dialling(cast, () -> hostOwn, cast.relay.address(), host.beliefs, forwarding);
        hostLink = host.attachment().link();
        pipe = PtyPort.open(Files.createDirectory(folder.resolve("port")));
        port = forwarding.open(cast.loops.next(), pipe.socket(), Set.of(cast.controller), new PortEvents() {});
        inside = Agent.inVm(cast, pipe.device());
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
        vm = TicketParty.controller(inside.attachment().link(), cast.controller, controllerOwn);
        Identity relay = Chain.parse(
                        vm.welcome.chain().stream().map(ByteString::toByteArray).toList())
                .verifyUnlisted(
                        Set.of(Role.RELAY),
                        Anchors.none().withSite(cast.beliefs.anchors().of(Name.SITE)),
                        Instant.now());
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        OfficeMessage.Update running = vm.until(ticket.id(), TicketState.RUNNING);
        assertThat(ClaimCheck.read(running.allocation().toByteArray(), relay).ticket())
                .isEqualTo(ticket.id());
        vm.withdraw(ticket.id());
        assertThat(vm.until(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
    }

    @Test
    void a_vm_has_no_stream_of_tickets_for_a_name_that_is_not_its_own_or_for_none() throws Exception {
        Link link = inside.attachment().link();
        Credential worker = cast.credential(cast.worker);
        assertThat(end(link, Optional.of(speaker(cast.worker, worker)))).contains("not-allowed");
        assertThat(end(link, Optional.empty())).contains("not-allowed");
    }

    @Test
    void who_the_vm_is_the_relay_believes_by_the_vms_own_key_and_not_by_its_host() throws Exception {
        Link link = inside.attachment().link();
        // The port lets the name pass, and what signs is the host's key, or a worker's under the name.
        for (Credential other : new Credential[] {hostOwn, cast.credential(cast.worker)}) {
            assertThat(end(link, Optional.of(speaker(cast.controller, other)))).isNotEmpty();
        }
        assertThat(TicketParty.controller(link, cast.controller, controllerOwn)
                        .welcome
                        .chain())
                .as("its own is believed on the same channel")
                .isNotEmpty();
    }

    private static TicketStream.Speaker speaker(Name name, Credential own) throws Exception {
        return new TicketStream.Speaker(
                name,
                TicketParty.chain(own).stream().map(ByteString::toByteArray).toList(),
                TicketParty.key(own));
    }

    /** Why a stream ended on which nothing came. */
    private static String end(Link link, Optional<TicketStream.Speaker> speaker) throws Exception {
        BlockingQueue<String> ends = new LinkedBlockingQueue<>();
        TicketStream.open(link, speaker, new TicketStream.Events() {
            @Override
            public void heard(TicketStream stream, OfficeMessage message) {
                ends.add("heard " + message);
            }

            @Override
            public void ended(String why) {
                ends.add(why);
            }
        });
        String end = Agent.require(ends.poll(40, TimeUnit.SECONDS), "the stream goes on");
        assertThat(end).doesNotStartWith("heard");
        return end;
    }
}
