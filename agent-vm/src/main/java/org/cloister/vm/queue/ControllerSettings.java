package org.cloister.vm.queue;

import java.time.Duration;
import java.util.List;
import org.cloister.vm.Shape;

/**
 * What the site's approval and the administrator say of a project's queue.
 *
 * @param tickets in flight at most, as the approval's quota
 * @param shapes that the site has
 * @param features names that users may give to {@code --constraint}, by their places in the approval's list
 * @param attempts how often a job is tried before it is held
 * @param startLimit from the last node idle until Slurm has started the job; it is undone then
 * @param longest that any job may run, by the Local Slurm's own configuration; a job that says no limit gets it
 */
public record ControllerSettings(
        int tickets, List<Shape> shapes, List<String> features, int attempts, Duration startLimit, Duration longest) {
    public ControllerSettings {
        shapes = List.copyOf(shapes);
        features = List.copyOf(features);
    }
}
