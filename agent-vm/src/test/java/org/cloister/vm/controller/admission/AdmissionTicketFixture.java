package org.cloister.vm.controller.admission;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;

/** The admission's ticket of two slots, and what a relay gives for it. */
final class AdmissionTicketFixture {
    final Ticket ticket;
    private final SigningKey host;
    volatile boolean isAllocationRefused;

    /** @param host of the slot that the tests' workers are for; another one has the other */
    AdmissionTicketFixture(String project, SigningKey host) {
        this.ticket = new Ticket(
                BootFixture.TICKET,
                project,
                7,
                1,
                ControllerUnlockFixture.NOW,
                ControllerUnlockFixture.NOW.plus(Duration.ofHours(1)),
                new ResourceRequest(2, OptionalInt.of(2), 1, OptionalInt.of(1), 64, 0, false, 10, List.of()));
        this.host = host;
    }

    /** @param address the last number of the first slot's */
    Allocation allocation(int address) {
        List<AllocatedSlot> slots = new ArrayList<>();
        for (int slot = 0; slot < 2; slot++) {
            slots.add(new AllocatedSlot(
                    slot,
                    "node" + slot,
                    new CertificateName("node" + slot, CertificateRole.HOST.toString(), CertificateName.SITE),
                    slot == AdmissionFixture.SLOT ? host.verificationKey() : other(),
                    ProjectAddress.parse("10.64.12." + (address + slot)),
                    4,
                    4096));
        }
        return new Allocation(
                new CertificateName("relay", CertificateRole.RELAY.toString(), CertificateName.SITE),
                ticket.project(),
                BootFixture.TICKET,
                Digest.sha256(ticket.payload()),
                17,
                ControllerUnlockFixture.NOW,
                7,
                ControllerUnlockFixture.NETWORK,
                slots);
    }

    /** Stands for the verification of an allocation. */
    Allocation verifiedAllocation(int address) throws IOException {
        if (isAllocationRefused) {
            throw new IOException("allocation: refused by the test");
        }
        return allocation(address);
    }

    private static VerificationKey other() {
        try {
            return SigningKey.of(BootFixture.pair(SignatureCurve.P256)).verificationKey();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static RelayTicketMessage.Update update() {
        return new RelayTicketMessage.Update(
                BootFixture.TICKET,
                TicketState.RUNNING,
                Optional.empty(),
                "",
                17,
                ByteString.copyFromUtf8("x"),
                ByteString.EMPTY);
    }
}
