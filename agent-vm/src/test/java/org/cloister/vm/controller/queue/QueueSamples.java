package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.slurm.LocalSlurmNode;
import org.cloister.vm.controller.tickets.WorkerEvent;

/** Jobs, tickets and sights for tests of decisions. */
final class QueueSamples {
    static final String TICKET = "abcdefghijklmnopqrstuvwxyz";
    static final String OTHER = "bbcdefghijklmnopqrstuvwxyz";
    static final String FEATURE = LocalSlurm.feature(TICKET);

    private QueueSamples() {}

    static LocalSlurmJob job(String id, LocalSlurmJobState state, String reason, String features) {
        return new LocalSlurmJob(
                new LocalSlurmJobId(id),
                0,
                0,
                0,
                0,
                1000,
                state,
                reason,
                10,
                features,
                Optional.of(SimulatedSlurm.ADMIN),
                SimulatedSlurm.demand(2),
                state == LocalSlurmJobState.PENDING ? List.of() : List.of("vm-a-0", "vm-a-1"));
    }

    static LocalSlurmJob waiting(String reason) {
        return job("7", LocalSlurmJobState.PENDING, reason, LocalSlurm.UNPLACED);
    }

    static LocalSlurmJob task(int array, int task, int throttle) {
        return new LocalSlurmJob(
                new LocalSlurmJobId(array + "_" + task),
                array,
                throttle,
                0,
                0,
                1000,
                LocalSlurmJobState.PENDING,
                "Priority",
                10,
                LocalSlurm.UNPLACED,
                Optional.of(SimulatedSlurm.ADMIN),
                SimulatedSlurm.demand(1),
                List.of());
    }

    static LocalSlurmJob component(int set, int component) {
        return new LocalSlurmJob(
                new LocalSlurmJobId(set + "+" + component),
                0,
                0,
                set,
                0,
                1000,
                LocalSlurmJobState.PENDING,
                "None",
                10,
                LocalSlurm.UNPLACED,
                Optional.of(SimulatedSlurm.ADMIN),
                SimulatedSlurm.demand(2),
                List.of());
    }

    static ResourceRequest request(int nodes, int minutes) {
        return new ResourceRequest(
                nodes, OptionalInt.of(nodes), 1, OptionalInt.empty(), 100, 0, false, minutes, List.of());
    }

    static JobTicket entry() {
        return new JobTicket(
                TICKET,
                new LocalSlurmJobId("7"),
                1000,
                0,
                0,
                1,
                0,
                SimulatedSlurm.demand(2),
                request(2, 10),
                JobTicket.Stage.OPEN,
                1_000,
                0,
                false,
                false,
                Optional.empty(),
                Map.of());
    }

    static JobTicket component(String ticket, LocalSlurmJob job) {
        return new JobTicket(
                ticket,
                job.id(),
                job.uid(),
                job.hetJobId(),
                0,
                1,
                0,
                SimulatedSlurm.demand(2),
                request(2, 10),
                JobTicket.Stage.OPEN,
                1_000,
                0,
                false,
                false,
                Optional.empty(),
                Map.of());
    }

    /** Both nodes ready at 10 s. */
    static WorkerReports ready(String ticket) {
        WorkerReports reports = new WorkerReports();
        reports.apply(new WorkerEvent.Allocated(ticket, 2), 5_000);
        reports.apply(new WorkerEvent.NodeReady(ticket, 0, "vm-a-0"), 9_000);
        reports.apply(new WorkerEvent.NodeReady(ticket, 1, "vm-a-1"), 10_000);
        return reports;
    }

    static Map<String, LocalSlurmNode> nodes(String ticket, LocalSlurmNode.State first, LocalSlurmNode.State second) {
        Map<String, LocalSlurmNode> nodes = new HashMap<>();
        nodes.put("vm-a-0", new LocalSlurmNode("vm-a-0", LocalSlurm.feature(ticket), first, 4, 1000));
        nodes.put("vm-a-1", new LocalSlurmNode("vm-a-1", LocalSlurm.feature(ticket), second, 4, 1000));
        return nodes;
    }

    static SchedulingPolicy.Observation sight(
            JobTicket entry, LocalSlurmJob job, WorkerReports reports, Map<String, LocalSlurmNode> nodes, long nowMs) {
        return new SchedulingPolicy.Observation(
                entry, reports, Optional.of(job), 0, Optional.of(request(2, 10)), nodes, OptionalLong.empty(), nowMs);
    }

    static Duration seconds(double seconds) {
        return Duration.ofMillis((long) (seconds * 1000));
    }
}
