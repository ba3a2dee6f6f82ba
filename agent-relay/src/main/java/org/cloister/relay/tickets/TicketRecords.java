package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.QuotaUsage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.wire.Proof;
import org.cloister.relay.state.TicketRow;

/** Papers as the relay keeps them itself; what cannot be read back is a damaged database. */
final class TicketRecords {
    private TicketRecords() {}

    static byte[] encodeChain(List<ByteString> chain) {
        return Proof.newBuilder().addAllChain(chain).build().toByteArray();
    }

    static List<ByteString> decodeChain(byte[] kept) {
        try {
            return Proof.parseFrom(kept).getChainList();
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("a ticket's chain in the relay's database cannot be read", e);
        }
    }

    /** What open tickets of a project ask for: a VM on each node. */
    static QuotaUsage usage(org.cloister.relay.state.OpenTicketUsage open) {
        return new QuotaUsage(open.tickets(), open.nodes(), open.cpus(), open.memoryMib(), open.nodes());
    }

    /** Of one that was checked when it came. */
    static ResourceRequest request(TicketRow row, byte[] envelope) {
        try {
            byte[] payload = StrictJson.read(envelope, Ticket.MAX_BYTES, Ticket.MAX_BYTES)
                    .base64InEitherAlphabet("payload", Ticket.MAX_BYTES);
            return row.isOpening()
                    ? Opening.parse(payload).request()
                    : Ticket.parse(payload).request();
        } catch (MalformedException e) {
            throw new IllegalStateException("a ticket in the relay's database cannot be read", e);
        }
    }

    /** Epoch of the controlling VM whose word a ticket is now. */
    static long controllerEpoch(byte[] envelope) {
        try {
            DsseEnvelope kept = DsseEnvelope.parse(envelope, Ticket.MAX_BYTES);
            byte[] payload = StrictJson.read(envelope, Ticket.MAX_BYTES, Ticket.MAX_BYTES)
                    .base64InEitherAlphabet("payload", Ticket.MAX_BYTES);
            return Ticket.parse(payload).controllerEpoch(kept.payloadType());
        } catch (MalformedException e) {
            throw new IllegalStateException("a ticket in the relay's database cannot be read", e);
        }
    }

    /** Of the relay's own signing: it is in the relay's own database. */
    static Allocation ownAllocation(byte[] envelope) {
        try {
            return Allocation.parse(StrictJson.read(envelope, Allocation.MAX_ENVELOPE, Allocation.MAX_ENVELOPE)
                    .base64("payload", Allocation.MAX_BYTES));
        } catch (MalformedException e) {
            throw new IllegalStateException("an allocation in the relay's database cannot be read", e);
        }
    }
}
