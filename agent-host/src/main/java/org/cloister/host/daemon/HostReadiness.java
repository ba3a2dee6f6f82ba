package org.cloister.host.daemon;

import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.cloister.host.control.HostStatus;
import org.cloister.host.libvirt.HypervisorEvent;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.ResourceKind;

/**
 * Whether this host takes work: its parts are there, it can clean up, and it is as it has to be. Nothing is asked for it: it is
 * as the last look and the last event said.
 */
final class HostReadiness {
    private final Supplier<Optional<ReconcilePass.Outcome>> last;
    private final BooleanSupplier relay;
    private final Supplier<Optional<String>> preflight;
    private volatile boolean libvirtLost;

    /**
     * @param last look at all that is here
     * @param relay whether one is attached
     * @param preflight why it has not passed
     */
    HostReadiness(
            Supplier<Optional<ReconcilePass.Outcome>> last,
            BooleanSupplier relay,
            Supplier<Optional<String>> preflight) {
        this.last = last;
        this.relay = relay;
        this.preflight = preflight;
    }

    void onHypervisorEvent(HypervisorEvent event) {
        if (event instanceof HypervisorEvent.ConnectionLost) {
            libvirtLost = true;
        } else if (event instanceof HypervisorEvent.ConnectionRestored) {
            libvirtLost = false;
        }
    }

    List<HostStatus.Component> components() {
        boolean attached = relay.getAsBoolean();
        Optional<String> failure = preflight.get();
        return List.of(
                new HostStatus.Component("relay", attached, attached ? "attached" : "none attached"),
                libvirtLost
                        ? new HostStatus.Component("libvirt", false, "connection lost")
                        : source("libvirt", ResourceKind.DOMAIN),
                source("bridge", ResourceKind.PORT),
                host(),
                new HostStatus.Component("preflight", failure.isEmpty(), failure.orElse("passed")));
    }

    /** @return why it takes none */
    Optional<String> unready() {
        return first(components());
    }

    /** The same for what no relay mends. */
    Optional<String> unfit() {
        return first(components().stream()
                .filter(part -> !part.name().equals("relay"))
                .toList());
    }

    private static Optional<String> first(List<HostStatus.Component> parts) {
        return parts.stream()
                .filter(part -> !part.available())
                .findFirst()
                .map(part -> part.name() + ": " + part.text());
    }

    private HostStatus.Component source(String name, ResourceKind part) {
        Optional<ReconcilePass.Outcome> outcome = last.get();
        if (outcome.isEmpty() || outcome.get().neverAnswered().contains(part.name())) {
            return new HostStatus.Component(name, false, "has not answered yet");
        }
        boolean answers = !outcome.get().silentSources().contains(part);
        return new HostStatus.Component(name, answers, answers ? "answers" : "does not answer");
    }

    private HostStatus.Component host() {
        Optional<ReconcilePass.Outcome> outcome = last.get();
        boolean clean = outcome.filter(ReconcilePass.Outcome::isClean).isPresent();
        return new HostStatus.Component(
                "host", clean, outcome.map(HostReadiness::text).orElse("not looked at yet"));
    }

    private static String text(ReconcilePass.Outcome outcome) {
        if (!outcome.neverAnswered().isEmpty()) {
            return "not heard of yet: " + String.join(", ", outcome.neverAnswered());
        }
        return outcome.isClean()
                ? "nothing is left of VMs that ended"
                : outcome.problems().get(0);
    }
}
