package org.cloister.ctl;

import io.netty.channel.Channel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.cloister.protocol.circuit.FaultyPath;
import org.cloister.protocol.circuit.Splice;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Answer;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.Token;

/** Circuits of a {@link MiniOffice}: streams spliced as a relay does, and cut when a test says so. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class MiniExchange {
    private final SecureRandom random = new SecureRandom();
    private final Map<Name, Channel> served = new ConcurrentHashMap<>();
    private final Map<Token, Channel> waiting = new ConcurrentHashMap<>();
    private final Set<Splice> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger spliced = new AtomicInteger();
    /** Of circuits from now on, one after the other. */
    volatile Supplier<FaultyPath> paths = FaultyPath::sound;

    void serve(Name name, Channel attached) {
        served.put(name, attached);
    }

    void asked(Channel stream, Request request) {
        if (request instanceof Request.Circuit circuit) {
            Channel target = served.get(circuit.to());
            if (target == null) {
                Answer.refuse(stream, Close.byRelay(CloseReason.UNKNOWN));
                return;
            }
            Token token = Token.random(random);
            waiting.put(token, stream);
            target.writeAndFlush(
                    Framing.frame(new RelayMessage.Dial(token, circuit.from(), circuit.to(), circuit.policy()).wire()));
        } else if (request instanceof Request.DialBack back) {
            Channel from = waiting.remove(back.token());
            FaultyPath path = paths.get();
            from.pipeline().addLast(path.toTarget());
            stream.pipeline().addLast(path.toOpener());
            Splice splice = new Splice(
                    from,
                    stream,
                    new Splice.Limits(Duration.ofHours(1), Duration.ofHours(1)),
                    bytes -> {},
                    close -> {});
            path.cutBy(() -> splice.end(Close.byRelay(CloseReason.LOST)));
            open.add(splice);
            spliced.incrementAndGet();
            splice.start(opener -> Answer.accept(opener, 1), target -> Answer.accept(target, 1));
        }
    }

    /** How many circuits there ever were. */
    int circuits() {
        return spliced.get();
    }

    /** Ends all, as a relay may. */
    void cut() {
        open.forEach(each -> each.end(Close.byRelay(CloseReason.LOST)));
        open.clear();
    }
}
