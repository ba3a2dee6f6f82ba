package org.cloister.ctl;

import io.netty.channel.Channel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.CircuitSplice;
import org.cloister.transport.circuit.FaultyPath;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.StreamResponse;

/** Circuits of a {@link LoopbackTicketRelay}: streams spliced as a relay does, and cut when a test says so. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class LoopbackCircuits {
    private final SecureRandom random = new SecureRandom();
    private final Map<CertificateName, Channel> served = new ConcurrentHashMap<>();
    private final Map<DialBackToken, Channel> pending = new ConcurrentHashMap<>();
    private final Set<CircuitSplice> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger spliced = new AtomicInteger();
    /** Of circuits from now on, one after the other. */
    volatile Supplier<FaultyPath> paths = FaultyPath::sound;

    /** Why the target refuses each circuit; empty for one that does not. */
    volatile Optional<CloseReason> refusal = Optional.empty();

    void serve(CertificateName name, Channel attached) {
        served.put(name, attached);
    }

    void asked(Channel stream, StreamRequest request) {
        if (request instanceof StreamRequest.Circuit circuit) {
            if (refusal.isPresent()) {
                StreamResponse.refuse(stream, new CircuitClose(CircuitClose.Side.TARGET, refusal.get()));
                return;
            }
            Channel target = served.get(circuit.to());
            if (target == null) {
                StreamResponse.refuse(stream, CircuitClose.byRelay(CloseReason.UNKNOWN));
                return;
            }
            DialBackToken token = DialBackToken.random(random);
            pending.put(token, stream);
            target.writeAndFlush(MessageFraming.frame(
                    new RelayMessage.Dial(token, circuit.from(), circuit.to(), circuit.policy()).wire()));
        } else if (request instanceof StreamRequest.DialBack back) {
            Channel from = pending.remove(back.token());
            FaultyPath path = paths.get();
            from.pipeline().addLast(path.toTarget());
            stream.pipeline().addLast(path.toOpener());
            CircuitSplice splice = new CircuitSplice(
                    from,
                    stream,
                    new CircuitSplice.Limits(Duration.ofHours(1), Duration.ofHours(1)),
                    bytes -> {},
                    close -> {});
            path.cutBy(() -> splice.close(CircuitClose.byRelay(CloseReason.LOST)));
            open.add(splice);
            spliced.incrementAndGet();
            splice.start(opener -> StreamResponse.accept(opener, 1), target -> StreamResponse.accept(target, 1));
        }
    }

    /** How many circuits there ever were. */
    int circuits() {
        return spliced.get();
    }

    /** Ends all, as a relay may. */
    void cut() {
        open.forEach(each -> each.close(CircuitClose.byRelay(CloseReason.LOST)));
        open.clear();
    }
}
