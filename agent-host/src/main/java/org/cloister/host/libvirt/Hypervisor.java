package org.cloister.host.libvirt;

import java.util.function.Consumer;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.SevHost;

/**
 * What runs our VMs. Each call ends within a limit of time; what is not known then is not absent, but {@link
 * HypervisorUnavailable}. A domain that does not carry our owner is not listed, not changed and not ended. To be used by several
 * threads at once.
 */
public interface Hypervisor extends AutoCloseable {
    /**
     * Starts a transient domain whose CPUs do not run yet.
     *
     * @throws DomainRefused if it was not started: its name, uuid or a file is in use, or it is not to the hypervisor's liking
     * @throws HypervisorUnavailable if it may have been started or not
     */
    void startPaused(DomainSpec spec) throws DomainRefused, HypervisorUnavailable;

    /**
     * Lets its CPUs run; of one that runs it is nothing.
     *
     * @throws DomainRefused if it is not there, or not ours
     */
    void resume(String uuid) throws DomainRefused, HypervisorUnavailable;

    /**
     * Presses its power button. The guest may take its time, or not care.
     *
     * @throws DomainRefused if it is not there, or not ours
     */
    void askToPowerOff(String uuid) throws DomainRefused, HypervisorUnavailable;

    /**
     * Ends it at once; of one that is not there it is nothing. Afterwards its process has gone.
     *
     * @throws DomainRefused if it is not ours
     */
    void destroy(String uuid) throws DomainRefused, HypervisorUnavailable;

    /** Ours, with what each does. */
    Domains domains() throws HypervisorUnavailable;

    /** What it can protect guests with. */
    SevHost protection() throws HypervisorUnavailable;

    /** Whether it answers now. */
    boolean alive();

    /**
     * Tells of changes from now on, one at a time; from {@link HypervisorEvent.Lost} to {@link HypervisorEvent.Found} there are
     * changes of which nothing is told. The listener returns soon and does not call back.
     */
    void listen(Consumer<HypervisorEvent> listener);

    /** Domains stay as they are. */
    @Override
    void close();
}
