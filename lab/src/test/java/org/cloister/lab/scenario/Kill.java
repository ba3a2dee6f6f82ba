package org.cloister.lab.scenario;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.cloister.host.vm.VmOwner;
import org.cloister.lab.project.ProjectStage;

/**
 * A kill -9 while a job is in a phase, as {@code jobs/phase.sh} has them.
 *
 * @param requeue whether the job may run again
 */
record Kill(Victim victim, String phase, boolean requeue) {
    /** What of a job dies. */
    enum Victim {
        /** By scancel. */
        JOB,
        /** QEMU, of the worker. */
        WORKER,
        WORKER_AGENT,
        /** Of all hosts, and they are started again. */
        HOST_AGENTS
    }

    private static final String RUNNING = "running";
    private static final String TEARDOWN = "teardown";

    private static final List<String> PHASES =
            List.of("queue", "boot", "evidence", "keys", "tunnel", "registration", "start", RUNNING, TEARDOWN);

    /** In the queue there is no worker yet. */
    private static List<Kill> all() {
        List<Kill> all = new ArrayList<>();
        for (Victim victim : Victim.values()) {
            for (String phase : PHASES) {
                if (victim == Victim.JOB || victim == Victim.HOST_AGENTS || !phase.equals("queue")) {
                    all.add(new Kill(victim, phase, true));
                }
            }
            if (victim != Victim.JOB) {
                all.add(new Kill(victim, RUNNING, false));
            }
        }
        return all;
    }

    /** One of two, or with {@code cloister.sweep.all} each there is. */
    static List<Kill> draw() {
        boolean whole = Boolean.getBoolean("cloister.sweep.all");
        List<Kill> all = whole
                ? all()
                : new ArrayList<>(List.of(
                        new Kill(Victim.WORKER_AGENT, RUNNING, false), new Kill(Victim.HOST_AGENTS, "boot", true)));
        Collections.shuffle(all, new Random(Seed.of("kill")));
        return whole ? all : all.subList(0, 1);
    }

    /** Whether its job goes on until it is told. */
    boolean goesOn() {
        return isRunning() || (victim == Victim.JOB && !isEnding());
    }

    private boolean isRunning() {
        return phase.equals(RUNNING);
    }

    /** Whether its job was over, and the worker may be gone already. */
    boolean isEnding() {
        return phase.equals(TEARDOWN);
    }

    /** @param ticket of the job */
    void strike(ProjectStage project, String job, String ticket) throws IOException {
        if (victim == Victim.JOB) {
            project.member.said("scancel " + job);
            return;
        }
        if (victim == Victim.HOST_AGENTS) {
            project.site().hosts().killAll();
            return;
        }
        if (!isEnding()) {
            project.site().hosts().awaitRunning(ticket);
        }
        for (VmOwner vm : project.vms()) {
            if (vm.ticket().equals(ticket) && victim == Victim.WORKER) {
                project.kill(vm.name().domain());
            } else if (vm.ticket().equals(ticket)) {
                project.killAgent(vm);
            }
        }
    }

    /** How its record in accounting begins: no agent of a host takes anything with it, and all else is done again, if it may. */
    String end() {
        if (victim == Victim.JOB && !isEnding()) {
            return "CANCELLED";
        }
        return isRunning() && !requeue && victim != Victim.HOST_AGENTS ? "NODE_FAIL|" : "COMPLETED|0:0";
    }
}
