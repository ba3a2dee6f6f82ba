package org.cloister.vm.worker.storage;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;

/**
 * A folder of the project's storage in a worker.
 *
 * @param export name of the folder in the controlling VM's export, {@code /} for all of it
 * @param mountPoint where it is mounted, below no mount that comes later in the plan
 */
public record StorageMount(String export, Path mountPoint, boolean readOnly) {
    private static final Pattern PATH = Pattern.compile("/|(/[A-Za-z0-9_.-]{1,200}){1,20}");

    /**
     * Checks both paths.
     *
     * @throws IllegalArgumentException for a path with anything but plain names
     */
    public StorageMount {
        requirePlain("export", export);
        requirePlain("mount point", mountPoint.toString());
        if (mountPoint.getNameCount() == 0) {
            throw new IllegalArgumentException("mount point: want a folder below /, have /");
        }
    }

    /**
     * Returns the mount command. The mount waits for its server without limit, so that a controlling VM may be reopened
     * under running jobs.
     */
    public List<String> command(Ipv4Address server) {
        List<String> command = new ArrayList<>(List.of("mount", "-t", "nfs4", "-o"));
        command.add("vers=4.2,hard,sec=sys,proto=tcp,nosuid,nodev,retry=0," + (readOnly ? "ro" : "rw"));
        command.add(source(server));
        command.add(mountPoint.toString());
        return command;
    }

    /** Returns the source as {@code /proc/self/mountinfo} reports it. */
    String source(Ipv4Address server) {
        return server + ":" + export;
    }

    private static void requirePlain(String what, String path) {
        if (!PATH.matcher(path).matches()
                || List.of(path.split("/", -1)).contains("..")
                || List.of(path.split("/", -1)).contains(".")) {
            throw new IllegalArgumentException(what + ": want an absolute path of plain names, have " + path);
        }
    }
}
