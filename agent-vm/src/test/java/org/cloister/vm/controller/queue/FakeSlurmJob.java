package org.cloister.vm.controller.queue;

import java.util.ArrayList;
import java.util.List;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.vm.controller.slurm.JobRequirements;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;

/** A job as {@link SimulatedSlurm} has it. */
final class FakeSlurmJob {
    final LocalSlurmJobId id;
    long array;
    int throttle;
    long set;
    int restarts;
    LocalSlurmJobState state = LocalSlurmJobState.PENDING;
    String waitsFor = "";
    boolean badConstraints;
    String features = LocalSlurm.UNPLACED;
    String admin = SimulatedSlurm.ADMIN;
    /** What accounting has of it, since its end. */
    String accounted = "";

    JobRequirements requirements;
    int placed;
    List<String> nodes = new ArrayList<>();
    long runsMs = 2_000;
    long untilMs;
    long beginMs;
    int ends;
    boolean hasRun;
    boolean forgotten;

    FakeSlurmJob(LocalSlurmJobId id, JobRequirements requirements) {
        this.id = id;
        this.requirements = requirements;
    }

    void finish(long nowMs) {
        state = LocalSlurmJobState.ENDED;
        untilMs = nowMs;
        accounted = admin;
        ends++;
    }

    void say(String text) {
        if (state == LocalSlurmJobState.ENDED) {
            accounted = text;
        } else {
            admin = text;
        }
    }

    FakeSlurmJob requirePending() throws SlurmRefusedException {
        if (forgotten || state != LocalSlurmJobState.PENDING) {
            throw new SlurmRefusedException("Job is no longer pending execution");
        }
        return this;
    }

    FakeSlurmJob copy() {
        FakeSlurmJob copy = new FakeSlurmJob(id, requirements);
        copy.become(this);
        return copy;
    }

    void become(FakeSlurmJob was) {
        restarts = was.restarts;
        state = was.state;
        waitsFor = was.waitsFor;
        badConstraints = was.badConstraints;
        features = was.features;
        requirements = was.requirements;
        placed = was.placed;
        nodes = new ArrayList<>(was.nodes);
        untilMs = was.untilMs;
        beginMs = was.beginMs;
        ends = was.ends;
        hasRun = was.hasRun;
        forgotten = was.forgotten;
    }

    @Override
    public String toString() {
        return "job " + id + " " + state + " " + waitsFor + " restarts=" + restarts + " ends=" + ends + " features="
                + features + " nodes=" + requirements.minNodes() + " admin=" + admin;
    }
}
