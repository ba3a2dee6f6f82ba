package org.cloister.relay.links;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.MessageFraming;

/** Caches the encoded revocation lists, so that a list that goes to many links is in memory once. Thread-safe. */
final class RevocationListFrames {
    private final Map<RevocationList, ByteBuf> frames = new HashMap<>();

    /**
     * Returns the encoded list, to be written once, by one link.
     *
     * @param inForce all lists in force; frames of other lists are kept only by the links that still write them
     */
    synchronized ByteBuf framed(RevocationList list, Collection<RevocationList> inForce) {
        frames.keySet().retainAll(inForce);
        ByteBuf known = frames.get(list);
        if (known == null) {
            RelayMessage message = new RelayMessage.Revocations(ByteString.copyFrom(list.bytes()));
            known = Unpooled.unreleasableBuffer(MessageFraming.frame(message.wire()));
            if (inForce.contains(list)) {
                frames.put(list, known);
            }
        }
        return known.duplicate();
    }
}
