package org.cloister.host.slurmstep;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Moves a process into a step's cgroups. The caller checks afterwards whether all of its threads are there. */
@FunctionalInterface
public interface CgroupAttacher {
    /**
     * Writes to the kernel directly, which permits it to root, and to a user for the user's own processes in folders
     * that the user owns.
     */
    CgroupAttacher DIRECT = (domain, pid, caller, folders) -> {
        for (Path folder : folders) {
            Files.writeString(
                    folder.resolve("cgroup.procs"),
                    Long.toString(pid),
                    StandardCharsets.US_ASCII,
                    StandardOpenOption.WRITE);
        }
    };

    /**
     * Moves a process.
     *
     * @param domain name of the VM in libvirt
     * @param pid its process
     * @param caller a process of the step
     * @param folders cgroups of the caller, one in each hierarchy
     * @throws JobStepEnded if the caller has ended; the process may then be in some of the folders
     */
    void attach(String domain, long pid, long caller, List<Path> folders) throws IOException;
}
