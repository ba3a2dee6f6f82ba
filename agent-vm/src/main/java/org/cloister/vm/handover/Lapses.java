package org.cloister.vm.handover;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.OpenCircuits;
import org.cloister.protocol.identity.Clause;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.OpenIdentities;
import org.cloister.protocol.link.Looking;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks each second whether the workers that were believed still are. A circuit ends with the certificate that opened it. A
 * worker ends with its host's key, and with a certificate that was taken back if it has no other: it could not come again.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the loop's own end
final class Lapses implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Lapses.class);
    /** What no list and no document takes back again; a time or a list that has ended may be followed by another one. */
    private static final Set<Clause> FOR_GOOD = Set.of(Clause.REVOKED, Clause.ISSUER);

    private final HandOverDesk.Terms terms;
    private final Expected expected;
    private final Returning returning;
    private final Executor decisions;
    private final BiConsumer<Name, Expected.Place> lapsed;
    private final EventLoop loop = new DefaultEventLoop();
    private final OpenCircuits circuits;
    private final Looking looking;
    /** Workers that were said to lapse, on the desk's thread. */
    private final Set<Name> said = new HashSet<>();

    /**
     * @param decisions the desk's thread, that of the collaborators
     * @param lapsed told there of each worker that is to end, once
     */
    Lapses(
            HandOverDesk.Terms terms,
            Expected expected,
            Returning returning,
            Executor decisions,
            BiConsumer<Name, Expected.Place> lapsed) {
        this.terms = terms;
        this.expected = expected;
        this.returning = returning;
        this.decisions = decisions;
        this.lapsed = lapsed;
        this.circuits = new OpenCircuits(terms.beliefs(), loop, ended -> decide(() -> ended(ended)));
        this.looking = new Looking(loop, () -> decide(this::look));
    }

    /** One that shows its boot's key was certified by nobody, and nobody can take that back. */
    void opened(WorkerTalk talk) {
        if (!talk.boots()) {
            circuits.add(talk.circuit());
        }
    }

    private void ended(OpenIdentities.Ended<Circuit> ended) {
        Circuit circuit = ended.what();
        Name worker = circuit.terms().from();
        LOG.warn("worker {}: circuit ended: {}", worker, ended.refusal().getMessage());
        if (FOR_GOOD.contains(ended.refusal().clause()) && !returning.isHere(worker)) {
            expected.find(worker)
                    .filter(place -> returning.stranger(place, circuit.shown()).isEmpty())
                    .ifPresent(place -> say(worker, place));
        }
    }

    private void look() {
        Map<Name, Expected.Place> all = expected.all();
        said.retainAll(all.keySet());
        all.forEach((worker, place) -> {
            if (returning.isGiven(place)
                    && terms.hosts().takenBack().test(place.slot().key())) {
                say(worker, place);
            }
        });
    }

    private void say(Name worker, Expected.Place place) {
        if (said.add(worker)) {
            LOG.warn(
                    "worker {} on {}: ends, for it was revoked",
                    worker,
                    place.slot().node());
            lapsed.accept(worker, place);
        }
    }

    private void decide(Runnable act) {
        try {
            decisions.execute(act);
        } catch (RejectedExecutionException e) {
            LOG.debug("workers: the desk has ended: {}", e.getMessage());
        }
    }

    @Override
    public void close() {
        looking.close();
        circuits.close();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
