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

/** Opens, splices and closes circuits: docs/protocol.md, section 9. Thread-safe. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the stream's end
public final class CircuitBroker {
    private final LinkRegistry registry;
    private final ProjectConnectionLimits shares;
    private final RelayMetrics metrics;
    private final CircuitSplice.Limits limits;
    private final SecureRandom random = new SecureRandom();
    private final Map<DialBackToken, PendingCircuit> waiting = new ConcurrentHashMap<>();
    private final Set<OpenCircuit> open = ConcurrentHashMap.newKeySet();
    private volatile boolean draining;

    /** Circuit whose target has been asked to dial back. */
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

    /**
     * Handles a request for a circuit on {@code stream}; the response follows at once or when the target has dialled
     * back.
     */
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

    /**
     * Accepts a dial-back, the second stream of a circuit. A token is valid once and only on the link to which it was
     * sent.
     */
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

    /** Refuses the circuit because the target rejects it or cannot serve it. */
    public void onDialRefused(RelayLink link, DialBackToken token) {
        PendingCircuit circuit = waiting.get(token);
        if (circuit != null && circuit.to == link && waiting.remove(token, circuit)) {
            circuit.reservation.close();
            refuse(circuit.opener, new CircuitClose(CircuitClose.Side.TARGET, CloseReason.REFUSED));
        }
    }

    /** Gives up the pending circuits whose target's link has closed. */
    public void onLinkClosed(RelayLink link) {
        waiting.forEach((token, circuit) -> {
            if (circuit.to == link) {
                giveUp(token, CloseReason.LOST);
            }
        });
    }

    /** Closes every circuit over this link. */
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
            // HTTP has no status for "lost"; the opener receives "no answer".
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

    /**
     * Sends the positive response. Must be called on the stream's event loop, after the stream's reader is installed.
     */
    public static void accept(Channel stream, int version) {
        stream.pipeline().remove(LinkRequestReader.class);
        StreamResponse.accept(stream, version);
    }
}
