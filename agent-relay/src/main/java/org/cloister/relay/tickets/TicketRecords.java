package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.wire.Proof;
import org.cloister.relay.state.TicketRow;

/**
 * Encodes and decodes the documents that the relay stores with tickets; a stored document that cannot be decoded means
 * a damaged database.
 */
final class TicketRecords {
    private TicketRecords() {}

    static byte[] encodeChain(List<ByteString> chain) {
        return Proof.newBuilder().addAllChain(chain).build().toByteArray();
    }

    static List<ByteString> decodeChain(byte[] stored) {
        try {
            return Proof.parseFrom(stored).getChainList();
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("a ticket's chain in the relay's database cannot be read", e);
        }
    }

    /** Returns the resource request of a stored ticket or opening, which was verified when it was received. */
    static ResourceRequest request(TicketRow row, byte[] envelope) {
        try {
            byte[] payload = DsseEnvelope.parse(envelope, Ticket.MAX_BYTES).unverifiedPayload();
            return row.isOpening()
                    ? Opening.parse(payload).request()
                    : Ticket.parse(payload).request();
        } catch (MalformedException e) {
            throw new IllegalStateException("a ticket in the relay's database cannot be read", e);
        }
    }

    /** Returns the epoch of the controlling VM that has signed the stored envelope. */
    static long controllerEpoch(byte[] envelope) {
        try {
            DsseEnvelope stored = DsseEnvelope.parse(envelope, Ticket.MAX_BYTES);
            return Ticket.parse(stored.unverifiedPayload()).controllerEpoch(stored.payloadType());
        } catch (MalformedException e) {
            throw new IllegalStateException("a ticket in the relay's database cannot be read", e);
        }
    }

    /** Decodes an allocation without verification, because the relay signed and stored it itself. */
    static Allocation ownAllocation(byte[] envelope) {
        try {
            return Allocation.parse(
                    DsseEnvelope.parse(envelope, Allocation.MAX_ENVELOPE).unverifiedPayload());
        } catch (MalformedException e) {
            throw new IllegalStateException("an allocation in the relay's database cannot be read", e);
        }
    }
}
