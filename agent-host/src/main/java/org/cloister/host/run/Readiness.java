package org.cloister.host.run;

import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.cloister.host.desk.Status;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Round;
import org.cloister.host.libvirt.HypervisorEvent;

/**
 * Whether this host takes work: its parts are there, it can clean up, and it is as it has to be. Nothing is asked for it: it is
 * as the last look and the last event said.
 */
final class Readiness {
    private final Supplier<Optional<Round.Outcome>> last;
    private final BooleanSupplier relay;
    private final Supplier<Optional<String>> preflight;
    private volatile boolean libvirtLost;

    /**
     * @param last look at all that is here
     * @param relay whether one is attached
     * @param preflight why it has not passed
     */
    Readiness(Supplier<Optional<Round.Outcome>> last, BooleanSupplier relay, Supplier<Optional<String>> preflight) {
        this.last = last;
        this.relay = relay;
        this.preflight = preflight;
    }

    void heard(HypervisorEvent event) {
        if (event instanceof HypervisorEvent.Lost) {
            libvirtLost = true;
        } else if (event instanceof HypervisorEvent.Found) {
            libvirtLost = false;
        }
    }

    List<Status.Part> parts() {
        boolean attached = relay.getAsBoolean();
        Optional<String> failure = preflight.get();
        return List.of(
                new Status.Part("relay", attached, attached ? "attached" : "none attached"),
                libvirtLost ? new Status.Part("libvirt", false, "connection lost") : source("libvirt", Part.DOMAIN),
                source("bridge", Part.PORT),
                host(),
                new Status.Part("preflight", failure.isEmpty(), failure.orElse("passed")));
    }

    /** @return why it takes none */
    Optional<String> unready() {
        return first(parts());
    }

    /** The same for what no relay mends. */
    Optional<String> unfit() {
        return first(
                parts().stream().filter(part -> !part.name().equals("relay")).toList());
    }

    private static Optional<String> first(List<Status.Part> parts) {
        return parts.stream().filter(part -> !part.isThere()).findFirst().map(part -> part.name() + ": " + part.text());
    }

    private Status.Part source(String name, Part part) {
        Optional<Round.Outcome> outcome = last.get();
        if (outcome.isEmpty() || outcome.get().unheard().contains(part.name())) {
            return new Status.Part(name, false, "has not answered yet");
        }
        boolean answers = !outcome.get().silent().contains(part);
        return new Status.Part(name, answers, answers ? "answers" : "does not answer");
    }

    private Status.Part host() {
        Optional<Round.Outcome> outcome = last.get();
        boolean clean = outcome.filter(Round.Outcome::isClean).isPresent();
        return new Status.Part("host", clean, outcome.map(Readiness::text).orElse("not looked at yet"));
    }

    private static String text(Round.Outcome outcome) {
        if (!outcome.unheard().isEmpty()) {
            return "not heard of yet: " + String.join(", ", outcome.unheard());
        }
        return outcome.isClean()
                ? "nothing is left of VMs that ended"
                : outcome.troubles().get(0);
    }
}
