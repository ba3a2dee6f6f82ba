package org.cloister.host.libvirt;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.DomainState;
import org.cloister.host.domain.DomainXml;
import org.cloister.host.domain.DomainXmlReader;
import org.cloister.host.domain.ObservedDomain;
import org.cloister.host.domain.SevCapabilities;

/** A hypervisor in memory: keeps each domain's XML and state, and runs nothing. */
public final class FakeHypervisor implements Hypervisor {
    private final Map<String, Entry> domains = new LinkedHashMap<>();
    private final Map<String, CpuPlacement> pinned = new LinkedHashMap<>();
    private Consumer<HypervisorEvent> listener = event -> {};
    private boolean answers = true;

    private record Entry(String name, String xml, DomainState state) {}

    @Override
    public synchronized void startPaused(DomainSpec spec) throws HypervisorRefused, HypervisorUnavailable {
        String name = spec.owner().names().domain();
        requireAnswer("start " + name);
        boolean taken = domains.containsKey(spec.owner().uuid())
                || domains.values().stream().anyMatch(entry -> entry.name().equals(name));
        if (taken) {
            throw new HypervisorRefused("libvirt: start " + name + ": domain is already active");
        }
        put(spec.owner().uuid(), new Entry(name, DomainXml.of(spec), DomainState.PAUSED));
    }

    @Override
    public synchronized void pinCpus(String uuid, CpuPlacement cpus) throws HypervisorRefused, HypervisorUnavailable {
        ours("pin CPUs of", uuid);
        pinned.put(uuid, cpus);
    }

    /** What its CPUs were last pinned to since its start. */
    public synchronized Optional<CpuPlacement> pinned(String uuid) {
        return Optional.ofNullable(pinned.get(uuid));
    }

    @Override
    public synchronized void resume(String uuid) throws HypervisorRefused, HypervisorUnavailable {
        Entry entry = ours("resume", uuid);
        if (entry.state() == DomainState.PAUSED) {
            put(uuid, new Entry(entry.name(), entry.xml(), DomainState.RUNNING));
        }
    }

    /** Its guests do not care. */
    @Override
    public synchronized void requestPowerOff(String uuid) throws HypervisorRefused, HypervisorUnavailable {
        ours("power off", uuid);
    }

    @Override
    public synchronized void destroy(String uuid) throws HypervisorRefused, HypervisorUnavailable {
        requireAnswer("destroy " + uuid);
        if (domains.containsKey(uuid)) {
            ours("destroy", uuid);
            end(uuid);
        }
    }

    @Override
    public synchronized DomainList domains() throws HypervisorUnavailable {
        requireAnswer("list domains");
        List<ObservedDomain> ours = new ArrayList<>();
        List<String> odd = new ArrayList<>();
        domains.forEach((uuid, entry) -> {
            try {
                DomainXmlReader.read(entry.xml(), entry.state()).ifPresent(ours::add);
            } catch (MalformedException e) {
                odd.add(uuid + ": " + e.getMessage());
            }
        });
        return new DomainList(ours, odd);
    }

    @Override
    public SevCapabilities sevCapabilities() throws HypervisorUnavailable {
        requireAnswer("domain capabilities");
        return SevCapabilities.NONE;
    }

    @Override
    public boolean isAlive() {
        return answers;
    }

    @Override
    public void setListener(Consumer<HypervisorEvent> newListener) {
        listener = newListener;
    }

    @Override
    public void close() {}

    /** Somebody else's, running. */
    public void startForeign(String name, String uuid, String metadata) {
        String xml = "<domain><name>" + name + "</name><uuid>" + uuid + "</uuid><metadata>" + metadata
                + "</metadata></domain>";
        put(uuid, new Entry(name, xml, DomainState.RUNNING));
    }

    /** A domain ends, by whomever. */
    public void endOf(String name) {
        uuid(name).ifPresent(this::end);
    }

    public boolean isThere(String name) {
        return uuid(name).isPresent();
    }

    /** Whether it answers; domains stay. */
    public void answers(boolean now) {
        answers = now;
        listener.accept(
                now ? new HypervisorEvent.ConnectionRestored() : new HypervisorEvent.ConnectionLost("switched off"));
    }

    private Optional<String> uuid(String name) {
        return domains.entrySet().stream()
                .filter(each -> each.getValue().name().equals(name))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    private Entry ours(String what, String uuid) throws HypervisorRefused, HypervisorUnavailable {
        requireAnswer(what + " " + uuid);
        Entry entry = domains.get(uuid);
        if (entry == null) {
            throw new HypervisorRefused("libvirt: " + what + " " + uuid + ": there is no such domain");
        }
        boolean ours;
        try {
            ours = DomainXmlReader.read(entry.xml(), entry.state()).isPresent();
        } catch (MalformedException e) {
            ours = false;
        }
        if (!ours) {
            throw new HypervisorRefused("libvirt: " + what + " " + uuid + ": not ours; it was not changed");
        }
        return entry;
    }

    private void put(String uuid, Entry entry) {
        domains.put(uuid, entry);
        if (answers) {
            listener.accept(new HypervisorEvent.DomainChanged(uuid));
        }
    }

    private void end(String uuid) {
        domains.remove(uuid);
        if (answers) {
            listener.accept(new HypervisorEvent.DomainEnded(uuid, true));
        }
    }

    private void requireAnswer(String what) throws HypervisorUnavailable {
        if (!answers) {
            throw new HypervisorUnavailable("libvirt: " + what + ": switched off");
        }
    }
}
