package org.cloister.vm.system.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.base.process.ProcessRunner;

/** Mounts ext4 file systems that hold files only. */
public final class Ext4Mount {
    private Ext4Mount() {}

    /**
     * Mounts the file system: device nodes and set-user-ID bits on it have no effect, and after an error it becomes
     * read-only, whatever its superblock says. Creates the folder if it does not exist.
     */
    public static void mount(ProcessRunner programs, Path device, Path at) throws IOException {
        Files.createDirectories(at);
        programs.runChecked(
                "mount",
                "-t",
                "ext4",
                "-o",
                "nosuid,nodev,noatime,errors=remount-ro",
                device.toString(),
                at.toString());
    }
}
