package org.cloister.lab.scenario;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.cloister.host.daemon.AgentHostRootClient;
import org.cloister.host.slurmstep.CgroupAttacher;
import org.cloister.host.slurmstep.StepCgroup;

/** The part of a host's agent that moves a VM into its step, as a process of a user without rights. */
final class StepProgram {
    private StepProgram() {}

    /** Arguments: the root part's socket, the caller's process, the domain, its process. Says what came of each way. */
    public static void main(String[] args) throws IOException {
        StepCgroup step = StepCgroup.of(Long.parseLong(args[1]), sluid -> {
            throw new IllegalStateException("job " + sluid + ": want cgroups that are named by the number");
        });
        long pid = Long.parseLong(args[3]);
        print("itself", step, CgroupAttacher.DIRECT, args[2], pid);
        print("root part", step, new AgentHostRootClient(Path.of(args[0]), Duration.ofSeconds(20)), args[2], pid);
    }

    private static void print(String how, StepCgroup step, CgroupAttacher attacher, String domain, long pid) {
        long before = System.nanoTime();
        try {
            step.attach(attacher, domain, pid);
            System.out.println(how + ": taken after " + (System.nanoTime() - before) / 1_000_000 + " ms");
        } catch (IOException e) {
            System.out.println(how + ": " + e.getMessage());
        }
    }
}
