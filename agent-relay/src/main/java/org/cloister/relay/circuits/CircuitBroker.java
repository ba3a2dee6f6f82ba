package org.cloister.relay.circuits;

import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.relay.fairness.ProjectConnectionLimits;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.transport.circuit.CircuitSplice;
import org.cloister.transport.link.StreamRequest;

/** Opens, splices and closes circuits: docs/protocol.md, section 9. Thread-safe. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the stream's end
public final class CircuitBroker {
    private final Function<CertificateName, Optional<CircuitLink>> targets;
    private final ProjectConnectionLimits projectLimits;
    private final CircuitMetrics metrics;
    private final CircuitSplice.Limits limits;
    private final SecureRandom random = new SecureRandom();
    private final Map<DialBackToken, PendingCircuit> pending = new ConcurrentHashMap<>();
    private final Set<OpenCircuit> open = ConcurrentHashMap.newKeySet();
    private volatile boolean draining;

    /** Circuit whose target has been asked to dial back. */
    private record PendingCircuit(
            RequestedStream opener,
            CircuitLink from,
            CircuitLink to,
            ProjectConnectionLimits.Reservation reservation) {}

    private record OpenCircuit(CircuitSplice splice, CircuitLink from, CircuitLink to) {}

    /** @param targets finds the link whose agent accepts circuits to a name */
    public CircuitBroker(
            Function<CertificateName, Optional<CircuitLink>> targets,
            ProjectConnectionLimits projectLimits,
            RelayLimits limits,
            CircuitMetrics metrics) {
        this.targets = targets;
        this.projectLimits = projectLimits;
        this.metrics = metrics;
        this.limits = new CircuitSplice.Limits(limits.idle(), ProtocolLimits.TOTAL);
    }

    /**
     * Handles a request for a circuit on {@code stream}; the response follows at once or when the target has dialled
     * back.
     */
    public void requestCircuit(CircuitLink link, RequestedStream stream, StreamRequest.Circuit request) {
        Optional<CloseReason> refusal = refusal(link, request);
        if (refusal.isPresent()) {
            refuse(stream, refusal.get());
            return;
        }
        Optional<CircuitLink> target = targets.apply(request.to());
        if (target.isEmpty()) {
            refuse(stream, CloseReason.UNKNOWN);
            return;
        }
        Optional<ProjectConnectionLimits.Reservation> reservation =
                projectLimits.acquireCircuit(request.to().project(), System.nanoTime());
        if (reservation.isEmpty()) {
            refuse(stream, CloseReason.LIMIT);
            return;
        }
        DialBackToken token = DialBackToken.random(random);
        pending.put(token, new PendingCircuit(stream, link, target.get(), reservation.get()));
        stream.channel().closeFuture().addListener(closed -> giveUp(token, CloseReason.LOST));
        stream.channel()
                .eventLoop()
                .schedule(
                        () -> giveUp(token, CloseReason.NO_ANSWER),
                        ProtocolLimits.DIAL_BACK.toMillis(),
                        TimeUnit.MILLISECONDS);
        if (!target.get().offer(new RelayMessage.Dial(token, request.from(), request.to(), request.policy()))) {
            giveUp(token, CloseReason.LIMIT);
        }
    }

    private Optional<CloseReason> refusal(CircuitLink link, StreamRequest.Circuit request) {
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
    public void completeCircuit(CircuitLink link, RequestedStream stream, DialBackToken token) {
        PendingCircuit circuit = pending.get(token);
        if (circuit == null || circuit.to != link || !pending.remove(token, circuit)) {
            refuse(stream, CloseReason.UNKNOWN);
            return;
        }
        OpenCircuit[] self = new OpenCircuit[1];
        CircuitSplice splice =
                new CircuitSplice(circuit.opener.channel(), stream.channel(), limits, metrics.bytes::inc, close -> {
                    circuit.reservation.close();
                    if (close.side() == CircuitClose.Side.RELAY) {
                        metrics.ended.inc();
                    }
                    open.remove(self[0]);
                });
        self[0] = new OpenCircuit(splice, circuit.from, link);
        open.add(self[0]);
        metrics.opened.inc();
        splice.start(opener -> circuit.opener.accept(), target -> stream.accept());
    }

    /** Refuses the circuit because the target rejects it or cannot serve it. */
    public void onDialRefused(CircuitLink link, DialBackToken token, CloseReason reason) {
        PendingCircuit circuit = pending.get(token);
        if (circuit != null && circuit.to == link && pending.remove(token, circuit)) {
            circuit.reservation.close();
            refuse(
                    circuit.opener,
                    new CircuitClose(
                            CircuitClose.Side.TARGET, reason.isRefusalOfTarget() ? reason : CloseReason.REFUSED));
        }
    }

    /** Gives up the pending circuits whose target's link has closed. */
    public void onLinkClosed(CircuitLink link) {
        pending.forEach((token, circuit) -> {
            if (circuit.to == link) {
                giveUp(token, CloseReason.LOST);
            }
        });
    }

    /** Closes every circuit over this link. */
    public void closeCircuits(CircuitLink link, CloseReason why) {
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
        PendingCircuit circuit = pending.remove(token);
        if (circuit != null) {
            circuit.reservation.close();
            // HTTP has no status for "lost"; the opener receives "no answer".
            refuse(circuit.opener, why.status() == 0 ? CloseReason.NO_ANSWER : why);
        }
    }

    private void refuse(RequestedStream stream, CloseReason why) {
        refuse(stream, CircuitClose.byRelay(why));
    }

    private void refuse(RequestedStream stream, CircuitClose close) {
        metrics.refused.inc();
        stream.refuse(close);
    }
}
