package org.cloister.host.run;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.cloister.host.desk.Caller;
import org.cloister.host.desk.Phases;
import org.cloister.host.desk.Rendering;
import org.cloister.host.desk.Status;
import org.cloister.host.desk.VmView;
import org.cloister.host.desk.Work;
import org.cloister.host.desk.WorkRefused;
import org.cloister.host.domain.DomainXml;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Round;
import org.cloister.host.ledger.Step;
import org.cloister.host.machine.VmPlan;

/** What operators and job steps ask of this host. */
final class HostWork implements Work {
    private static final long MS = 1000;

    private final String host;
    private final RunParts parts;
    private final Runs runs;

    HostWork(String host, RunParts parts, Runs runs) {
        this.host = host;
        this.parts = parts;
        this.runs = runs;
    }

    @Override
    public Run run(Caller caller, String ticket, boolean again, Phases phases) throws WorkRefused {
        return again ? runs.resume(caller, ticket, phases) : runs.begin(caller, ticket, phases);
    }

    @Override
    public Status status() {
        List<Entry> entries = ledger();
        Optional<Round.Outcome> last = parts.rounds().last();
        return new Status(
                host,
                parts.readiness().unready(),
                parts.readiness().parts(),
                count(entries, entry -> entry.end().isEmpty() && entry.step().compareTo(Step.RUNNING) < 0),
                count(entries, entry -> entry.end().isEmpty() && entry.step().compareTo(Step.RUNNING) >= 0),
                count(entries, entry -> entry.end().isPresent()),
                last.map(outcome ->
                                outcome.strays().stream().map(Object::toString).toList())
                        .orElse(List.of()),
                last.map(Round.Outcome::troubles).orElse(List.of()),
                last.map(outcome -> (parts.clock().millis() - outcome.atMs()) / MS));
    }

    private static int count(List<Entry> entries, Predicate<Entry> which) {
        return (int) entries.stream().filter(which).count();
    }

    /** Of those whose plan is there: of the others the ledger has all there is. */
    @Override
    public List<VmView> vms() {
        return ledger().stream().flatMap(entry -> view(entry).stream()).toList();
    }

    private Optional<VmView> view(Entry entry) {
        try {
            return Optional.of(view(entry, parts.host().folders().plan(entry.owner())));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static VmView view(Entry entry, VmPlan plan) {
        return new VmView(
                entry.owner(),
                entry.step(),
                plan.domain().cpus().count(),
                plan.domain().memoryMib(),
                plan.port().vlan(),
                plan.port().self().ipv4().text(),
                Instant.ofEpochMilli(entry.claimedMs()),
                entry.end().map(End::why));
    }

    @Override
    public List<Entry> ledger() {
        return parts.ledger().entries();
    }

    @Override
    public void stop(String vm) throws WorkRefused, IOException {
        runs.end(named(vm).owner().uuid());
    }

    @Override
    public Rendering render(String what) throws WorkRefused, IOException {
        VmPlan plan = parts.host().folders().plan(named(what).owner());
        return new Rendering(
                DomainXml.of(plan.domain()),
                List.of(plan.port().toString()),
                parts.host().ports().flows(plan.owner()));
    }

    private Entry named(String what) throws WorkRefused {
        return ledger().stream()
                .filter(entry -> entry.owner().uuid().equals(what)
                        || entry.owner().name().domain().equals(what)
                        || entry.owner().ticket().equals(what))
                .findFirst()
                .orElseThrow(() -> new WorkRefused(
                        what + ": want a VM of this host, have none of that name", "see agentctl host vms"));
    }
}
