package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.List;
import org.cloister.vm.controller.config.HostShape;

/**
 * What the site's approval and the administrator say of a project's queue.
 *
 * @param maxTickets in flight at most, as the approval's quota
 * @param shapes that the site has
 * @param features names that users may give to {@code --constraint}, by their places in the approval's list
 * @param maxAttempts how often a job is tried before it is held
 * @param startTimeout from the last node idle until Slurm has started the job; it is undone then
 * @param maxJobTime that any job may run, by the Local Slurm's own configuration; a job that says no limit gets it
 */
public record QueueSettings(
        int maxTickets,
        List<HostShape> shapes,
        List<String> features,
        int maxAttempts,
        Duration startTimeout,
        Duration maxJobTime) {
    public QueueSettings {
        shapes = List.copyOf(shapes);
        features = List.copyOf(features);
    }
}
