package org.cloister.lab.scenario;

import java.io.IOException;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabRelease;
import org.cloister.lab.LabReleases;

/** Names of what scenarios share: each has our process id, so that test runs go side by side. */
final class TestLabs {
    private static final String OLDER = "bookworm";
    private static final String REQUESTED = System.getProperty("cloister.release", "");

    private TestLabs() {}

    /** Ours; what killed runs left of the same kind is removed first. */
    static LabName name(LabHome home, String prefix) throws IOException {
        for (LabName other : home.labs()) {
            if (other.text().matches(prefix + "\\d+") && !isAlive(other.text().substring(prefix.length()))) {
                Lab.remove(home, other);
            }
        }
        return new LabName(prefix + ProcessHandle.current().pid());
    }

    /** Returns the release of a machine beside the labs: the site's of what {@code lab/test} has drawn or was told. */
    static LabRelease release(LabHome home) throws IOException {
        return parse(drawn(), home).of(Lab.MACHINES.get(0));
    }

    /** Returns the release of a Local Slurm: the same, but none older than the guest image's. */
    static LabRelease localSlurmRelease(LabHome home) throws IOException {
        LabRelease release = release(home);
        return release.suite().equals(OLDER) ? LabRelease.of(home, LabRelease.GUEST_SUITE) : release;
    }

    /** Returns the releases of the machines of a test class's lab. */
    static LabReleases releases(LabHome home, Class<?> test) throws IOException {
        return parse(test.isAnnotationPresent(DrawnRelease.class) ? drawn() : REQUESTED, home);
    }

    /** Returns what {@code lab/test --release} says or, without it, the release that {@code lab/test} has drawn. */
    private static String drawn() {
        return REQUESTED.isEmpty() ? System.getProperty("cloister.release.drawn", "") : REQUESTED;
    }

    private static LabReleases parse(String text, LabHome home) throws IOException {
        return LabReleases.parse(text, Lab.MACHINES, home);
    }

    private static boolean isAlive(String pid) {
        return ProcessHandle.of(Long.parseLong(pid)).isPresent();
    }
}
