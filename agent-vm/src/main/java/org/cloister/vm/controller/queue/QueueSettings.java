package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.List;
import org.cloister.vm.controller.config.HostShape;

/**
 * Settings of a project's queue, from the site's approval and the administrator.
 *
 * @param maxTickets maximum in flight, as the approval's quota
 * @param shapes of the site's hosts
 * @param features names that users may give to {@code --constraint}, by their positions in the approval's list
 * @param maxAttempts how often a job is tried before it is held
 * @param startTimeout from the last node idle until Slurm has started the job; then the assignment is undone
 * @param maxJobTime limit of any job, in the Local Slurm's own configuration; a job that requests no limit gets it
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
