package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.vm.controller.members.SlurmAssociations;

/** A cluster's slurmdbd and its MariaDB, on the machine of its slurmctld. */
public final class LabSlurmAccounting {
    /** Lines of slurm.conf. */
    static final String CONFIGURATION = """
            AccountingStorageType=accounting_storage/slurmdbd
            AccountingStorageHost=127.0.0.1
            AccountingStorageEnforce=associations""";

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final String SOCKET = "/run/mariadb.sock";
    private static final String DATABASE = "slurm_acct_db";

    /**
     * Settings without syncing. No data here outlives the machine, and a sync of a busy disk would block slurmctld
     * where it waits for slurmdbd, such as when a node is deleted.
     */
    private static final List<String> UNSYNCED = List.of(
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-doublewrite=0",
            "--innodb-flush-method=nosync",
            "--innodb-log-file-size=8M");

    private final LabMachine site;
    private final String cluster;
    private final String account;

    public LabSlurmAccounting(LabMachine site, String cluster) {
        this(site, cluster, "root");
    }

    /** @param account of slurmdbd and slurmctld */
    public LabSlurmAccounting(LabMachine site, String cluster, String account) {
        this.site = site;
        this.cluster = cluster;
        this.account = account;
    }

    /** @return whether it was not running before */
    public boolean start() throws IOException {
        Path log = site.log("slurmdbd");
        if (Files.exists(log)) {
            return false;
        }
        startDatabase();
        Path file = site.folder("etc/slurm").resolve("slurmdbd.conf");
        Files.writeString(file, """
                AuthType=auth/munge
                DbdHost=localhost
                SlurmUser=%s
                StorageType=accounting_storage/mysql
                StorageHost=127.0.0.1
                StorageUser=slurm
                StoragePass=lab
                StorageLoc=%s
                LogFile=%s
                PidFile=/run/slurmdbd/slurmdbd.pid
                """.formatted(account, DATABASE, log));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        LabCommand.of("chown", account + ":", file.toString()).succeed();
        startDaemon();
        // sacctmgr reads slurm.conf, which names slurmdbd only once slurmdbd answers.
        Path early = site.folder("etc/slurm").resolve("early.conf");
        Files.writeString(
                early,
                "ClusterName=" + cluster + "\nSlurmUser=" + account + "\nSlurmctldHost=" + site.name() + "\n"
                        + CONFIGURATION + "\n");
        site.await(
                "slurmdbd",
                log,
                START_LIMIT,
                () -> site.command(
                                        "env",
                                        "SLURM_CONF=/etc/slurm/early.conf",
                                        "sacctmgr",
                                        "-i",
                                        "add",
                                        "cluster",
                                        cluster)
                                .run()
                                .exit()
                        == 0);
        return true;
    }

    public void startDaemon() throws IOException {
        new LabSlurmDaemon(site, "slurmdbd", account).start(List.of());
    }

    /** Kills slurmdbd with kill -9. */
    public void killDaemon() throws IOException {
        site.signal("slurmdbd", "KILL");
    }

    /** Lets users charge an account; existing entries stay. */
    public void add(String account, List<String> users) throws IOException {
        sacctmgr("add", "account", account, "cluster=" + cluster);
        for (String user : users) {
            sacctmgr("add", "user", user, "account=" + account, "cluster=" + cluster);
        }
    }

    public String dump() throws IOException {
        return site.command("mariadb-dump", "--no-defaults", "--socket=" + SOCKET, "--skip-extended-insert", DATABASE)
                .succeed();
    }

    private void startDatabase() throws IOException {
        Path data = site.folder("mariadb");
        site.command(with(
                        UNSYNCED,
                        "mariadb-install-db",
                        "--no-defaults",
                        "--user=root",
                        "--datadir=" + data,
                        "--auth-root-authentication-method=normal",
                        "--skip-test-db",
                        "--force"))
                .within(START_LIMIT)
                .succeed();
        site.command(with(
                        UNSYNCED,
                        "sh",
                        "-c",
                        "exec \"$@\" >" + site.log("mariadbd") + " 2>&1 &",
                        "sh",
                        "mariadbd",
                        "--no-defaults",
                        "--user=root",
                        "--datadir=" + data,
                        "--socket=" + SOCKET,
                        "--bind-address=127.0.0.1",
                        "--skip-name-resolve",
                        "--pid-file=/run/mariadbd.pid",
                        "--innodb-buffer-pool-size=32M",
                        "--innodb-lock-wait-timeout=900"))
                .succeed();
        site.await(
                "MariaDB",
                site.log("mariadbd"),
                START_LIMIT,
                () -> sql("select 1").run().exit() == 0);
        for (String statement : List.of(
                "create database " + DATABASE,
                "create user 'slurm'@'127.0.0.1' identified by 'lab'",
                "grant all on " + DATABASE + ".* to 'slurm'@'127.0.0.1'")) {
            sql(statement).succeed();
        }
    }

    private static List<String> with(List<String> more, String... argv) {
        List<String> all = new ArrayList<>(List.of(argv));
        all.addAll(more);
        return all;
    }

    private LabCommand sql(String statement) {
        return site.command("mariadb", "--no-defaults", "--socket=" + SOCKET, "-e", statement);
    }

    /** Runs sacctmgr. An existing entry is no error, though sacctmgr exits with 1. */
    private void sacctmgr(String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of("env", "SLURM_CONF=/etc/slurm/early.conf", "sacctmgr", "-i"));
        argv.addAll(List.of(arguments));
        LabCommand.Output output = site.command(argv).run();
        String text = output.out() + output.err();
        if (output.exit() != 0 && !SlurmAssociations.isAlreadyThere(text)) {
            throw new LabException("sacctmgr " + String.join(" ", arguments) + ": " + text.strip(), "run it by hand");
        }
    }
}
