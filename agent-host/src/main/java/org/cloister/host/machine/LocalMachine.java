package org.cloister.host.machine;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.disk.Erasing;
import org.cloister.host.disk.ScratchName;
import org.cloister.host.domain.DomainState;
import org.cloister.host.domain.DomainView;
import org.cloister.host.ledger.Answer;
import org.cloister.host.ledger.Machine;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Seen;
import org.cloister.host.ledger.Thing;
import org.cloister.host.libvirt.Domains;
import org.cloister.host.libvirt.HypervisorUnavailable;
import org.cloister.host.vm.VmOwner;

/** This host: its files, kernel, bridge and libvirtd. */
public final class LocalMachine implements Machine {
    private final HostParts parts;
    private final Erasing erasing;
    private final Erasures erasures;
    private final Source<Thing> folders;
    private final Source<Thing> scratch;
    private final Source<Thing> taps;
    private final Source<Thing> ports;
    private final Source<String> steps;
    private final LongWork removals;

    /**
     * @param limit of each question to files, kernel and bridge, and how long a scratch file's erasure is waited for at a
     *     time; libvirtd's calls have their own
     */
    public LocalMachine(HostParts parts, Erasing erasing, Erasures erasures, Duration limit) {
        this.parts = parts;
        this.erasing = erasing;
        this.erasures = erasures;
        this.folders = new Source<>("folders", limit);
        this.scratch = new Source<>("scratch", limit);
        this.taps = new Source<>("taps", limit);
        this.ports = new Source<>("ports", limit);
        this.steps = new Source<>("steps", limit);
        this.removals = new LongWork(limit);
    }

    @Override
    public Seen look() {
        Map<Part, Answer<Thing>> answers = new EnumMap<>(Part.class);
        answers.put(Part.OVERLAY, folders.ask(parts.folders()::things));
        answers.put(Part.SCRATCH, scratch.ask(this::scratchFiles));
        answers.put(Part.TAP, taps.ask(parts.taps()::things));
        answers.put(Part.PORT, ports.ask(parts.ports()::things));
        try {
            Domains domains = parts.hypervisor().domains();
            answers.put(Part.DOMAIN, new Answer.Known<>(things(domains)));
            return new Seen(answers, steps.ask(() -> parts.processes().inStep(domains.ours())));
        } catch (HypervisorUnavailable e) {
            String why = String.valueOf(e.getMessage());
            answers.put(Part.DOMAIN, new Answer.Unknown<>(why));
            return new Seen(answers, new Answer.Unknown<>("of which domains: " + why));
        }
    }

    private Set<Thing> scratchFiles() throws IOException {
        Set<Thing> things = new HashSet<>();
        parts.scratch()
                .list()
                .all()
                .forEach(each -> things.add(
                        new Thing(Part.SCRATCH, ScratchName.of(each.owner()), Optional.of(each.owner()), true)));
        return things;
    }

    /**
     * What carries our metadata wrongly is named by what is wrong with it, for people; no VM of ours has such a name. A domain whose
     * guest powers off does not stand still: libvirt shows it for a moment more.
     */
    static Set<Thing> things(Domains domains) {
        Set<Thing> things = new HashSet<>();
        for (DomainView each : domains.ours()) {
            things.add(
                    new Thing(Part.DOMAIN, each.name(), Optional.of(each.owner()), each.state() != DomainState.PAUSED));
        }
        domains.odd().forEach(what -> things.add(new Thing(Part.DOMAIN, what, Optional.empty(), true)));
        return things;
    }

    @Override
    public void resume(VmOwner owner) throws IOException {
        parts.hypervisor().resume(owner.uuid());
    }

    @Override
    public void reopen(VmOwner owner) throws IOException {
        parts.ports().reopen(owner);
    }

    @Override
    public void askOff(VmOwner owner) throws IOException {
        parts.hypervisor().askToPowerOff(owner.uuid());
    }

    @Override
    public void remove(VmOwner owner, Part part) throws IOException {
        switch (part) {
            case OVERLAY ->
                removals.run(
                        "folder of VM " + owner.uuid(), () -> parts.folders().remove(owner));
            case SCRATCH -> removals.run("erasure of the scratch disk of VM " + owner.uuid(), () -> erase(owner));
            case TAP -> parts.taps().remove(owner);
            case PORT -> parts.ports().remove(owner);
            case DOMAIN -> parts.hypervisor().destroy(owner.uuid());
        }
    }

    private void erase(VmOwner owner) throws IOException {
        try {
            erasures.erased(parts.scratch().erase(owner, erasing));
        } catch (NoSuchFileException e) {
            return; // Another may have done it.
        }
        parts.scratch().unlink(owner);
    }
}
