package org.cloister.protocol.ticket;

import com.google.protobuf.ByteString;
import java.util.List;

/**
 * Project's documents, approval and revocation list as a relay has them, not parsed, for a host that verifies them;
 * docs/protocol.md, section 13.
 *
 * @param documents genesis and successors in order, envelopes
 * @param approval the site's newest, an envelope
 * @param list the newest revocation list, in DER, of the owner below whom the ticket's signer is; empty if there is
 *     none
 */
public record ProjectTrustBundle(List<ByteString> documents, ByteString approval, ByteString list) {
    /** Limit of all documents together, in bytes. */
    public static final int MAX_DOCUMENTS = 1 << 20;

    private static final ProjectTrustBundle NONE =
            new ProjectTrustBundle(List.of(), ByteString.EMPTY, ByteString.EMPTY);

    public ProjectTrustBundle {
        documents = List.copyOf(documents);
    }

    /** Returns the bundle of a relay that has nothing of the project. */
    public static ProjectTrustBundle none() {
        return NONE;
    }

    public long documentBytes() {
        return documents.stream().mapToLong(ByteString::size).sum();
    }
}
