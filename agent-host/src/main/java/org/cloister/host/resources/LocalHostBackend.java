package org.cloister.host.resources;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.domain.DomainState;
import org.cloister.host.domain.ObservedDomain;
import org.cloister.host.libvirt.DomainList;
import org.cloister.host.libvirt.HypervisorUnavailable;
import org.cloister.host.reconcile.HostBackend;
import org.cloister.host.reconcile.HostResource;
import org.cloister.host.reconcile.ObservedState;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.reconcile.SourceAnswer;
import org.cloister.host.scratch.ErasureMethod;
import org.cloister.host.scratch.ScratchFileName;
import org.cloister.host.vm.ResourceOwner;

/** Backend that works on this host's files, kernel, bridge and libvirtd. */
public final class LocalHostBackend implements HostBackend {
    private final ResourceProviders providers;
    private final ErasureMethod erasing;
    private final ErasureListener erasures;
    private final BoundedQuery<HostResource> folders;
    private final BoundedQuery<HostResource> scratch;
    private final BoundedQuery<HostResource> taps;
    private final BoundedQuery<HostResource> ports;
    private final BoundedQuery<String> steps;
    private final BackgroundTasks removals;

    /**
     * @param limit time limit of each query to files, kernel and bridge, and of each wait for the erasure of a scratch
     *     file; calls to libvirtd have their own
     */
    public LocalHostBackend(
            ResourceProviders providers, ErasureMethod erasing, ErasureListener erasures, Duration limit) {
        this.providers = providers;
        this.erasing = erasing;
        this.erasures = erasures;
        this.folders = new BoundedQuery<>("folders", limit);
        this.scratch = new BoundedQuery<>("scratch", limit);
        this.taps = new BoundedQuery<>("taps", limit);
        this.ports = new BoundedQuery<>("ports", limit);
        this.steps = new BoundedQuery<>("steps", limit);
        this.removals = new BackgroundTasks(limit);
    }

    @Override
    public ObservedState observe() {
        Map<ResourceKind, SourceAnswer<HostResource>> answers = new EnumMap<>(ResourceKind.class);
        answers.put(ResourceKind.OVERLAY, folders.ask(providers.folders()::listResources));
        answers.put(ResourceKind.SCRATCH, scratch.ask(this::scratchFiles));
        answers.put(ResourceKind.TAP, taps.ask(providers.taps()::listResources));
        answers.put(ResourceKind.PORT, ports.ask(providers.ports()::listResources));
        try {
            DomainList domains = providers.hypervisor().domains();
            answers.put(ResourceKind.DOMAIN, new SourceAnswer.Known<>(domainResources(domains)));
            return new ObservedState(
                    answers, steps.ask(() -> providers.processes().inStep(domains.ours())));
        } catch (HypervisorUnavailable e) {
            String why = String.valueOf(e.getMessage());
            answers.put(ResourceKind.DOMAIN, new SourceAnswer.Unknown<>(why));
            return new ObservedState(answers, new SourceAnswer.Unknown<>("the domains are unknown: " + why));
        }
    }

    private Set<HostResource> scratchFiles() throws IOException {
        Set<HostResource> resources = new HashSet<>();
        providers
                .scratch()
                .list()
                .all()
                .forEach(each -> resources.add(new HostResource(
                        ResourceKind.SCRATCH, ScratchFileName.of(each.owner()), Optional.of(each.owner()), true)));
        return resources;
    }

    /**
     * Converts domains to resources. A domain with malformed metadata is named by its error, for people; no VM of ours
     * has such a name. A domain whose guest powers off does not count as paused: libvirt lists it for a moment longer.
     */
    static Set<HostResource> domainResources(DomainList domains) {
        Set<HostResource> resources = new HashSet<>();
        for (ObservedDomain each : domains.ours()) {
            resources.add(new HostResource(
                    ResourceKind.DOMAIN, each.name(), Optional.of(each.owner()), each.state() != DomainState.PAUSED));
        }
        domains.malformed()
                .forEach(what -> resources.add(new HostResource(ResourceKind.DOMAIN, what, Optional.empty(), true)));
        return resources;
    }

    @Override
    public void resume(ResourceOwner owner) throws IOException {
        providers.hypervisor().resume(owner.uuid());
    }

    @Override
    public void restorePort(ResourceOwner owner) throws IOException {
        providers.ports().restore(owner);
    }

    @Override
    public void requestPowerOff(ResourceOwner owner) throws IOException {
        providers.hypervisor().requestPowerOff(owner.uuid());
    }

    @Override
    public void remove(ResourceOwner owner, ResourceKind part) throws IOException {
        switch (part) {
            case OVERLAY ->
                removals.run(
                        "folder of VM " + owner.uuid(),
                        () -> providers.folders().remove(owner));
            case SCRATCH -> removals.run("erasure of the scratch disk of VM " + owner.uuid(), () -> erase(owner));
            case TAP -> providers.taps().remove(owner);
            case PORT -> providers.ports().remove(owner);
            case DOMAIN -> providers.hypervisor().destroy(owner.uuid());
        }
    }

    private void erase(ResourceOwner owner) throws IOException {
        try {
            erasures.onErased(providers.scratch().erase(owner, erasing));
        } catch (NoSuchFileException e) {
            return; // Another thread may have removed it.
        }
        providers.scratch().unlink(owner);
    }
}
