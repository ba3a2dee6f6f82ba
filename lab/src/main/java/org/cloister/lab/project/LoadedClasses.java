package org.cloister.lab.project;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.site.WorkingSite;

/**
 * Collects the classes that agent-vm loads in a project's VMs, where the guest's Java logs them:
 * {@code lab/guest-classes}. Classes loaded after a job's end are not included.
 */
public final class LoadedClasses {
    private static final LabName NAME = new LabName("classes");
    private static final String LIST = "/run/loaded-so-far";
    /** Excludes classes that Java generates in each process, and comments. */
    private static final Pattern MADE = Pattern.compile(
            "#.*|[^@].*(\\$Proxy|Generated(Constructor|Method)Accessor|\\$\\$Lambda|\\$jnr\\$ffi\\$|0x).*");

    private static final String OWN = "org/cloister/";

    private LoadedClasses() {}

    /**
     * Adds them to the list. Entries of Java and of libraries stay; our own classes are in the packages' lists by their
     * jars, and our own lambdas are those of this run.
     *
     * @param list one class or lambda a line, sorted
     */
    public static void addTo(Path list, LabHome home, ProgressLog steps) throws IOException {
        Path folder = Files.createTempDirectory("cloister-classes");
        Lab.remove(home, NAME);
        try {
            Lab lab = Lab.up(home, NAME, steps);
            try (ProjectFixture project =
                    ProjectFixture.first(WorkingSite.start(lab, folder.resolve("site")), folder.resolve("people"))) {
                Set<String> all = new TreeSet<>(Files.readAllLines(list));
                all.removeIf(line -> line.contains(OWN));
                steps.runStep("a controlling VM, and a worker with a job", () -> collect(project, all));
                all.removeIf(line -> line.startsWith(OWN) || MADE.matcher(line).matches());
                Files.write(list, all);
            }
        } finally {
            Lab.remove(home, NAME);
            LabHome.delete(folder);
        }
    }

    private static void collect(ProjectFixture project, Set<String> all) throws IOException {
        try (ProjectFixture.OpenedVm opened = project.openNewDrive()) {
            project.awaitWork(opened);
            project.member.configure();
            String job = project.member.submit("--output=worker --wrap='cat " + LIST + "'");
            project.member.awaitEnd(job);
            project.awaitNoWorker();
            for (String file : List.of("worker", LIST)) {
                project.member.runSsh("cat " + file).lines().forEach(all::add);
            }
            project.first.close(opened.owner().ticket());
            project.awaitNothing();
        }
    }
}
