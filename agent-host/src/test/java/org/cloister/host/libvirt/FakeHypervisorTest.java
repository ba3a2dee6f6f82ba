package org.cloister.host.libvirt;

import org.cloister.host.domain.DomainSamples;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.vm.ResourceOwner;

class FakeHypervisorTest extends HypervisorContract {
    private final FakeHypervisor fake = new FakeHypervisor();

    @Override
    protected Hypervisor hypervisor() {
        return fake;
    }

    @Override
    protected DomainSpec spec(ResourceOwner owner) {
        return DomainSamples.of(owner);
    }

    @Override
    protected void destroyFromOutside(String name) {
        fake.endOf(name);
    }

    @Override
    protected void crash(String name) {
        fake.endOf(name);
    }

    @Override
    protected void startForeign(String name, String uuid, String metadata) {
        fake.startForeign(name, uuid, metadata);
    }

    @Override
    protected boolean isThere(String name) {
        return fake.isThere(name);
    }

    @Override
    protected void killDaemon() {
        fake.answers(false);
    }

    @Override
    protected void startDaemon() {
        fake.answers(true);
    }

    @Override
    protected void removeWhatDomainsNeeded() {}
}
