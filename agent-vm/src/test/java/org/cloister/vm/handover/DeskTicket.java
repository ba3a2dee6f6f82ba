package org.cloister.vm.handover;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.opening.OpeningWorld;

/** The desk's ticket of two slots, and what a relay gives for it. */
final class DeskTicket {
    final Ticket ticket;
    private final SigningKey host;

    /** @param host of the slot that the tests' workers are for; another one has the other */
    DeskTicket(String project, SigningKey host) {
        this.ticket = new Ticket(
                BootWorld.TICKET,
                project,
                7,
                1,
                OpeningWorld.NOW,
                OpeningWorld.NOW.plus(Duration.ofHours(1)),
                new ResourceRequest(2, OptionalInt.of(2), 1, OptionalInt.of(1), 64, 0, false, 10, List.of()));
        this.host = host;
    }

    /** @param address the last number of the first slot's */
    Allocation allocation(int address) {
        List<Slot> slots = new ArrayList<>();
        for (int slot = 0; slot < 2; slot++) {
            slots.add(new Slot(
                    slot,
                    "node" + slot,
                    new Name("node" + slot, Role.HOST.toString(), Name.SITE),
                    slot == DeskWorld.SLOT ? host.verificationKey() : other(),
                    Address.parse("10.64.12." + (address + slot)),
                    4,
                    4096));
        }
        return new Allocation(
                new Name("relay", Role.RELAY.toString(), Name.SITE),
                ticket.project(),
                BootWorld.TICKET,
                Digest.sha256(ticket.payload()),
                17,
                OpeningWorld.NOW,
                7,
                OpeningWorld.NETWORK,
                slots);
    }

    private static VerificationKey other() {
        try {
            return SigningKey.of(BootWorld.pair(Curve.P256)).verificationKey();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static OfficeMessage.Update update() {
        return new OfficeMessage.Update(
                BootWorld.TICKET,
                TicketState.RUNNING,
                Optional.empty(),
                "",
                17,
                ByteString.copyFromUtf8("x"),
                ByteString.EMPTY);
    }
}
