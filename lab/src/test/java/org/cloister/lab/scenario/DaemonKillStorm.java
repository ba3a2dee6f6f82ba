package org.cloister.lab.scenario;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.Poll;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;

/** {@code kill -9} of slurmctld, slurmdbd and agent-vm at drawn moments, each started again after a drawn pause. */
final class DaemonKillStorm {
    /** slurmctld writes down what it knew a moment before. */
    private static final long WRITING_MS = 1_000;

    private static final int MAX_CALM_MS = 6_000;
    private static final int MAX_AWAY_MS = 2_000;

    private final LabCluster local;
    private final ControllerProcess agent;
    private final Random random;
    private final List<Kill> slurmctldKills = Collections.synchronizedList(new ArrayList<>());
    private final Map<Target, Integer> kills = new EnumMap<>(Target.class);

    /** Daemon that is killed, and how many of 20 kills are its. */
    enum Target {
        AGENT_VM(8),
        SLURMDBD(5),
        SLURMCTLD(4),
        ALL(3);

        private final int share;

        Target(int share) {
            this.share = share;
        }

        private static Target draw(Random random) {
            int place = random.nextInt(20);
            int target = 0;
            while (place >= values()[target].share) {
                place -= values()[target++].share;
            }
            return values()[target];
        }

        private boolean is(Target one) {
            return this == one || this == ALL;
        }
    }

    DaemonKillStorm(LabCluster local, ControllerProcess agent, Random random) {
        this.local = local;
        this.agent = agent;
        this.random = random;
    }

    /** At least one kill of all at once, then others; all run again when this returns. */
    void blow(int most, Poll.Question over) throws IOException, InterruptedException {
        for (int kill = 0; kill < most && !over.answer(); kill++) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(MAX_CALM_MS));
            strike(kill == 0 ? Target.ALL : Target.draw(random));
        }
    }

    private void strike(Target target) throws IOException, InterruptedException {
        kills.merge(target, 1, Integer::sum);
        List<Restart> restarts = new ArrayList<>();
        if (target.is(Target.SLURMCTLD)) {
            long from = System.currentTimeMillis();
            slurmctldKills.add(new Kill(from, Math.min(from, local.killController() - WRITING_MS)));
            restarts.add(local::startController);
        }
        if (target.is(Target.SLURMDBD)) {
            local.killAccounting();
            restarts.add(local::startAccounting);
        }
        if (target.is(Target.AGENT_VM)) {
            agent.kill();
            restarts.add(agent::restart);
        }
        Collections.shuffle(restarts, random);
        for (Restart restart : restarts) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(MAX_AWAY_MS));
            restart.act();
        }
    }

    private interface Restart {
        void act() throws IOException;
    }

    /** Whether what slurmctld had yet to tell slurmdbd then may have been lost with it. */
    boolean struckSlurmctldAfter(long ms) {
        return slurmctldKills.stream().anyMatch(kill -> kill.ms >= ms);
    }

    /**
     * Whether slurmctld may have forgotten what it heard at some moment between two: what it answers and has not written down when it
     * is killed is lost, on a plain cluster, too.
     */
    boolean mayHaveForgotten(Span span) {
        return slurmctldKills.stream().anyMatch(kill -> kill.ms >= span.fromMs && kill.writtenMs <= span.toMs);
    }

    /** @param writtenMs of what slurmctld knew until then it had written all down */
    private record Kill(long ms, long writtenMs) {}

    /** Times in milliseconds since the epoch. */
    record Span(long fromMs, long toMs) {}

    @Override
    public String toString() {
        return "kills=" + kills + ", of slurmctld " + slurmctldKills;
    }
}
