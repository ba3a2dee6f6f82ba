package org.cloister.relay.circuits;

import io.netty.channel.Channel;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.relay.RelayLimits;
import org.cloister.relay.fairness.ProjectConnectionLimits;
import org.cloister.relay.links.LinkRegistry;
import org.cloister.relay.links.LinkRequestReader;
import org.cloister.relay.links.RelayLink;
import org.cloister.relay.links.RelayMetrics;
import org.cloister.transport.circuit.CircuitSplice;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.StreamResponse;

/** Circuits, from the request to the end: docs/protocol.md, section 9. From any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
public final class CircuitBroker {
    private final LinkRegistry registry;
    private final ProjectConnectionLimits shares;
    private final RelayMetrics metrics;
    private final CircuitSplice.Limits limits;
    private final SecureRandom random = new SecureRandom();
    private final Map<DialBackToken, PendingCircuit> waiting = new ConcurrentHashMap<>();
    private final Set<OpenCircuit> open = ConcurrentHashMap.newKeySet();
    private volatile boolean draining;

    /** A circuit whose target has been told to dial back. */
    private record PendingCircuit(
            Channel opener,
            int version,
            RelayLink from,
            RelayLink to,
            ProjectConnectionLimits.Reservation reservation) {}

    private record OpenCircuit(CircuitSplice splice, RelayLink from, RelayLink to) {}

    public CircuitBroker(
            LinkRegistry registry, ProjectConnectionLimits shares, RelayLimits limits, RelayMetrics metrics) {
        this.registry = registry;
        this.shares = shares;
        this.metrics = metrics;
        this.limits = new CircuitSplice.Limits(limits.idle(), ProtocolLimits.TOTAL);
    }

    /** A party asks for a circuit on {@code stream}, which gets its response now or when the target has dialled back. */
    public void requestCircuit(RelayLink link, Channel stream, int version, StreamRequest.Circuit request) {
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
        Optional<ProjectConnectionLimits.Reservation> place =
                shares.acquireCircuit(request.to().project(), System.nanoTime());
        if (place.isEmpty()) {
            refuse(stream, CloseReason.LIMIT);
            return;
        }
        DialBackToken token = DialBackToken.random(random);
        PendingCircuit circuit = new PendingCircuit(stream, version, link, target, place.get());
        waiting.put(token, circuit);
        stream.closeFuture().addListener(closed -> giveUp(token, CloseReason.LOST));
        stream.eventLoop()
                .schedule(
                        () -> giveUp(token, CloseReason.NO_ANSWER),
                        ProtocolLimits.DIAL_BACK.toMillis(),
                        TimeUnit.MILLISECONDS);
        if (!target.offer(new RelayMessage.Dial(token, request.from(), request.to(), request.policy()))) {
            giveUp(token, CloseReason.LIMIT);
        }
    }

    private Optional<CloseReason> forbidden(RelayLink link, StreamRequest.Circuit request) {
        if (draining) {
            return Optional.of(CloseReason.DRAINING);
        }
        boolean allowed = link.ownsName(request.from())
                && request.from().project().equals(request.to().project());
        return allowed ? Optional.empty() : Optional.of(CloseReason.NOT_ALLOWED);
    }

    /** The other half; good once, and only on the link that was told. */
    public void completeCircuit(RelayLink link, Channel stream, int version, DialBackToken token) {
        PendingCircuit circuit = waiting.get(token);
        if (circuit == null || circuit.to != link || !waiting.remove(token, circuit)) {
            refuse(stream, CloseReason.UNKNOWN);
            return;
        }
        OpenCircuit[] self = new OpenCircuit[1];
        CircuitSplice splice = new CircuitSplice(circuit.opener, stream, limits, metrics.circuitBytes::inc, close -> {
            circuit.reservation.close();
            if (close.side() == CircuitClose.Side.RELAY) {
                metrics.circuitsEnded.inc();
            }
            open.remove(self[0]);
        });
        self[0] = new OpenCircuit(splice, circuit.from, link);
        open.add(self[0]);
        metrics.circuitsOpened.inc();
        splice.start(opener -> accept(opener, circuit.version), target -> accept(target, version));
    }

    /** The target does not want it, or cannot. */
    public void onDialRefused(RelayLink link, DialBackToken token) {
        PendingCircuit circuit = waiting.get(token);
        if (circuit != null && circuit.to == link && waiting.remove(token, circuit)) {
            circuit.reservation.close();
            refuse(circuit.opener, new CircuitClose(CircuitClose.Side.TARGET, CloseReason.REFUSED));
        }
    }

    /** A link has ended: what waits for it waits in vain. */
    public void onLinkClosed(RelayLink link) {
        waiting.forEach((token, circuit) -> {
            if (circuit.to == link) {
                giveUp(token, CloseReason.LOST);
            }
        });
    }

    /** Ends every circuit over this link. */
    public void closeCircuits(RelayLink link, CloseReason why) {
        open.forEach(each -> {
            if (each.from == link || each.to == link) {
                each.splice.close(CircuitClose.byRelay(why));
            }
        });
    }

    public void drain() {
        draining = true;
    }

    public void closeAllCircuits(CloseReason why) {
        open.forEach(each -> each.splice.close(CircuitClose.byRelay(why)));
    }

    public int openCircuits() {
        return open.size();
    }

    private void giveUp(DialBackToken token, CloseReason why) {
        PendingCircuit circuit = waiting.remove(token);
        if (circuit != null) {
            circuit.reservation.close();
            // HTTP has no status for "lost": to the opener it is no answer.
            refuse(circuit.opener, why.status() == 0 ? CloseReason.NO_ANSWER : why);
        }
    }

    private void refuse(Channel stream, CloseReason why) {
        refuse(stream, CircuitClose.byRelay(why));
    }

    private void refuse(Channel stream, CircuitClose close) {
        metrics.circuitsRefused.inc();
        StreamResponse.refuse(stream, close);
    }

    /** On the stream's event loop, once what reads the stream is in place. */
    public static void accept(Channel stream, int version) {
        stream.pipeline().remove(LinkRequestReader.class);
        StreamResponse.accept(stream, version);
    }
}
