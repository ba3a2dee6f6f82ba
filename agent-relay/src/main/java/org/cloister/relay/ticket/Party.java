package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.ticket.OfficeMessage;

/**
 * Who is at the other end of a stream of tickets. From any thread. Answers go out at once, as many as were asked for; what it
 * did not ask for waits until earlier news is written, and of one thing only the newest does.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written shows as the stream's end
final class Party {
    private static final int WRITING = 16;

    private final Channel stream;
    private final Identity identity;
    private final List<ByteString> chain;
    private final Gate gate;

    // On the stream's event loop alone.
    private final Map<String, OfficeMessage> news = new LinkedHashMap<>();
    private int writing;

    /** @param chain in which it has shown itself, the leaf first */
    Party(Channel stream, Identity identity, List<ByteString> chain, Gate gate) {
        this.stream = stream;
        this.identity = identity;
        this.chain = chain;
        this.gate = gate;
    }

    Identity identity() {
        return identity;
    }

    List<ByteString> chain() {
        return chain;
    }

    /** In whose name: a device's person signs as an opener. */
    Name signs() {
        Name name = identity.name();
        return identity.role() == Role.DEVICE ? new Name(name.id(), Role.OPENER.toString(), name.project()) : name;
    }

    /** To one message of its own. */
    void answer(OfficeMessage message) {
        stream.writeAndFlush(Framing.frame(message.wire()));
        gate.answered();
    }

    /** Nothing is to be said to a message. */
    void skip() {
        gate.answered();
    }

    /** @param about what it replaces, if that is not written yet */
    void tell(String about, OfficeMessage message) {
        stream.eventLoop().execute(() -> {
            news.put(about, message);
            if (news.size() > LinkLimits.UNTOLD) {
                stream.close();
            } else {
                write();
            }
        });
    }

    private void write() {
        Iterator<OfficeMessage> next = news.values().iterator();
        while (writing < WRITING && next.hasNext()) {
            OfficeMessage message = next.next();
            next.remove();
            writing++;
            stream.writeAndFlush(Framing.frame(message.wire())).addListener(done -> {
                writing--;
                if (done.isSuccess()) {
                    write();
                }
            });
        }
    }

    void close() {
        stream.close();
    }
}
