package org.cloister.lab.scenario;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.project.ProjectFixture;

/**
 * A kill -9 while a job is in a phase, as {@code jobs/phase.sh} has them.
 *
 * @param phases one, or some that follow each other if a job can have it more than once
 * @param requeue whether the job may run again
 */
record JobPhaseKill(Victim victim, List<String> phases, boolean requeue) {
    /** Part of a job that is killed. */
    enum Victim {
        /** By scancel. */
        JOB,
        /** QEMU, of the worker. */
        WORKER,
        WORKER_AGENT,
        /** Of all hosts, and they are started again. */
        HOST_AGENTS,
        /** And started again. */
        RELAY,
        /** The controlling VM's cable, for a time. */
        NETWORK;

        /** Nothing of a job is lost with it. */
        private boolean comesBack() {
            return this == HOST_AGENTS || this == RELAY || this == NETWORK;
        }
    }

    static final String TEARDOWN = "teardown";

    private static final Duration CUT = Duration.ofSeconds(20);
    /** There is no worker yet. */
    private static final String QUEUE = "queue";

    static final String RUNNING = "running";

    private static final List<String> PHASES =
            List.of(QUEUE, "boot", "evidence", "keys", "tunnel", "registration", "start", RUNNING, TEARDOWN);

    /** Of every so many phases the ones between have the time that it takes to come back. */
    private static final int STRIDE = 3;

    private static List<JobPhaseKill> all() {
        List<JobPhaseKill> all = new ArrayList<>();
        for (Victim victim : Victim.values()) {
            if (victim.comesBack()) {
                for (int first = 0; first < STRIDE; first++) {
                    all.add(new JobPhaseKill(victim, from(first), false));
                }
            } else {
                PHASES.stream()
                        .filter(phase -> victim == Victim.JOB || !phase.equals(QUEUE))
                        .forEach(phase -> all.add(new JobPhaseKill(victim, List.of(phase), true)));
            }
        }
        all.add(new JobPhaseKill(Victim.WORKER, List.of(RUNNING), false));
        all.add(new JobPhaseKill(Victim.WORKER_AGENT, List.of(RUNNING), false));
        return all;
    }

    private static List<String> from(int first) {
        return IntStream.range(0, PHASES.size())
                .filter(phase -> phase % STRIDE == first)
                .mapToObj(PHASES::get)
                .toList();
    }

    /** One, or with {@code cloister.sweep.all} each there is. */
    static List<JobPhaseKill> draw() {
        List<JobPhaseKill> all = all();
        Collections.shuffle(all, new Random(ScenarioSeed.of("kill")));
        return Boolean.getBoolean("cloister.sweep.all") ? all : all.subList(0, 1);
    }

    /** @param ticket of the job */
    void strike(ProjectFixture project, ProjectFixture.OpenedVm opened, String job, String ticket) throws IOException {
        switch (victim) {
            case JOB -> project.member.runSsh("scancel " + job);
            case HOST_AGENTS -> project.site().hosts().killAll();
            case RELAY -> project.site().killRelay();
            case NETWORK -> project.site().guests().unplug(opened.owner(), CUT);
            case WORKER, WORKER_AGENT -> strikeWorker(project, ticket);
        }
    }

    /** After a job's end it may be gone already. */
    private void strikeWorker(ProjectFixture project, String ticket) throws IOException {
        if (!phases.contains(TEARDOWN)) {
            project.site().hosts().awaitRunning(ticket);
        }
        for (ResourceOwner vm : project.vms(ticket)) {
            if (victim == Victim.WORKER) {
                project.site().guests().kill(vm);
            } else {
                project.site().guests().killAgent(vm);
            }
        }
    }

    /** How its record in accounting begins: what comes back takes nothing with it, and all else is done again, if it may. */
    String expectedEnd() {
        if (victim == Victim.JOB && !phases.contains(TEARDOWN)) {
            return "CANCELLED";
        }
        boolean lost = phases.contains(RUNNING) && !victim.comesBack();
        return lost && !requeue ? "NODE_FAIL|" : "COMPLETED|0:0";
    }
}
