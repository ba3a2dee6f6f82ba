package org.cloister.preflight;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks that the storage of drives is mounted, and that locks of one host hold on all others: they alone keep two
 * hosts from running a VM of one drive. The lock is tried on the file that marks the storage as mounted. On NFS the
 * server keeps it, whichever of both kinds a program asks for. Options with which a lock means nothing are a failure:
 * this host starts no VM. A storage that is not there is a warning: jobs run without it, and no drive is opened.
 */
public record DriveStorageCheck() implements PreflightCheck {
    /**
     * File in the folder of all drives that proves the storage is mounted: an unmounted one must not look like one
     * without drives.
     */
    public static final String MARK = "cloister-drives";

    private static final String MOUNTS = "/proc/self/mountinfo";
    /** Options of NFS that keep locks or names on this host, or let a write be lost; nfs(5). */
    private static final List<String> HARMFUL_OF_NFS =
            List.of("soft", "softerr", "nolock", "nocto", "local_lock=all", "local_lock=flock", "local_lock=posix");

    @Override
    public String name() {
        return "drives";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<String> folder = AgentHostSettings.of(machine).value("drives");
        if (folder.isEmpty()) {
            return PreflightFinding.ok(this, "no storage of drives is configured: no controlling VM runs here");
        }
        MountedFileSystem mount = mount(machine, folder.get());
        Optional<String> harmful = harmful(mount);
        if (harmful.isPresent()) {
            return PreflightFinding.failure(
                    this,
                    folder.get() + " is " + mount.type() + " with the option " + harmful.get()
                            + ": locks of drives would not hold between hosts",
                    "mount it " + wanted(mount) + ", and run this again");
        }
        return lock(machine, folder.get(), mount);
    }

    /** A storage that hangs lets the program run into its time limit, and not this process. */
    private PreflightFinding lock(InspectedMachine machine, String folder, MountedFileSystem mount)
            throws UndeterminedException {
        String mark = folder + "/" + MARK;
        ProgramResult found = result(machine, "stat", "-c", "%F", mark);
        if (!found.succeeded()) {
            return PreflightFinding.warning(
                    this,
                    mark + " is missing: the storage of drives is not mounted, or not prepared",
                    "mount " + folder + ", then agentctl host drives " + folder);
        }
        // A shared one: the file is root's, and agent-host, which runs these checks, too, may not write to it.
        ProgramResult tried = result(machine, "flock", "-s", "-w", "3", mark, "true");
        if (!tried.succeeded()) {
            return PreflightFinding.warning(
                    this,
                    mark + " cannot be locked: " + tried.firstErrorLine(),
                    "the storage must keep locks for all hosts: operations.md, The storage");
        }
        return PreflightFinding.ok(this, folder + " is mounted (" + mount.type() + ") and takes locks");
    }

    private static MountedFileSystem mount(InspectedMachine machine, String folder) throws UndeterminedException {
        try {
            List<MountedFileSystem> mounts =
                    MountedFileSystem.parse(machine.read(MOUNTS).orElse(""));
            return MountedFileSystem.containing(mounts, Path.of(folder))
                    .orElseThrow(() -> new UndeterminedException(MOUNTS + " has no mount of " + folder, "mount /proc"));
        } catch (UndeterminedException e) {
            throw e;
        } catch (IOException e) {
            throw new UndeterminedException(MOUNTS + ": " + e.getMessage(), "cat " + MOUNTS, e);
        }
    }

    private static Optional<String> harmful(MountedFileSystem mount) {
        List<String> options = mount.fileSystemOptions();
        return switch (mount.type()) {
            case "nfs", "nfs4" ->
                HARMFUL_OF_NFS.stream().filter(options::contains).findFirst();
            // Without "flock" locks are refused; with "localflock" they are this host's alone. mount.lustre(8).
            case "lustre" ->
                options.contains("flock")
                        ? Optional.empty()
                        : Optional.of(options.contains("localflock") ? "localflock" : "noflock");
            default -> Optional.empty();
        };
    }

    private static String wanted(MountedFileSystem mount) {
        return mount.type().equals("lustre") ? "with flock" : "as NFS 4 with hard, without nolock, local_lock or nocto";
    }

    private static ProgramResult result(InspectedMachine machine, String... command) throws UndeterminedException {
        return machine.run(command)
                .orElseThrow(() -> new UndeterminedException(command[0] + " is missing", "apt-get install util-linux"));
    }
}
