package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.controller.slurm.JobRequirements;

/**
 * Plans the resource request of a ticket from what a job requires of its nodes. Tasks are spread evenly over nodes, so
 * that all worker VMs of a ticket have the same size.
 */
final class RequestPlanner {
    /** Workers that this VM can have a circuit with, beside its stream of tickets; those of other jobs count, too. */
    static final int MAX_WORKERS = ProtocolLimits.VM_CIRCUITS - 1;

    private final List<HostShape> shapes;
    private final int featureCount;
    private final Duration maxJobTime;

    /**
     * Either a request or a refusal.
     *
     * @param refusal text for the job's owner
     */
    record Result(Optional<ResourceRequest> request, String refusal) {
        static Result refused(String why) {
            return new Result(Optional.empty(), why);
        }
    }

    RequestPlanner(QueueSettings settings) {
        this.shapes = settings.shapes();
        this.featureCount = settings.features().size();
        this.maxJobTime = settings.maxJobTime();
    }

    Result plan(JobRequirements requirements, List<Integer> features) {
        if (!features.isEmpty() && features.get(features.size() - 1) >= featureCount) {
            return Result.refused(
                    "constraint: want one of the " + featureCount + " names that the project's approval has, have "
                            + "number " + features.get(features.size() - 1) + "; submit the job again");
        }
        long minutes = minutes(requirements);
        if (minutes > ResourceRequest.MAX_MINUTES) {
            return Result.refused("time limit: want at most " + ResourceRequest.MAX_MINUTES + " minutes, have "
                    + minutes + "; give a lower --time");
        }
        if (requirements.minNodes() > MAX_WORKERS) {
            return Result.refused("nodes: want at most " + MAX_WORKERS + ", which a project can have at a time, have "
                    + requirements.minNodes() + "; ask for fewer nodes with more CPUs, then scontrol release");
        }
        int maxNodes = maxNodes(requirements);
        for (int nodes = Math.max(1, requirements.minNodes()); nodes <= maxNodes; nodes++) {
            Optional<ResourceRequest> request = request(requirements, features, nodes, (int) minutes);
            if (request.isPresent() && hostsFor(request.get()) >= nodes) {
                return new Result(request, "");
            }
        }
        return Result.refused(refusalText(requirements));
    }

    /**
     * Returns whether a ticket that requested {@code available} serves for {@code required}: the same resources, and no
     * shorter time.
     */
    static boolean covers(ResourceRequest available, ResourceRequest required) {
        return available.minutes() >= required.minutes()
                && available.nodes() == required.nodes()
                && available.tasks().equals(required.tasks())
                && available.cpusPerTask() == required.cpusPerTask()
                && available.tasksPerNode().equals(required.tasksPerNode())
                && available.memoryMib() == required.memoryMib()
                && available.scratchMib() == required.scratchMib()
                && available.exclusive() == required.exclusive()
                && available.features().equals(required.features());
    }

    /**
     * Returns the maximum number of nodes. A job without a node count has equal minimum and maximum, as has one that
     * requested exactly that many. But Slurm has refused the latter if its tasks do not fit: so the tasks may go to
     * more nodes.
     */
    private int maxNodes(JobRequirements requirements) {
        int maxNodes = requirements.maxNodes() > requirements.minNodes()
                ? requirements.maxNodes()
                : Math.max(requirements.minNodes(), requirements.tasks());
        int hosts = shapes.stream().mapToInt(HostShape::hosts).sum();
        return Math.min(Math.min(maxNodes, hosts), MAX_WORKERS);
    }

    private long minutes(JobRequirements requirements) {
        Duration limit = requirements.timeLimit().orElse(maxJobTime);
        return Math.max(1, limit.plusSeconds(59).toMinutes());
    }

    private static Optional<ResourceRequest> request(
            JobRequirements requirements, List<Integer> features, int nodes, int minutes) {
        // Fewer tasks than nodes: Slurm gives each node one, or uses fewer nodes; both fit on these.
        OptionalInt tasks = requirements.tasks() < nodes ? OptionalInt.empty() : OptionalInt.of(requirements.tasks());
        OptionalInt perNode = requirements.tasksPerNode();
        if (perNode.isEmpty() && nodes > 1 && tasks.isPresent()) {
            perNode = OptionalInt.of((tasks.getAsInt() - 1) / nodes + 1);
        }
        int cpus = Math.max(1, requirements.cpusPerTask());
        long tasksOfNode = perNode.orElse(tasks.orElse(1));
        // Memory per CPU of a whole node depends on a number of CPUs that is not known yet.
        boolean wholeNode = requirements.memoryMib() == 0 || (requirements.exclusive() && requirements.memoryPerCpu());
        try {
            long cpusOfMemory = requirements.memoryPerCpu() && !wholeNode ? Math.multiplyExact(tasksOfNode, cpus) : 1;
            long memory = wholeNode ? 0 : Math.multiplyExact(requirements.memoryMib(), cpusOfMemory);
            return Optional.of(new ResourceRequest(
                    nodes,
                    tasks,
                    cpus,
                    perNode,
                    Math.toIntExact(memory),
                    Math.toIntExact(requirements.scratchMib()),
                    requirements.exclusive() || wholeNode,
                    minutes,
                    features));
        } catch (IllegalArgumentException | ArithmeticException e) {
            return Optional.empty();
        }
    }

    private int hostsFor(ResourceRequest request) {
        return shapes.stream()
                .filter(shape -> request.cpusPerNode() <= shape.cpus()
                        && request.memoryMib() <= shape.memoryMib()
                        && request.scratchMib() <= shape.scratchMib())
                .mapToInt(HostShape::hosts)
                .sum();
    }

    private String refusalText(JobRequirements requirements) {
        HostShape largest =
                shapes.stream().reduce((a, b) -> b.cpus() > a.cpus() ? b : a).orElse(new HostShape(1, 1, 1, 0));
        int hosts = shapes.stream().mapToInt(HostShape::hosts).sum();
        return "nodes: want what the site has, up to " + hosts + " hosts, the largest of " + largest.cpus() + " CPUs, "
                + largest.memoryMib() + " MiB, " + largest.scratchMib() + " MiB scratch; have "
                + requirements.minNodes()
                + " nodes, " + requirements.tasks() + " tasks of " + requirements.cpusPerTask() + " CPUs, "
                + requirements.memoryMib()
                + " MiB " + (requirements.memoryPerCpu() ? "a CPU" : "a node") + ", " + requirements.scratchMib()
                + " MiB scratch; ask for less, then scontrol release";
    }
}
