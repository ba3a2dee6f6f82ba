package org.cloister.host.slurmstep;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** The way into a step's cgroups. Whether a process is there with all of its threads is looked at afterwards, by who asked. */
@FunctionalInterface
public interface CgroupAttacher {
    /** Writes to the kernel itself, which grants it to root, and to a user for processes of its own where the folder is its too. */
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
     * @param domain what libvirt calls the VM
     * @param pid its process
     * @param caller a process of the step
     * @param folders where the caller is, one in each hierarchy
     * @throws JobStepEnded if the caller has ended; the process may be in some of the folders then
     */
    void attach(String domain, long pid, long caller, List<Path> folders) throws IOException;
}
