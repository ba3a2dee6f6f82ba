package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.Usage;
import org.cloister.protocol.ticket.wire.Proof;
import org.cloister.relay.state.TicketRow;

/** Papers as the relay keeps them itself; what cannot be read back is a damaged database. */
final class Papers {
    private Papers() {}

    static byte[] write(List<ByteString> chain) {
        return Proof.newBuilder().addAllChain(chain).build().toByteArray();
    }

    static List<ByteString> read(byte[] kept) {
        try {
            return Proof.parseFrom(kept).getChainList();
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("a ticket's chain in the relay's database cannot be read", e);
        }
    }

    /** What open tickets of a project ask for: a VM on each node. */
    static Usage usage(org.cloister.relay.state.Usage open) {
        return new Usage(open.tickets(), open.nodes(), open.cpus(), open.memoryMib(), open.nodes());
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
    static long life(byte[] envelope) {
        try {
            Envelope kept = Envelope.parse(envelope, Ticket.MAX_BYTES);
            byte[] payload = StrictJson.read(envelope, Ticket.MAX_BYTES, Ticket.MAX_BYTES)
                    .base64InEitherAlphabet("payload", Ticket.MAX_BYTES);
            return Ticket.parse(payload).life(kept.payloadType());
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
