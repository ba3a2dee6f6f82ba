package org.cloister.host.libvirt;

import java.util.function.Consumer;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.SevCapabilities;

/**
 * Hypervisor that runs the host's VMs. Each call ends within a time limit; a state that is then unknown is not reported
 * as absent, but as {@link HypervisorUnavailable}. Domains without our metadata are not listed, changed or destroyed.
 * Several threads may call at the same time.
 */
public interface Hypervisor extends AutoCloseable {
    /**
     * Starts a transient domain with paused CPUs.
     *
     * @throws HypervisorRefused if it was not started: its name, uuid or a file is in use, or the hypervisor rejects
     *     its XML
     * @throws HypervisorUnavailable if it is unknown whether it was started
     */
    void startPaused(DomainSpec spec) throws HypervisorRefused, HypervisorUnavailable;

    /**
     * Pins each CPU of the guest to its CPUs of the host, as at the start. A kernel before 6.2 gives a thread all CPUs
     * of the cpuset that its process enters.
     *
     * @throws HypervisorRefused if it does not exist, or is not ours
     */
    void pinCpus(String uuid, CpuPlacement cpus) throws HypervisorRefused, HypervisorUnavailable;

    /**
     * Resumes its CPUs; no effect if they run.
     *
     * @throws HypervisorRefused if it does not exist, or is not ours
     */
    void resume(String uuid) throws HypervisorRefused, HypervisorUnavailable;

    /**
     * Presses its power button. The guest may react late or not at all.
     *
     * @throws HypervisorRefused if it does not exist, or is not ours
     */
    void requestPowerOff(String uuid) throws HypervisorRefused, HypervisorUnavailable;

    /**
     * Destroys it at once; no effect if it does not exist. Its process is gone when this returns.
     *
     * @throws HypervisorRefused if it is not ours
     */
    void destroy(String uuid) throws HypervisorRefused, HypervisorUnavailable;

    /** Lists our domains, with the state of each. */
    DomainList domains() throws HypervisorUnavailable;

    /** Returns the memory protection that it supports for guests. */
    SevCapabilities sevCapabilities() throws HypervisorUnavailable;

    /** Returns whether it answers now. */
    boolean isAlive();

    /**
     * Sets the listener, which receives later events one at a time. Changes between {@link
     * HypervisorEvent.ConnectionLost} and {@link HypervisorEvent.ConnectionRestored} are not reported. The listener
     * returns soon and does not call back.
     */
    void setListener(Consumer<HypervisorEvent> listener);

    /** Closes the connection; domains continue to run. */
    @Override
    void close();
}
