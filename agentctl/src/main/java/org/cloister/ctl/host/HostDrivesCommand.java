package org.cloister.ctl.host;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.concurrent.Callable;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.systemd.ConfiguredMounts;
import org.cloister.ctl.systemd.SystemdUnits;
import org.cloister.ctl.systemd.WritableFolder;
import org.cloister.preflight.DriveStorageCheck;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl host drives}: prepares the storage of drives on this host. */
@Command(
        name = "drives",
        description = "Prepares a folder as the storage of projects' drives, as root: gives it to agent-host, marks it "
                + "as mounted, and lets agent-host's unit write to it. Its file system must be mounted.")
final class HostDrivesCommand implements Callable<Integer> {
    private static final String UNIT = "agent-host.service";

    private final SystemdUnits units;

    @Parameters(
            paramLabel = "DIR",
            description = "The folder; the same path on every host of the partition of controlling VMs.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private Path path;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            defaultValue = "cloister-host",
            description = "agent-host's user and group; default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private String user;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    HostDrivesCommand() {
        this(SystemdUnits.ofMachine());
    }

    HostDrivesCommand(SystemdUnits units) {
        this.units = units;
    }

    @Override
    public Integer call() throws IOException {
        WritableFolder folder = WritableFolder.of(path);
        units.requireVisible(folder, UNIT);
        ConfiguredMounts.trigger(folder.path());
        MountedFileSystem fileSystem =
                new ConfiguredMounts(units, MountedFileSystem.list(ProcessRunner.local())).require(folder.path());
        DriveStorage storage = storage(folder.path());
        storage.prepare();
        boolean fresh = storage.mark();
        KeyValueOutput facts = new KeyValueOutput()
                .with("folder", folder)
                .with("file-system", fileSystem.type() + " at " + fileSystem.place())
                .with("mark", folder.path().resolve(DriveStorageCheck.MARK) + (fresh ? "" : ", which was there"));
        if (units.exists(UNIT)) {
            facts.with("unit", units.allowWrites(UNIT, "drives", folder));
            units.reload();
        }
        output.print(facts.with("setting", "drives = \"" + folder + "\" in [vm] of /etc/cloister/agent-host.toml")
                .with("next", "systemctl restart agent-host, when that is set"));
        return ExitCode.OK.code();
    }

    private DriveStorage storage(Path folder) throws IOException {
        UserPrincipalLookupService accounts = folder.getFileSystem().getUserPrincipalLookupService();
        try {
            return new DriveStorage(
                    folder, accounts.lookupPrincipalByName(user), accounts.lookupPrincipalByGroupName(user));
        } catch (UserPrincipalNotFoundException e) {
            throw new IOException(
                    "user " + user + ": want agent-host's user with a group of the same name, have none; install "
                            + "cloister-agent-host first",
                    e);
        }
    }
}
