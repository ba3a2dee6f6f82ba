package org.cloister.host.drive;

import java.nio.file.Path;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.Opening;

/** Name of a project's drive, and of its files in the folder of all drives. */
public record DriveName(String project, String name) {
    static final String LEASE = ".lease";
    private static final String LOCK = ".lock";

    /** @throws IllegalArgumentException if a value does not have its form */
    public DriveName {
        if (!ProjectPolicy.PROJECT.matcher(project).matches()) {
            throw new IllegalArgumentException("project: want " + ProjectPolicy.PROJECT + ", have \"" + project + "\"");
        }
        if (!Opening.DRIVE.matcher(name).matches()) {
            throw new IllegalArgumentException("drive: want " + Opening.DRIVE + ", have \"" + name + "\"");
        }
    }

    /** Returns the path of the image that the VM writes to, in the folder of all drives. */
    public Path file() {
        return Path.of(project, name + ".img");
    }

    Path image(Path drives) {
        return drives.resolve(file());
    }

    Path lease(Path drives) {
        return drives.resolve(project).resolve(name + LEASE);
    }

    Path lock(Path drives) {
        return drives.resolve(project).resolve(name + LOCK);
    }

    @Override
    public String toString() {
        return name + " of " + project;
    }
}
