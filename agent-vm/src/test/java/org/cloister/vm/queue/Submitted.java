package org.cloister.vm.queue;

import java.util.ArrayList;
import java.util.List;
import org.cloister.vm.slurm.Demand;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;

/** A job as {@link FakeSlurm} has it. */
final class Submitted {
    final JobId id;
    long array;
    int throttle;
    long set;
    int restarts;
    JobState state = JobState.PENDING;
    String waitsFor = "";
    boolean badConstraints;
    String features = LocalSlurm.UNPLACED;
    String admin = FakeSlurm.ADMIN;
    /** What accounting has of it, since its end. */
    String accounted = "";

    Demand demand;
    int placed;
    List<String> nodes = new ArrayList<>();
    long runsMs = 2_000;
    long untilMs;
    long beginMs;
    int ends;
    boolean ran;
    boolean forgotten;

    Submitted(JobId id, Demand demand) {
        this.id = id;
        this.demand = demand;
    }

    void end(long nowMs) {
        state = JobState.ENDED;
        untilMs = nowMs;
        accounted = admin;
        ends++;
    }

    void say(String text) {
        if (state == JobState.ENDED) {
            accounted = text;
        } else {
            admin = text;
        }
    }

    Submitted copy() {
        Submitted copy = new Submitted(id, demand);
        copy.become(this);
        return copy;
    }

    void become(Submitted was) {
        restarts = was.restarts;
        state = was.state;
        waitsFor = was.waitsFor;
        badConstraints = was.badConstraints;
        features = was.features;
        demand = was.demand;
        placed = was.placed;
        nodes = new ArrayList<>(was.nodes);
        untilMs = was.untilMs;
        beginMs = was.beginMs;
        ends = was.ends;
        ran = was.ran;
        forgotten = was.forgotten;
    }

    @Override
    public String toString() {
        return "job " + id + " " + state + " " + waitsFor + " restarts=" + restarts + " ends=" + ends + " features="
                + features + " nodes=" + demand.leastNodes() + " admin=" + admin;
    }
}
