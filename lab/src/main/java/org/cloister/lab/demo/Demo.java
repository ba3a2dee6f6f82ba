package org.cloister.lab.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.cloister.lab.Lab;
import org.cloister.lab.LabAccelerator;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabReleases;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.site.WorkingSite;
import org.cloister.protocol.image.ImageManifest;

/**
 * Shows a site, two projects and a job from sbatch to its receipt, in its own lab; ends with a page of the
 * observations.
 */
public final class Demo {
    private static final LabName NAME = new LabName("demo");

    private final LabHome home;
    private final LabReleases releases;
    private final PrintStream out;

    /** @param releases of the lab's machines */
    public Demo(LabHome home, LabReleases releases, PrintStream out) {
        this.home = home;
        this.releases = releases;
        this.out = out;
    }

    public void run() throws IOException {
        ProgressLog steps = new ProgressLog(out);
        Lab.remove(home, NAME);
        Path image = home.image("lab");
        ImageManifest manifest = ImageManifest.load(image);
        steps.runStep("image: every file as its manifest says", () -> requireIntact(image, manifest));
        Lab lab = Lab.up(home, NAME, releases, steps);
        Path folder = Files.createTempDirectory("cloister-demo");
        DemoPage page;
        try (MarkerSearches searches = new MarkerSearches(lab);
                ProjectFixture project = steps.step(
                        "site: relay, two hosts; a project with two owners",
                        () -> ProjectFixture.first(
                                WorkingSite.start(lab, folder.resolve("site")), folder.resolve("people")))) {
            DemoSequence sequence = new DemoSequence(project, searches, folder, steps, out);
            sequence.run();
            page = new DemoPage(sequence.job(), sequence.timeline(), sequence.claims(), facts(manifest, lab, steps));
        } finally {
            steps.runStep("lab: down", () -> Lab.remove(home, NAME));
            LabHome.delete(folder);
        }
        page.print(out);
        Path file = home.root().resolve("demo").resolve("index.html");
        page.write(file);
        out.println("\nthe same as a page: " + file);
        out.println("demo: passed in " + ProgressLog.seconds(steps.total()));
    }

    private List<DemoPage.Fact> facts(ImageManifest manifest, Lab lab, ProgressLog steps) throws IOException {
        return List.of(
                new DemoPage.Fact(
                        "when", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString()),
                new DemoPage.Fact(
                        "guests ran on",
                        LabAccelerator.of(home.folder(lab.name())).toString()),
                new DemoPage.Fact("guest image", manifest.identity().toString()),
                new DemoPage.Fact(
                        "not shown",
                        "what root of a host that the policy names reads in its guests' memory, for that is all of it"
                                + " (level 0, docs/threat-model.md); packages and enrolment: the daemons ran from this"
                                + " checkout"),
                new DemoPage.Fact("time of the demo", ProgressLog.seconds(steps.total())));
    }

    private static void requireIntact(Path image, ImageManifest manifest) throws IOException {
        List<String> differences = manifest.differences(image);
        if (!differences.isEmpty()) {
            throw new LabException(
                    "guest image: " + String.join("; ", differences), "remove " + image + ", run lab/setup");
        }
    }
}
