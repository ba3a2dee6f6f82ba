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
 * Decides whether this host accepts work: its components answer, it can clean up after VMs, its state has room, and its
 * preflight passed. It uses the last reconcile pass and the last event, and queries the state's file system alone.
 */
final class HostReadiness {
    private final Supplier<Optional<ReconcilePass.Outcome>> last;
    private final BooleanSupplier relay;
    private final Supplier<Optional<String>> state;
    private final Supplier<Optional<String>> preflight;
    private volatile boolean libvirtLost;

    /**
     * @param last outcome of the last reconcile pass
     * @param relay whether a relay is attached
     * @param state why nothing can be recorded; empty if something can
     * @param preflight why it has not passed; empty once it has
     */
    HostReadiness(
            Supplier<Optional<ReconcilePass.Outcome>> last,
            BooleanSupplier relay,
            Supplier<Optional<String>> state,
            Supplier<Optional<String>> preflight) {
        this.last = last;
        this.relay = relay;
        this.state = state;
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
        return List.of(
                new HostStatus.Component("relay", attached, attached ? "attached" : "none attached"),
                libvirtLost
                        ? new HostStatus.Component("libvirt", false, "connection lost")
                        : source("libvirt", ResourceKind.DOMAIN),
                source("bridge", ResourceKind.PORT),
                host(),
                available("state", state.get(), "has room"),
                available("preflight", preflight.get(), "passed"));
    }

    private static HostStatus.Component available(String name, Optional<String> failure, String text) {
        return new HostStatus.Component(name, failure.isEmpty(), failure.orElse(text));
    }

    /**
     * Returns why this host accepts no work.
     *
     * @return empty if it accepts work
     */
    Optional<String> unready() {
        return first(components());
    }

    /** Returns why this host accepts no work, whether a relay is attached or not. */
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
                "host", clean, outcome.map(HostReadiness::text).orElse("not checked yet"));
    }

    private static String text(ReconcilePass.Outcome outcome) {
        if (!outcome.neverAnswered().isEmpty()) {
            return "no answer yet from " + String.join(", ", outcome.neverAnswered());
        }
        return outcome.isClean()
                ? "all resources of ended VMs are removed"
                : outcome.problems().get(0);
    }
}
