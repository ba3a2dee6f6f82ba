package org.cloister.host.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.DomainState;
import org.cloister.host.domain.ObservedDomain;
import org.cloister.host.vm.ResourceOwner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Contract of every {@link Hypervisor}, the real one and the one in memory; a test's hypervisor has no other user. */
public abstract class HypervisorContract {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int MANY = 9;
    private static final String PROJECT = "m".repeat(51) + "a";
    private static final String TICKET = "mfrggzdfmztwq2lknnwg23tpob";

    private final BlockingQueue<HypervisorEvent> events = new LinkedBlockingQueue<>();

    protected abstract Hypervisor hypervisor();

    /** A domain that can be started here. */
    protected abstract DomainSpec spec(ResourceOwner owner) throws IOException;

    /** As an administrator does it. */
    protected abstract void destroyFromOutside(String name) throws IOException;

    /** Its process is killed. */
    protected abstract void crash(String name) throws IOException;

    /**
     * Somebody else's domain, running.
     *
     * @param metadata of it, or empty
     */
    protected abstract void startForeign(String name, String uuid, String metadata) throws IOException;

    /** Whether a domain is there, as an administrator sees it. */
    protected abstract boolean isThere(String name) throws IOException;

    /** Ends what manages the domains, as a crash does, and leaves the domains. */
    protected abstract void killDaemon() throws IOException;

    protected abstract void startDaemon() throws IOException;

    /** What was made for {@link #spec}; no domain is left, and nothing is asked any more. */
    protected abstract void removeWhatDomainsNeeded() throws IOException;

    @BeforeEach
    void listen() {
        hypervisor().setListener(events::add);
    }

    @AfterEach
    void leave_nothing_behind() throws IOException {
        for (ObservedDomain view : hypervisor().domains().ours()) {
            hypervisor().destroy(view.uuid());
        }
        hypervisor().close();
        removeWhatDomainsNeeded();
    }

    @Test
    void starts_a_domain_that_does_not_run_yet_and_carries_its_owner() throws IOException {
        DomainSpec spec = spec(owner(0));
        hypervisor().startPaused(spec);
        assertThat(hypervisor().domains().ours()).singleElement().satisfies(view -> {
            assertThat(view.owner()).isEqualTo(spec.owner());
            assertThat(view.state()).isEqualTo(DomainState.PAUSED);
            assertThat(view.tap()).isEqualTo(spec.owner().names().tap());
            assertThat(view.channel()).isEqualTo(spec.channel());
            assertThat(view.disks()).hasSameSizeAs(spec.disks());
        });
        assertThat(isThere(spec.owner().names().domain())).isTrue();
    }

    /** More than libvirtd accepts requests from a client; what is asked meanwhile is answered. */
    @Test
    void starts_many_at_once_and_answers_meanwhile() throws Exception {
        List<DomainSpec> specs = new ArrayList<>();
        for (int slot = 0; slot < MANY; slot++) {
            specs.add(spec(owner(slot)));
        }
        ExecutorService threads = Executors.newFixedThreadPool(MANY);
        try {
            List<Future<?>> starts = new ArrayList<>();
            for (DomainSpec spec : specs) {
                starts.add(threads.submit(() -> {
                    hypervisor().startPaused(spec);
                    return true;
                }));
            }
            while (!starts.stream().allMatch(Future::isDone)) {
                hypervisor().domains();
            }
            for (Future<?> each : starts) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(hypervisor().domains().ours())
                .extracting(ObservedDomain::owner)
                .containsExactlyInAnyOrderElementsOf(
                        specs.stream().map(DomainSpec::owner).toList());
    }

    @Test
    void resumes_it_and_again() throws IOException, InterruptedException {
        DomainSpec spec = started(0);
        hypervisor().resume(spec.owner().uuid());
        hypervisor().resume(spec.owner().uuid());
        assertThat(hypervisor().domains().ours())
                .extracting(ObservedDomain::state)
                .containsExactly(DomainState.RUNNING);
        await(new HypervisorEvent.DomainChanged(spec.owner().uuid()));
        hypervisor().requestPowerOff(spec.owner().uuid());
    }

    @Test
    void pins_the_cpus_of_a_domain_that_does_not_run_yet_and_again() throws IOException {
        DomainSpec spec = started(0);
        hypervisor().pinCpus(spec.owner().uuid(), spec.cpus());
        hypervisor().pinCpus(spec.owner().uuid(), spec.cpus());
        assertThat(hypervisor().domains().ours())
                .extracting(ObservedDomain::state)
                .containsExactly(DomainState.PAUSED);
        assertThatThrownBy(() -> hypervisor().pinCpus(owner(7).uuid(), spec.cpus()))
                .isInstanceOf(HypervisorRefused.class)
                .hasMessageContaining("no such domain");
    }

    @Test
    void destroys_it_and_what_is_not_there_is_destroyed() throws IOException, InterruptedException {
        DomainSpec spec = started(0);
        hypervisor().destroy(spec.owner().uuid());
        assertThat(hypervisor().domains().ours()).isEmpty();
        assertThat(isThere(spec.owner().names().domain())).isFalse();
        await(new HypervisorEvent.DomainEnded(spec.owner().uuid(), true));
        hypervisor().destroy(spec.owner().uuid());
        hypervisor().destroy(owner(7).uuid());
    }

    @Test
    void what_is_not_there_cannot_be_resumed_or_asked() {
        String absent = owner(7).uuid();
        assertThatThrownBy(() -> hypervisor().resume(absent))
                .isInstanceOf(HypervisorRefused.class)
                .hasMessageContaining("no such domain");
        assertThatThrownBy(() -> hypervisor().requestPowerOff(absent)).isInstanceOf(HypervisorRefused.class);
    }

    @Test
    void a_second_domain_of_a_name_is_refused_and_the_first_is_as_it_was() throws IOException {
        DomainSpec first = started(0);
        DomainSpec second = spec(owner(0));
        assertThatThrownBy(() -> hypervisor().startPaused(second)).isInstanceOf(HypervisorRefused.class);
        assertThatThrownBy(() -> hypervisor().startPaused(first)).isInstanceOf(HypervisorRefused.class);
        assertThat(hypervisor().domains().ours())
                .extracting(ObservedDomain::owner)
                .containsExactly(first.owner());
    }

    @Test
    void tells_of_a_domain_that_was_destroyed_by_someone_or_has_crashed() throws IOException, InterruptedException {
        DomainSpec destroyed = started(0);
        DomainSpec crashed = started(1);
        destroyFromOutside(destroyed.owner().names().domain());
        await(new HypervisorEvent.DomainEnded(destroyed.owner().uuid(), true));
        crash(crashed.owner().names().domain());
        await(new HypervisorEvent.DomainEnded(crashed.owner().uuid(), true));
        assertThat(hypervisor().domains().ours()).isEmpty();
    }

    @Test
    void a_foreign_domain_is_not_listed_and_not_touched_whatever_it_is_called() throws IOException {
        ResourceOwner owner = owner(5);
        String name = owner.names().domain();
        startForeign(name, owner.uuid(), "");
        try {
            assertThat(hypervisor().domains()).isEqualTo(new DomainList(List.of(), List.of()));
            assertThatThrownBy(() -> hypervisor().destroy(owner.uuid()))
                    .isInstanceOf(HypervisorRefused.class)
                    .hasMessageContaining("was not changed");
            assertThatThrownBy(() -> hypervisor().resume(owner.uuid())).isInstanceOf(HypervisorRefused.class);
            assertThat(isThere(name)).isTrue();
        } finally {
            destroyFromOutside(name);
        }
    }

    @Test
    void a_domain_that_carries_our_metadata_wrongly_is_said_to_be_odd_and_not_touched() throws IOException {
        ResourceOwner owner = owner(6);
        startForeign(
                "copied",
                owner.uuid(),
                "<cloister:vm xmlns:cloister='https://cloister.internal/host/1'><cloister:slot>1</cloister:slot></cloister:vm>");
        try {
            DomainList domains = hypervisor().domains();
            assertThat(domains.ours()).isEmpty();
            assertThat(domains.malformed()).singleElement().asString().startsWith(owner.uuid() + ": domain: want ");
            assertThatThrownBy(() -> hypervisor().destroy(owner.uuid())).isInstanceOf(HypervisorRefused.class);
            assertThat(isThere("copied")).isTrue();
        } finally {
            destroyFromOutside("copied");
        }
    }

    @Test
    void while_nothing_answers_nothing_is_absent_and_afterwards_all_is_there()
            throws IOException, InterruptedException {
        DomainSpec running = started(0);
        DomainSpec paused = started(1);
        hypervisor().resume(running.owner().uuid());
        killDaemon();
        try {
            assertThat(hypervisor().isAlive()).isFalse();
            assertThatThrownBy(() -> hypervisor().domains()).isInstanceOf(HypervisorUnavailable.class);
            assertThatThrownBy(() -> hypervisor().destroy(paused.owner().uuid()))
                    .isInstanceOf(HypervisorUnavailable.class);
            DomainSpec another = spec(owner(2));
            assertThatThrownBy(() -> hypervisor().startPaused(another)).isInstanceOf(HypervisorUnavailable.class);
        } finally {
            startDaemon();
        }
        await(HypervisorEvent.ConnectionLost.class);
        await(HypervisorEvent.ConnectionRestored.class);
        assertThat(hypervisor().domains().ours())
                .extracting(ObservedDomain::owner, ObservedDomain::state)
                .containsExactlyInAnyOrder(
                        tuple(running.owner(), DomainState.RUNNING), tuple(paused.owner(), DomainState.PAUSED));
        hypervisor().resume(paused.owner().uuid());
        crash(running.owner().names().domain());
        await(new HypervisorEvent.DomainEnded(running.owner().uuid(), true));
    }

    /** @param slot one of its own for each domain that is there at a time */
    protected static ResourceOwner owner(int slot) {
        return new ResourceOwner(PROJECT, TICKET, slot, 4711, UUID.randomUUID().toString());
    }

    private DomainSpec started(int slot) throws IOException {
        DomainSpec spec = spec(owner(slot));
        hypervisor().startPaused(spec);
        return spec;
    }

    private void await(HypervisorEvent want) throws InterruptedException {
        HypervisorEvent event = next();
        while (!event.equals(want)) {
            event = next();
        }
    }

    private void await(Class<? extends HypervisorEvent> want) throws InterruptedException {
        HypervisorEvent event = next();
        while (!want.isInstance(event)) {
            event = next();
        }
    }

    private HypervisorEvent next() throws InterruptedException {
        HypervisorEvent event = events.poll(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(event).as("an event within " + LIMIT).isNotNull();
        return event;
    }
}
