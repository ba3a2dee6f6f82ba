package org.cloister.host.libvirt;

import java.util.function.Consumer;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.SevCapabilities;

/**
 * What runs our VMs. Each call ends within a limit of time; what is not known then is not absent, but {@link
 * HypervisorUnavailable}. A domain that does not carry our owner is not listed, not changed and not ended. To be used by several
 * threads at once.
 */
public interface Hypervisor extends AutoCloseable {
    /**
     * Starts a transient domain whose CPUs do not run yet.
     *
     * @throws HypervisorRefused if it was not started: its name, uuid or a file is in use, or it is not to the
     *     hypervisor's liking
     * @throws HypervisorUnavailable if it may have been started or not
     */
    void startPaused(DomainSpec spec) throws HypervisorRefused, HypervisorUnavailable;

    /**
     * Lets its CPUs run; of one that runs it is nothing.
     *
     * @throws HypervisorRefused if it is not there, or not ours
     */
    void resume(String uuid) throws HypervisorRefused, HypervisorUnavailable;

    /**
     * Presses its power button. The guest may take its time, or not care.
     *
     * @throws HypervisorRefused if it is not there, or not ours
     */
    void requestPowerOff(String uuid) throws HypervisorRefused, HypervisorUnavailable;

    /**
     * Ends it at once; of one that is not there it is nothing. Afterwards its process has gone.
     *
     * @throws HypervisorRefused if it is not ours
     */
    void destroy(String uuid) throws HypervisorRefused, HypervisorUnavailable;

    /** Ours, with what each does. */
    DomainList domains() throws HypervisorUnavailable;

    /** What it can protect guests with. */
    SevCapabilities sevCapabilities() throws HypervisorUnavailable;

    /** Whether it answers now. */
    boolean isAlive();

    /**
     * Tells of changes from now on, one at a time; from {@link HypervisorEvent.ConnectionLost} to
     * {@link HypervisorEvent.ConnectionRestored} there are changes of which nothing is told. The listener returns soon
     * and does not call back.
     */
    void setListener(Consumer<HypervisorEvent> listener);

    /** Domains stay as they are. */
    @Override
    void close();
}
