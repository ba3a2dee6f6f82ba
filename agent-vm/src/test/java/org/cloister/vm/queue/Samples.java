package org.cloister.vm.queue;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.Node;
import org.cloister.vm.worker.WorkerEvent;

/** Jobs, tickets and sights for tests of decisions. */
final class Samples {
    static final String TICKET = "abcdefghijklmnopqrstuvwxyz";
    static final String OTHER = "bbcdefghijklmnopqrstuvwxyz";
    static final String FEATURE = LocalSlurm.feature(TICKET);

    private Samples() {}

    static Job job(String id, JobState state, String reason, String features) {
        return new Job(
                new JobId(id),
                0,
                0,
                0,
                0,
                1000,
                state,
                reason,
                10,
                features,
                Optional.of(FakeSlurm.ADMIN),
                FakeSlurm.demand(2),
                state == JobState.PENDING ? List.of() : List.of("vm-a-0", "vm-a-1"));
    }

    static Job waiting(String reason) {
        return job("7", JobState.PENDING, reason, LocalSlurm.UNPLACED);
    }

    static Job task(int array, int task, int throttle) {
        return new Job(
                new JobId(array + "_" + task),
                array,
                throttle,
                0,
                0,
                1000,
                JobState.PENDING,
                "Priority",
                10,
                LocalSlurm.UNPLACED,
                Optional.of(FakeSlurm.ADMIN),
                FakeSlurm.demand(1),
                List.of());
    }

    static Job component(int set, int component) {
        return new Job(
                new JobId(set + "+" + component),
                0,
                0,
                set,
                0,
                1000,
                JobState.PENDING,
                "None",
                10,
                LocalSlurm.UNPLACED,
                Optional.of(FakeSlurm.ADMIN),
                FakeSlurm.demand(2),
                List.of());
    }

    static ResourceRequest request(int nodes, int minutes) {
        return new ResourceRequest(
                nodes, OptionalInt.of(nodes), 1, OptionalInt.empty(), 100, 0, false, minutes, List.of());
    }

    static Entry entry() {
        return new Entry(
                TICKET,
                new JobId("7"),
                1000,
                0,
                0,
                1,
                0,
                FakeSlurm.demand(2),
                request(2, 10),
                Entry.Stage.OPEN,
                1_000,
                0,
                false,
                false,
                Optional.empty(),
                Map.of());
    }

    static Entry component(String ticket, Job job) {
        return new Entry(
                ticket,
                job.id(),
                job.uid(),
                job.set(),
                0,
                1,
                0,
                FakeSlurm.demand(2),
                request(2, 10),
                Entry.Stage.OPEN,
                1_000,
                0,
                false,
                false,
                Optional.empty(),
                Map.of());
    }

    /** Both nodes ready at 10 s. */
    static Heard ready(String ticket) {
        Heard heard = new Heard();
        heard.apply(new WorkerEvent.Allocated(ticket, 2), 5_000);
        heard.apply(new WorkerEvent.NodeReady(ticket, 0, "vm-a-0"), 9_000);
        heard.apply(new WorkerEvent.NodeReady(ticket, 1, "vm-a-1"), 10_000);
        return heard;
    }

    static Map<String, Node> nodes(String ticket, Node.State first, Node.State second) {
        Map<String, Node> nodes = new HashMap<>();
        nodes.put("vm-a-0", new Node("vm-a-0", LocalSlurm.feature(ticket), first, 4, 1000));
        nodes.put("vm-a-1", new Node("vm-a-1", LocalSlurm.feature(ticket), second, 4, 1000));
        return nodes;
    }

    static Course.Sight sight(Entry entry, Job job, Heard heard, Map<String, Node> nodes, long nowMs) {
        return new Course.Sight(
                entry, heard, Optional.of(job), 0, Optional.of(request(2, 10)), nodes, OptionalLong.empty(), nowMs);
    }

    static Duration seconds(double seconds) {
        return Duration.ofMillis((long) (seconds * 1000));
    }
}
