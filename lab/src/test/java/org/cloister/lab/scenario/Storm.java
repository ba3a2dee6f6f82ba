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
import org.cloister.lab.local.Cluster;
import org.cloister.lab.local.ControllerProcess;

/** {@code kill -9} of slurmctld, slurmdbd and agent-vm at drawn moments, each started again after a drawn pause. */
final class Storm {
    /**
     * slurmctld writes down what it hears at most every 6 s: what it answered in its last 6 seconds is forgotten when it is killed,
     * on a plain cluster, too.
     */
    private static final long FORGETS_MS = 7_000;

    private static final int MAX_CALM_MS = 6_000;
    private static final int MAX_AWAY_MS = 2_000;

    private final Cluster local;
    private final ControllerProcess agent;
    private final Random random;
    private final List<Long> slurmctldKills = Collections.synchronizedList(new ArrayList<>());
    private final Map<Target, Integer> kills = new EnumMap<>(Target.class);

    /** Who is killed, and of 20 kills how many are. */
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

    Storm(Cluster local, ControllerProcess agent, Random random) {
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
            slurmctldKills.add(System.currentTimeMillis());
            local.killController();
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
        return slurmctldKills.stream().anyMatch(kill -> kill >= ms);
    }

    /** Whether slurmctld may have forgotten what it heard then. */
    boolean mayHaveForgotten(long heardMs) {
        return mayHaveForgotten(new Span(heardMs, heardMs));
    }

    /** The same of what it heard at some moment between two. */
    boolean mayHaveForgotten(Span heard) {
        return slurmctldKills.stream().anyMatch(kill -> kill >= heard.fromMs && kill - heard.toMs < FORGETS_MS);
    }

    /** In milliseconds since the epoch. */
    record Span(long fromMs, long toMs) {
        static final Span NEVER = new Span(Long.MAX_VALUE, Long.MAX_VALUE);
    }

    @Override
    public String toString() {
        return "kills=" + kills;
    }
}
