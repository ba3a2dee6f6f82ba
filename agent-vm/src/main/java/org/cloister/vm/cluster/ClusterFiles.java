package org.cloister.vm.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * The daemons' configuration. No password is in any of it: slurmdbd is root, whom MariaDB knows by its socket, and munge's key
 * is a file of its own.
 */
public final class ClusterFiles {
    static final String DATABASE = "slurm_acct_db";

    private final ClusterPlan plan;
    private final Path etc;

    /** @param etc {@code /etc}, which lies in memory */
    public ClusterFiles(ClusterPlan plan, Path etc) {
        this.plan = plan;
        this.etc = etc;
    }

    /** Where Slurm looks for its own. */
    public Path slurm() {
        return etc.resolve("slurm");
    }

    /** Where slurmctld looks for the submit plugin. */
    public Path submitPlugin() {
        return slurm().resolve("job_submit.lua");
    }

    /** MariaDB's, given to it by name. */
    public Path database() {
        return etc.resolve("mysql/mariadb.conf.d/99-cloister.cnf");
    }

    /** Whatever the image has in their places. */
    public void write() throws IOException {
        Files.createDirectories(slurm());
        replace(slurm().resolve("slurm.conf"), plan.slurm().text(), "rw-r--r--");
        replace(slurm().resolve("cgroup.conf"), cgroups(), "rw-r--r--");
        replace(slurm().resolve("slurmdbd.conf"), accounting(), "rw-------");
        Files.createDirectories(database().getParent());
        replace(database(), databaseText(), "rw-r--r--");
    }

    /** There is no D-Bus in a VM, and slurmd would wait for it for a minute; workers get this file with slurm.conf. */
    static String cgroups() {
        return "IgnoreSystemd=yes\n";
    }

    String accounting() {
        return """
                AuthType=auth/munge
                DbdHost=localhost
                DbdAddr=127.0.0.1
                SlurmUser=root
                StorageType=accounting_storage/mysql
                # Not 127.0.0.1: by this name the client takes the socket, where MariaDB knows root without a password.
                StorageHost=localhost
                StorageUser=root
                StorageLoc=%s
                LogFile=/var/log/slurm/slurmdbd.log
                PidFile=/run/slurmdbd.pid
                """.formatted(DATABASE);
    }

    String databaseText() {
        return """
                [mariadbd]
                datadir=%s
                socket=%s
                skip-networking
                skip-name-resolve
                # One client, with a small database, in a VM that has other things to do.
                innodb-buffer-pool-size=64M
                innodb-log-file-size=16M
                # What slurmdbd's own start demands.
                innodb-lock-wait-timeout=900
                performance-schema=OFF
                local-infile=OFF
                symbolic-links=OFF
                """.formatted(plan.drive().database(), plan.databaseSocket());
    }

    private static void replace(Path file, String text, String mode) throws IOException {
        Path beside = file.resolveSibling("." + file.getFileName() + ".new");
        Files.deleteIfExists(beside);
        Set<StandardOpenOption> fresh = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        var permissions = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        try (var channel = Files.newByteChannel(beside, fresh, permissions)) {
            channel.write(StandardCharsets.US_ASCII.encode(text));
        }
        Files.setPosixFilePermissions(beside, PosixFilePermissions.fromString(mode));
        Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
