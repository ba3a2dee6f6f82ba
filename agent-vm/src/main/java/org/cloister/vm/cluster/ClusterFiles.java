package org.cloister.vm.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.cloister.vm.machine.DaemonAccount;
import org.cloister.vm.slurm.LocalConfiguration;

/**
 * The daemons' configuration. No password is in any of it: slurmdbd has an account that MariaDB knows by its socket, and munge's
 * key is a file of its own.
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

    /**
     * Replaces whatever the image has in their places.
     *
     * @param daemons the account of slurmctld and slurmdbd
     */
    public void write(DaemonAccount daemons) throws IOException {
        Files.createDirectories(slurm());
        replace(slurm().resolve("slurm.conf"), plan.slurm().text(), "rw-r--r--");
        replace(slurm().resolve("cgroup.conf"), cgroups(), "rw-r--r--");
        Path accounting = slurm().resolve("slurmdbd.conf");
        replace(accounting, accounting(), "rw-------");
        own(accounting, daemons);
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
                SlurmUser=%1$s
                StorageType=accounting_storage/mysql
                # Not 127.0.0.1: by this name the client takes the socket, where MariaDB knows the account without a password.
                StorageHost=localhost
                StorageUser=%1$s
                StorageLoc=%2$s
                # No LogFile: the journal has what it says, and has a bound.
                PidFile=/run/slurmdbd/slurmdbd.pid
                """.formatted(LocalConfiguration.ACCOUNT, DATABASE);
    }

    /**
     * Makes the bell, which slurmctld and its plugins alone write to: a line of it names a job and its user.
     *
     * @param file as slurm.conf names it; its folder is there
     */
    public void hangBell(Path file, DaemonAccount daemons) throws IOException {
        replace(file, "", "rw-------");
        own(file, daemons);
    }

    /** What slurmdbd may do in MariaDB; to be run at each start, by root, and without effect where it holds already. */
    static List<String> grants() {
        return List.of(
                "create database if not exists " + DATABASE,
                "create user if not exists '%s'@'localhost' identified via unix_socket"
                        .formatted(LocalConfiguration.ACCOUNT),
                "grant all privileges on %s.* to '%s'@'localhost'".formatted(DATABASE, LocalConfiguration.ACCOUNT));
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

    private static void own(Path file, DaemonAccount account) throws IOException {
        Files.setAttribute(file, "unix:gid", account.gid(), LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(file, "unix:uid", account.uid(), LinkOption.NOFOLLOW_LINKS);
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
