package org.cloister.vm.controller.daemons;

import java.nio.file.Path;
import org.cloister.vm.controller.slurm.LocalSlurmConf;

/**
 * Settings of the Local Slurm's units, beyond those of their packages. Root in a worker VM can forge a credential for
 * slurmctld's own account and make slurmctld start a program ({@code strigger}); so no program can be started in its
 * unit, and the unit sees only those parts of the machine that the daemon needs.
 */
final class LocalSlurmUnits {
    /**
     * A limit of the start for storage that others use as well, and a score that makes the kernel kill the
     * processes of people who work in this VM first when memory is short.
     */
    private static final String COMMON = """
            [Unit]
            StartLimitIntervalSec=0
            [Service]
            TimeoutStartSec=600
            OOMScoreAdjust=-800
            """;

    private LocalSlurmUnits() {}

    /**
     * Returns MariaDB's settings. Its temporary files are limited, and members who work in this VM cannot reach its
     * socket.
     */
    static String database() {
        return COMMON + """
                TemporaryFileSystem=/tmp:mode=1777,size=10%,nr_inodes=1024 /var/tmp:mode=1777,size=1%,nr_inodes=1024
                RuntimeDirectory=mysqld
                RuntimeDirectoryMode=0710
                LimitCORE=0
                """;
    }

    /**
     * Returns slurmdbd's settings. It has no option for its listen address, and only slurmctld may connect, from this
     * VM.
     */
    static String accounting() {
        return COMMON + fenced("slurmdbd", "") + """
                IPAddressAllow=localhost
                IPAddressDeny=any
                # For MariaDB's socket.
                SupplementaryGroups=mysql
                MemoryMax=15%
                """;
    }

    /**
     * Returns slurmctld's settings.
     *
     * @param state folder on the project's drive, which is mounted before
     * @param notifyFile file that slurmctld writes to
     */
    static String controller(Path state, Path notifyFile) {
        return COMMON + fenced("slurmctld", " " + state + " " + notifyFile) + """
                BindPaths=%s %s
                InaccessiblePaths=-/run/mysqld
                MemoryMax=25%%
                """.formatted(state, notifyFile);
    }

    /** @param more further paths that the daemon writes to */
    private static String fenced(String daemon, String more) {
        return """
                User=%1$s
                Group=%1$s
                PIDFile=
                RuntimeDirectory=%2$s
                # The queue continues whatever stops the daemon, such as a forged request to shut down.
                Restart=always
                RestartSec=2
                UMask=0077
                CapabilityBoundingSet=
                AmbientCapabilities=
                NoNewPrivileges=yes
                # The daemon can execute itself and its libraries, neither a shell nor any other program. A mount below
                # another one is listed itself, or stays executable; so is each folder that the daemon writes to.
                # TemporaryFileSystem has an option of its own for that: NoExecPaths of the same path would replace it,
                # and what it covers would be visible.
                NoExecPaths=/ /dev /run /run/%2$s%3$s
                NoExecPaths=-/usr/lib/x86_64-linux-gnu/awk -/usr/lib/x86_64-linux-gnu/e2fsprogs
                NoExecPaths=-/usr/lib/x86_64-linux-gnu/glib-2.0
                ExecPaths=/usr/sbin/%2$s /usr/lib/x86_64-linux-gnu /usr/lib64
                ProtectSystem=strict
                ProtectHome=yes
                # Not PrivateTmp: that is in the /tmp that all users can fill.
                TemporaryFileSystem=/tmp:mode=1777,size=16M,nr_inodes=256,noexec
                TemporaryFileSystem=/var/tmp:mode=1777,size=1M,nr_inodes=256,noexec
                TemporaryFileSystem=/project:ro,noexec /run/cloister:ro,noexec
                InaccessiblePaths=-/dev/shm -/dev/mqueue -/run/lock
                InaccessiblePaths=-/etc/ssh -/etc/munge -/run/cloister-sessions -/run/sshd -/run/systemd/system
                InaccessiblePaths=-/var/lib/cloister -/var/lib/mysql -/var/lib/nfs -/var/log -/var/spool
                InaccessiblePaths=-/boot -/srv -/media -/mnt -/opt
                PrivateDevices=yes
                ProtectProc=invisible
                ProtectClock=yes
                ProtectControlGroups=yes
                ProtectHostname=yes
                ProtectKernelLogs=yes
                ProtectKernelModules=yes
                ProtectKernelTunables=yes
                KeyringMode=private
                LockPersonality=yes
                MemoryDenyWriteExecute=yes
                RemoveIPC=yes
                RestrictAddressFamilies=AF_UNIX AF_INET
                RestrictNamespaces=yes
                RestrictRealtime=yes
                RestrictSUIDSGID=yes
                SystemCallArchitectures=native
                SystemCallFilter=@system-service
                SystemCallFilter=~@privileged @keyring
                SystemCallErrorNumber=EPERM
                TasksMax=1024
                LimitCORE=0
                MemorySwapMax=0
                """.formatted(LocalSlurmConf.ACCOUNT, daemon, more);
    }
}
