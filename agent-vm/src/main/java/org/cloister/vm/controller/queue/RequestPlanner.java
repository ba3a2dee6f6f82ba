package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.controller.slurm.JobRequirements;

/**
 * Plans the resource request of a ticket from what a job requires of its nodes. Tasks are spread evenly over nodes, so
 * that all worker VMs of a ticket have the same size.
 */
final class RequestPlanner {
    private final List<HostShape> shapes;
    private final int features;
    private final Duration longest;

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
        this.features = settings.features().size();
        this.longest = settings.maxJobTime();
    }

    Result plan(JobRequirements demand, List<Integer> places) {
        if (!places.isEmpty() && places.get(places.size() - 1) >= features) {
            return Result.refused(
                    "constraint: want one of the " + features + " names that the project's approval has, have "
                            + "number " + places.get(places.size() - 1) + "; submit the job again");
        }
        long minutes = minutes(demand);
        if (minutes > ResourceRequest.MAX_MINUTES) {
            return Result.refused("time limit: want at most " + ResourceRequest.MAX_MINUTES + " minutes, have "
                    + minutes + "; give a lower --time");
        }
        int most = mostNodes(demand);
        for (int nodes = Math.max(1, demand.minNodes()); nodes <= most; nodes++) {
            Optional<ResourceRequest> request = request(demand, places, nodes, (int) minutes);
            if (request.isPresent() && hostsFor(request.get()) >= nodes) {
                return new Result(request, "");
            }
        }
        return Result.refused(unfit(demand));
    }

    /**
     * Returns whether a ticket that requested {@code had} serves for {@code wanted}: the same resources, and no shorter
     * time.
     */
    static boolean covers(ResourceRequest had, ResourceRequest wanted) {
        return had.minutes() >= wanted.minutes()
                && had.nodes() == wanted.nodes()
                && had.tasks().equals(wanted.tasks())
                && had.cpusPerTask() == wanted.cpusPerTask()
                && had.tasksPerNode().equals(wanted.tasksPerNode())
                && had.memoryMib() == wanted.memoryMib()
                && had.scratchMib() == wanted.scratchMib()
                && had.exclusive() == wanted.exclusive()
                && had.features().equals(wanted.features());
    }

    /**
     * Returns the maximum number of nodes. A job without a node count has equal minimum and maximum, as has one that
     * requested exactly that many. But Slurm has refused the latter if its tasks do not fit: so the tasks may go to
     * more nodes.
     */
    private int mostNodes(JobRequirements demand) {
        int most =
                demand.maxNodes() > demand.minNodes() ? demand.maxNodes() : Math.max(demand.minNodes(), demand.tasks());
        int hosts = shapes.stream().mapToInt(HostShape::hosts).sum();
        return Math.min(Math.min(most, hosts), ResourceRequest.MAX_NODES);
    }

    private long minutes(JobRequirements demand) {
        Duration limit = demand.timeLimit().orElse(longest);
        return Math.max(1, limit.plusSeconds(59).toMinutes());
    }

    private static Optional<ResourceRequest> request(
            JobRequirements demand, List<Integer> places, int nodes, int minutes) {
        // Fewer tasks than nodes: Slurm gives each node one, or uses fewer nodes; both fit on these.
        OptionalInt tasks = demand.tasks() < nodes ? OptionalInt.empty() : OptionalInt.of(demand.tasks());
        OptionalInt perNode = demand.tasksPerNode();
        if (perNode.isEmpty() && nodes > 1 && tasks.isPresent()) {
            perNode = OptionalInt.of((tasks.getAsInt() - 1) / nodes + 1);
        }
        int cpus = Math.max(1, demand.cpusPerTask());
        long tasksOfNode = perNode.orElse(tasks.orElse(1));
        // Memory per CPU of a whole node depends on a number of CPUs that is not known yet.
        boolean all = demand.memoryMib() == 0 || (demand.exclusive() && demand.memoryPerCpu());
        try {
            long each = demand.memoryPerCpu() && !all ? Math.multiplyExact(tasksOfNode, cpus) : 1;
            long memory = all ? 0 : Math.multiplyExact(demand.memoryMib(), each);
            return Optional.of(new ResourceRequest(
                    nodes,
                    tasks,
                    cpus,
                    perNode,
                    Math.toIntExact(memory),
                    Math.toIntExact(demand.scratchMib()),
                    demand.exclusive() || all,
                    minutes,
                    places));
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

    private String unfit(JobRequirements demand) {
        HostShape largest =
                shapes.stream().reduce((a, b) -> b.cpus() > a.cpus() ? b : a).orElse(new HostShape(1, 1, 1, 0));
        int hosts = shapes.stream().mapToInt(HostShape::hosts).sum();
        return "nodes: want what the site has, up to " + hosts + " hosts, the largest of " + largest.cpus() + " CPUs, "
                + largest.memoryMib() + " MiB, " + largest.scratchMib() + " MiB scratch; have " + demand.minNodes()
                + " nodes, " + demand.tasks() + " tasks of " + demand.cpusPerTask() + " CPUs, " + demand.memoryMib()
                + " MiB " + (demand.memoryPerCpu() ? "a CPU" : "a node") + ", " + demand.scratchMib()
                + " MiB scratch; ask for less, then scontrol release";
    }
}
