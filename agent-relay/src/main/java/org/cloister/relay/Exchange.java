package org.cloister.relay;

import io.netty.channel.Channel;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.Splice;
import org.cloister.protocol.link.Answer;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.Token;

/** Circuits, from the request to the end: docs/protocol.md, section 9. From any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
final class Exchange {
    private final Registry registry;
    private final ProjectShares shares;
    private final RelayMetrics metrics;
    private final Splice.Limits limits;
    private final SecureRandom random = new SecureRandom();
    private final Map<Token, Waiting> waiting = new ConcurrentHashMap<>();
    private final Set<Open> open = ConcurrentHashMap.newKeySet();
    private volatile boolean draining;

    /** A circuit whose target has been told to dial back. */
    private record Waiting(Channel opener, int version, RelayLink from, RelayLink to, ProjectShares.Place place) {}

    private record Open(Splice splice, RelayLink from, RelayLink to) {}

    Exchange(Registry registry, ProjectShares shares, RelayLimits limits, RelayMetrics metrics) {
        this.registry = registry;
        this.shares = shares;
        this.metrics = metrics;
        this.limits = new Splice.Limits(limits.idle(), LinkLimits.TOTAL);
    }

    /** A party asks for a circuit on {@code stream}, which gets its response now or when the target has dialled back. */
    void ask(RelayLink link, Channel stream, int version, Request.Circuit request) {
        Optional<CloseReason> no = forbidden(link, request);
        if (no.isPresent()) {
            refuse(stream, no.get());
            return;
        }
        RelayLink target = registry.find(request.to());
        if (target == null) {
            refuse(stream, CloseReason.UNKNOWN);
            return;
        }
        Optional<ProjectShares.Place> place = shares.takeCircuit(request.to().project(), System.nanoTime());
        if (place.isEmpty()) {
            refuse(stream, CloseReason.LIMIT);
            return;
        }
        Token token = Token.random(random);
        Waiting circuit = new Waiting(stream, version, link, target, place.get());
        waiting.put(token, circuit);
        stream.closeFuture().addListener(closed -> giveUp(token, CloseReason.LOST));
        stream.eventLoop()
                .schedule(
                        () -> giveUp(token, CloseReason.NO_ANSWER),
                        LinkLimits.DIAL_BACK.toMillis(),
                        TimeUnit.MILLISECONDS);
        if (!target.offer(new RelayMessage.Dial(token, request.from(), request.to(), request.policy()))) {
            giveUp(token, CloseReason.LIMIT);
        }
    }

    private Optional<CloseReason> forbidden(RelayLink link, Request.Circuit request) {
        if (draining) {
            return Optional.of(CloseReason.DRAINING);
        }
        boolean allowed = link.speaksFor(request.from())
                && request.from().project().equals(request.to().project());
        return allowed ? Optional.empty() : Optional.of(CloseReason.NOT_ALLOWED);
    }

    /** The other half; good once, and only on the link that was told. */
    void dialBack(RelayLink link, Channel stream, int version, Token token) {
        Waiting circuit = waiting.get(token);
        if (circuit == null || circuit.to != link || !waiting.remove(token, circuit)) {
            refuse(stream, CloseReason.UNKNOWN);
            return;
        }
        Open[] self = new Open[1];
        Splice splice = new Splice(circuit.opener, stream, limits, metrics.circuitBytes::inc, close -> {
            circuit.place.close();
            if (close.who() == Close.Side.RELAY) {
                metrics.circuitsEnded.inc();
            }
            open.remove(self[0]);
        });
        self[0] = new Open(splice, circuit.from, link);
        open.add(self[0]);
        metrics.circuitsOpened.inc();
        splice.start(opener -> accept(opener, circuit.version), target -> accept(target, version));
    }

    /** The target does not want it, or cannot. */
    void refused(RelayLink link, Token token) {
        Waiting circuit = waiting.get(token);
        if (circuit != null && circuit.to == link && waiting.remove(token, circuit)) {
            circuit.place.close();
            refuse(circuit.opener, new Close(Close.Side.TARGET, CloseReason.REFUSED));
        }
    }

    /** A link has ended: what waits for it waits in vain. */
    void gone(RelayLink link) {
        waiting.forEach((token, circuit) -> {
            if (circuit.to == link) {
                giveUp(token, CloseReason.LOST);
            }
        });
    }

    /** Ends every circuit over this link. */
    void end(RelayLink link, CloseReason why) {
        open.forEach(each -> {
            if (each.from == link || each.to == link) {
                each.splice.end(Close.byRelay(why));
            }
        });
    }

    void drain() {
        draining = true;
    }

    void endAll(CloseReason why) {
        open.forEach(each -> each.splice.end(Close.byRelay(why)));
    }

    int openCircuits() {
        return open.size();
    }

    private void giveUp(Token token, CloseReason why) {
        Waiting circuit = waiting.remove(token);
        if (circuit != null) {
            circuit.place.close();
            // HTTP has no status for "lost": to the opener it is no answer.
            refuse(circuit.opener, why.status() == 0 ? CloseReason.NO_ANSWER : why);
        }
    }

    private void refuse(Channel stream, CloseReason why) {
        refuse(stream, Close.byRelay(why));
    }

    private void refuse(Channel stream, Close close) {
        metrics.circuitsRefused.inc();
        Answer.refuse(stream, close);
    }

    /** On the stream's event loop, once what reads the stream is in place. */
    static void accept(Channel stream, int version) {
        stream.pipeline().remove(StreamEntry.class);
        Answer.accept(stream, version);
    }
}
