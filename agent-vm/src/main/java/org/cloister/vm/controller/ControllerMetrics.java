package org.cloister.vm.controller;

import java.time.Duration;
import org.cloister.vm.controller.admission.AdmissionMetrics;
import org.cloister.vm.controller.queue.QueueMetrics;
import org.cloister.vm.controller.ssh.SshSessionMetrics;

/** Receives what metrics count of a controlling VM. */
public interface ControllerMetrics extends AdmissionMetrics, QueueMetrics, SshSessionMetrics {
    /**
     * Records that all of a controlling VM's daemons, queue and servers run.
     *
     * @param startup time since its drive was open
     */
    void projectStarted(Duration startup);

    /** Records that the project's services do not run any more. */
    void projectStopped();

    /**
     * Counts RPCs that workers were refused.
     *
     * @param name of the message type, such as {@code request_trigger_set}
     */
    void rpcsRefused(String name, long count);
}
