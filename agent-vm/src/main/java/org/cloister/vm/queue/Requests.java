package org.cloister.vm.queue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.Shape;
import org.cloister.vm.slurm.Demand;

/**
 * What a ticket has to ask of the site for what a job asks of its nodes. Tasks are spread evenly over nodes, so that all of a
 * ticket's worker VMs are of a size.
 */
final class Requests {
    private final List<Shape> shapes;
    private final int features;
    private final Duration longest;

    /**
     * One of both.
     *
     * @param whyNot for the job's owner
     */
    record Answer(Optional<ResourceRequest> request, String whyNot) {
        static Answer no(String why) {
            return new Answer(Optional.empty(), why);
        }
    }

    Requests(ControllerSettings settings) {
        this.shapes = settings.shapes();
        this.features = settings.features().size();
        this.longest = settings.longest();
    }

    Answer of(Demand demand, List<Integer> places) {
        if (!places.isEmpty() && places.get(places.size() - 1) >= features) {
            return Answer.no("constraint: want one of the " + features + " names that the project's approval has, have "
                    + "number " + places.get(places.size() - 1) + "; submit the job again");
        }
        long minutes = minutes(demand);
        if (minutes > ResourceRequest.MAX_MINUTES) {
            return Answer.no("time limit: want at most " + ResourceRequest.MAX_MINUTES + " minutes, have " + minutes
                    + "; give a lower --time");
        }
        int most = mostNodes(demand);
        for (int nodes = Math.max(1, demand.leastNodes()); nodes <= most; nodes++) {
            Optional<ResourceRequest> request = request(demand, places, nodes, (int) minutes);
            if (request.isPresent() && hostsFor(request.get()) >= nodes) {
                return new Answer(request, "");
            }
        }
        return Answer.no(unfit(demand));
    }

    /**
     * Whether a ticket that asked for {@code had} is as good as one that asks for {@code wanted}: the same, and no shorter.
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
     * A job that said no count of nodes has one and the same for least and most, as one that asked for just this many has. But
     * the latter, if its tasks do not fit, Slurm has refused: so its tasks may go to more nodes.
     */
    private int mostNodes(Demand demand) {
        int most = demand.mostNodes() > demand.leastNodes()
                ? demand.mostNodes()
                : Math.max(demand.leastNodes(), demand.tasks());
        int hosts = shapes.stream().mapToInt(Shape::hosts).sum();
        return Math.min(Math.min(most, hosts), ResourceRequest.MAX_NODES);
    }

    private long minutes(Demand demand) {
        Duration limit = demand.limit().orElse(longest);
        return Math.max(1, limit.plusSeconds(59).toMinutes());
    }

    private static Optional<ResourceRequest> request(Demand demand, List<Integer> places, int nodes, int minutes) {
        // Fewer tasks than nodes: Slurm gives each node one, or fewer nodes; both fit on these.
        OptionalInt tasks = demand.tasks() < nodes ? OptionalInt.empty() : OptionalInt.of(demand.tasks());
        OptionalInt perNode = demand.tasksPerNode();
        if (perNode.isEmpty() && nodes > 1 && tasks.isPresent()) {
            perNode = OptionalInt.of((tasks.getAsInt() - 1) / nodes + 1);
        }
        int cpus = Math.max(1, demand.cpusPerTask());
        long tasksOfNode = perNode.orElse(tasks.orElse(1));
        // Memory for each CPU of a whole node is of CPUs that nobody knows yet.
        boolean all = demand.memoryMib() == 0 || (demand.exclusive() && demand.memoryOfCpu());
        try {
            long each = demand.memoryOfCpu() && !all ? Math.multiplyExact(tasksOfNode, cpus) : 1;
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
                .mapToInt(Shape::hosts)
                .sum();
    }

    private String unfit(Demand demand) {
        Shape largest =
                shapes.stream().reduce((a, b) -> b.cpus() > a.cpus() ? b : a).orElse(new Shape(1, 1, 1, 0));
        int hosts = shapes.stream().mapToInt(Shape::hosts).sum();
        return "nodes: want what the site has, up to " + hosts + " hosts, the largest of " + largest.cpus() + " CPUs, "
                + largest.memoryMib() + " MiB, " + largest.scratchMib() + " MiB scratch; have " + demand.leastNodes()
                + " nodes, " + demand.tasks() + " tasks of " + demand.cpusPerTask() + " CPUs, " + demand.memoryMib()
                + " MiB " + (demand.memoryOfCpu() ? "a CPU" : "a node") + ", " + demand.scratchMib()
                + " MiB scratch; ask for less, then scontrol release";
    }
}
