package org.cloister.vm.controller.daemons;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.vm.controller.slurm.LocalSlurmConf;
import org.cloister.vm.system.daemon.DaemonAccount;

/**
 * Configuration files of the Local Slurm's daemons. They contain no password: MariaDB authenticates slurmdbd's account
 * by its socket, and munge's key has a file of its own.
 */
public final class LocalSlurmConfigFiles {
    static final String DATABASE = "slurm_acct_db";

    private final LocalSlurmPlan plan;
    private final Path etc;

    /** @param etc {@code /etc}, which is in memory */
    public LocalSlurmConfigFiles(LocalSlurmPlan plan, Path etc) {
        this.plan = plan;
        this.etc = etc;
    }

    /** Returns the folder in which Slurm looks for its configuration. */
    public Path slurmFolder() {
        return etc.resolve("slurm");
    }

    /** Returns the path at which slurmctld looks for the submit plugin. */
    public Path submitPlugin() {
        return slurmFolder().resolve("job_submit.lua");
    }

    /** Returns MariaDB's configuration file, which it is started with. */
    public Path databaseConfigFile() {
        return etc.resolve("mysql/mariadb.conf.d/99-cloister.cnf");
    }

    /**
     * Writes the files in place of those of the image.
     *
     * @param daemons account of slurmctld and slurmdbd
     */
    public void write(DaemonAccount daemons) throws IOException {
        Files.createDirectories(slurmFolder());
        replace(slurmFolder().resolve("slurm.conf"), plan.slurmConf().text());
        replace(slurmFolder().resolve("cgroup.conf"), cgroups());
        Path accounting = slurmFolder().resolve("slurmdbd.conf");
        AtomicFile.replace(accounting, accounting().getBytes(StandardCharsets.US_ASCII));
        own(accounting, daemons);
        Files.createDirectories(databaseConfigFile().getParent());
        replace(databaseConfigFile(), databaseText());
    }

    /**
     * Returns cgroup.conf. There is no D-Bus in a VM, and slurmd would wait for it for a minute; workers get this file
     * with slurm.conf.
     */
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
                # Not 127.0.0.1: for this name the client uses the socket, where MariaDB needs no password.
                StorageHost=localhost
                StorageUser=%1$s
                StorageLoc=%2$s
                # No LogFile: the journal has what it says, and has a bound.
                PidFile=/run/slurmdbd/slurmdbd.pid
                """.formatted(LocalSlurmConf.ACCOUNT, DATABASE);
    }

    /**
     * Creates the notify file, which only slurmctld and its plugins write to: a line of it names a job and its user.
     *
     * @param file as slurm.conf names it; its folder exists
     */
    public void createNotifyFile(Path file, DaemonAccount daemons) throws IOException {
        AtomicFile.replace(file, new byte[0]);
        own(file, daemons);
    }

    /**
     * Returns the statements that grant slurmdbd its rights in MariaDB. Root runs them at each start; they are
     * idempotent.
     */
    static List<String> grants() {
        return List.of(
                "create database if not exists " + DATABASE,
                "create user if not exists '%s'@'localhost' identified via unix_socket"
                        .formatted(LocalSlurmConf.ACCOUNT),
                "grant all privileges on %s.* to '%s'@'localhost'".formatted(DATABASE, LocalSlurmConf.ACCOUNT));
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
                """.formatted(plan.driveLayout().databaseFolder(), plan.databaseSocket());
    }

    private static void own(Path file, DaemonAccount account) throws IOException {
        Files.setAttribute(file, "unix:gid", account.gid(), LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(file, "unix:uid", account.uid(), LinkOption.NOFOLLOW_LINKS);
    }

    private static void replace(Path file, String text) throws IOException {
        WorldReadableFile.replace(file, text.getBytes(StandardCharsets.US_ASCII));
    }
}
