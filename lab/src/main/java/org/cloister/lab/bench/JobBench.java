package org.cloister.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.cloister.lab.Lab;
import org.cloister.lab.LabAccelerator;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.twin.BareTwin;
import org.cloister.lab.twin.JobTimes;
import org.cloister.lab.twin.ProjectVmJob;

/**
 * Measures a job of one node, from sbatch to the first line of its script, and from its last line until nothing is left
 * of it: a member's job in a project of ours, and one that gets its VM from a script. Both projects' controllers run
 * all the time.
 */
final class JobBench implements Benches.Bench {
    private static final LabName NAME = new LabName("bench-job");

    private final List<JobTimes> ours = new ArrayList<>();
    private final List<JobTimes> peers = new ArrayList<>();

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Lab.remove(home, NAME);
        ProgressLog steps = new ProgressLog(System.err);
        Path folder = Files.createTempDirectory("cloister-job");
        Lab lab = Lab.up(home, NAME, steps);
        String accelerator = LabAccelerator.of(home.folder(NAME)) == LabAccelerator.KVM ? "kvm" : "tcg,tb-size=256";
        try (ProjectVmJob our =
                        steps.step("a project of ours at work", () -> ProjectVmJob.at(lab, folder.resolve("ours")));
                BareTwin twin = steps.step(
                        "the bare twin at work",
                        () -> BareTwin.on(lab, home.image("lab").toRealPath(), accelerator))) {
            for (int i = 0; i < repetitions; i++) {
                ProjectVmJob.Result result = steps.step("a job of ours", our::run);
                ours.add(result.times());
                ProjectVmJob.Shape shape = result.shape();
                peers.add(steps.step("a job of the twin's", () -> twin.run(shape.cpus(), shape.memoryMib())));
            }
        } finally {
            Lab.remove(home, NAME);
            LabHome.delete(folder);
        }
        report(figures);
    }

    private void report(BenchFigures figures) {
        figures.times("submit_to_start", of(ours, JobBench::start), of(peers, JobBench::start));
        figures.times("submit_to_start_whole", of(ours, JobTimes::submitToStart), of(peers, JobTimes::submitToStart));
        figures.times("submit_to_start_share", of(ours, JobTimes::startShare), of(peers, JobTimes::startShare));
        figures.times("end_to_free", of(ours, JobBench::endTime), of(peers, JobBench::endTime));
        figures.times("end_to_free_whole", of(ours, JobTimes::endToFree), of(peers, JobTimes::endToFree));
        figures.times("end_to_gone", of(ours, JobTimes::endToGone), of(peers, JobTimes::endToGone));
        figures.times("end_to_free_share", of(ours, JobTimes::endShare), of(peers, JobTimes::endShare));
        for (String phase : phases(ours)) {
            figures.alone("phase_" + phase, of(ours, times -> times.phases().getOrDefault(phase, 0.0)), "s");
        }
        for (String phase : phases(peers)) {
            figures.peerAlone("twin_" + phase, of(peers, times -> times.phases().getOrDefault(phase, 0.0)), "s");
        }
    }

    private static double start(JobTimes times) {
        return times.submitToStart() - times.startShare();
    }

    private static double endTime(JobTimes times) {
        return times.endToFree() - times.endShare();
    }

    private static List<String> phases(List<JobTimes> jobs) {
        return jobs.stream()
                .flatMap(job -> job.phases().keySet().stream())
                .distinct()
                .toList();
    }

    private static double[] of(List<JobTimes> jobs, ToDoubleFunction<JobTimes> part) {
        return jobs.stream().mapToDouble(part).toArray();
    }
}
