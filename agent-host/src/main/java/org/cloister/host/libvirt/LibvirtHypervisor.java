package org.cloister.host.libvirt;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.DomainState;
import org.cloister.host.domain.DomainXml;
import org.cloister.host.domain.DomainXmlReader;
import org.cloister.host.domain.ObservedDomain;
import org.cloister.host.domain.SevCapabilities;
import org.cloister.host.domain.SevCapabilitiesReader;
import org.libvirt.Connect;
import org.libvirt.Domain;
import org.libvirt.DomainInfo;
import org.libvirt.Error;
import org.libvirt.LibvirtException;

/** Hypervisor of the host: libvirtd and QEMU. */
public final class LibvirtHypervisor implements Hypervisor {
    /**
     * Flag VIR_CONNECT_LIST_DOMAINS_ACTIVE of virConnectListAllDomains; our domains are transient, and others are
     * ignored.
     */
    private static final int ACTIVE = 1;

    /** Starts at a time, and other calls: by default libvirtd accepts five requests at a time from a client. */
    private static final int STARTS = 3;

    private static final int OTHERS = 2;
    private static final int MIB_PER_SECOND = 1024;
    /** A start waits for so many limits: with the default for five minutes, within which its guest has to register. */
    private static final int START_WAITS = 10;

    private final Duration limit;
    private final BoundedCalls starts;
    private final BoundedCalls calls;
    private final LibvirtConnection link;

    /** @param limit of each call; a start with a TPM takes seconds, and one of much memory longer than this */
    public LibvirtHypervisor(String uri, Duration limit) {
        this.limit = limit;
        this.starts = new BoundedCalls("libvirt-start", STARTS, limit.multipliedBy(START_WAITS));
        this.calls = new BoundedCalls("libvirt-call", OTHERS, limit);
        this.link = new LibvirtConnection(uri, calls);
    }

    @Override
    public void startPaused(DomainSpec spec) throws HypervisorRefused, HypervisorUnavailable {
        String xml = DomainXml.of(spec);
        String what = "start " + spec.owner().names().domain();
        ask(starts, startLimit(limit, spec.memoryMib()), what, connect -> {
            connect.domainCreateXML(xml, Domain.CreateFlags.PAUSED).free();
            return true;
        });
    }

    /**
     * Returns the limit of a start. The kernel clears huge pages and locked memory before QEMU answers; a GiB a second
     * is less than one processor clears.
     */
    static Duration startLimit(Duration limit, int memoryMib) {
        return limit.plusSeconds(memoryMib / MIB_PER_SECOND);
    }

    @Override
    public void pinCpus(String uuid, CpuPlacement cpus) throws HypervisorRefused, HypervisorUnavailable {
        change("pin CPUs of", uuid, domain -> {
            for (int vcpu = 0; vcpu < cpus.count(); vcpu++) {
                domain.pinVcpu(vcpu, cpuMap(cpus.pin(vcpu)));
            }
        });
    }

    /** Returns libvirt's map of CPUs: a bit for each, eight in a number, the lowest first. */
    static int[] cpuMap(CpuSet cpus) {
        List<Integer> numbers = cpus.numbers();
        int[] map = new int[numbers.get(numbers.size() - 1) / Byte.SIZE + 1];
        for (int cpu : numbers) {
            map[cpu / Byte.SIZE] |= 1 << cpu % Byte.SIZE;
        }
        return map;
    }

    @Override
    public void resume(String uuid) throws HypervisorRefused, HypervisorUnavailable {
        change("resume", uuid, domain -> {
            if (state(domain) == DomainState.PAUSED) {
                domain.resume();
            }
        });
    }

    @Override
    public void requestPowerOff(String uuid) throws HypervisorRefused, HypervisorUnavailable {
        change("power off", uuid, domain -> {
            // libvirt refuses to power off a domain whose guest is already powering off.
            if (state(domain) == DomainState.RUNNING) {
                domain.shutdown();
            }
        });
    }

    @Override
    public void destroy(String uuid) throws HypervisorRefused, HypervisorUnavailable {
        ask("destroy " + uuid, connect -> {
            Optional<Domain> found = find(connect, uuid);
            if (found.isPresent()) {
                Domain domain = found.get();
                try {
                    requireOurs("destroy", uuid, domain);
                    domain.destroy();
                } catch (LibvirtException e) {
                    // It may have ended by itself meanwhile.
                    if (!isAbsence(e) && isThere(domain)) {
                        throw e;
                    }
                } finally {
                    domain.free();
                }
            }
            return true;
        });
    }

    @Override
    public DomainList domains() throws HypervisorUnavailable {
        try {
            return ask("list domains", LibvirtHypervisor::list);
        } catch (HypervisorRefused e) {
            throw BoundedCalls.unavailable("list domains", String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public SevCapabilities sevCapabilities() throws HypervisorUnavailable {
        try {
            return ask("domain capabilities", connect -> SevCapabilitiesReader.read(DomainCapabilities.of(connect)));
        } catch (HypervisorRefused e) {
            throw BoundedCalls.unavailable("domain capabilities", String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public boolean isAlive() {
        try {
            return ask("version", connect -> connect.getLibVersion() > 0);
        } catch (HypervisorRefused | HypervisorUnavailable e) {
            return false;
        }
    }

    @Override
    public void setListener(Consumer<HypervisorEvent> listener) {
        link.setListener(listener);
    }

    @Override
    public void close() {
        link.close();
        starts.close();
        calls.close();
    }

    private static DomainList list(Connect connect) throws LibvirtException {
        List<ObservedDomain> ours = new ArrayList<>();
        List<String> odd = new ArrayList<>();
        for (Domain domain : connect.listAllDomains(ACTIVE)) {
            try {
                DomainXmlReader.read(domain.getXMLDesc(0), state(domain)).ifPresent(ours::add);
            } catch (MalformedException e) {
                odd.add(domain.getUUIDString() + ": " + e.getMessage());
            } catch (LibvirtException e) {
                // It has ended since it was listed.
                if (!isAbsence(e)) {
                    throw e;
                }
            } finally {
                domain.free();
            }
        }
        return new DomainList(ours, odd);
    }

    private void change(String what, String uuid, Change change) throws HypervisorRefused, HypervisorUnavailable {
        ask(what + " " + uuid, connect -> {
            Domain domain = find(connect, uuid)
                    .orElseThrow(
                            () -> new HypervisorRefused("libvirt: " + what + " " + uuid + ": there is no such domain"));
            try {
                requireOurs(what, uuid, domain);
                change.to(domain);
            } finally {
                domain.free();
            }
            return true;
        });
    }

    private static Optional<Domain> find(Connect connect, String uuid) throws LibvirtException {
        try {
            return Optional.of(connect.domainLookupByUUIDString(uuid));
        } catch (LibvirtException e) {
            if (isAbsence(e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static void requireOurs(String what, String uuid, Domain domain)
            throws LibvirtException, HypervisorRefused {
        try {
            if (DomainXmlReader.read(domain.getXMLDesc(0), DomainState.ENDING).isEmpty()) {
                throw new HypervisorRefused("libvirt: " + what + " " + uuid + ": the domain \"" + domain.getName()
                        + "\" has no owner of agent-host in its metadata; it was not changed");
            }
        } catch (MalformedException e) {
            throw new HypervisorRefused(
                    "libvirt: " + what + " " + uuid + ": " + e.getMessage() + "; the domain was not changed");
        }
    }

    private static DomainState state(Domain domain) throws LibvirtException {
        DomainInfo.DomainState state = domain.getInfo().state;
        return switch (state) {
            case VIR_DOMAIN_RUNNING, VIR_DOMAIN_BLOCKED -> DomainState.RUNNING;
            case VIR_DOMAIN_PAUSED, VIR_DOMAIN_PMSUSPENDED -> DomainState.PAUSED;
            default -> DomainState.ENDING;
        };
    }

    private static boolean isThere(Domain domain) throws LibvirtException {
        try {
            return domain.isActive() == 1;
        } catch (LibvirtException e) {
            if (isAbsence(e)) {
                return false;
            }
            throw e;
        }
    }

    private static boolean isAbsence(LibvirtException e) {
        return e.getError().getCode() == Error.ErrorNumber.VIR_ERR_NO_DOMAIN;
    }

    private <T> T ask(String what, LibvirtConnection.Query<T> query) throws HypervisorRefused, HypervisorUnavailable {
        return ask(calls, limit, what, query);
    }

    private <T> T ask(BoundedCalls lane, Duration most, String what, LibvirtConnection.Query<T> query)
            throws HypervisorRefused, HypervisorUnavailable {
        try {
            return lane.within(what, most, () -> link.ask(what, query));
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof HypervisorRefused refused) {
                throw refused;
            }
            if (cause instanceof HypervisorUnavailable unavailable) {
                throw unavailable;
            }
            if (cause instanceof MalformedException) {
                throw BoundedCalls.unavailable(what, String.valueOf(cause.getMessage()), cause);
            }
            throw new IllegalStateException("libvirt: " + what, cause);
        }
    }

    private interface Change {
        void to(Domain domain) throws LibvirtException;
    }
}
