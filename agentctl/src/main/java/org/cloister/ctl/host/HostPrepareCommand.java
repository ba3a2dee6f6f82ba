package org.cloister.ctl.host;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.bridge.BridgeOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.systemd.SystemdUnits;
import org.cloister.ovs.BridgeConfig;
import org.cloister.ovs.BridgeDifference;
import org.cloister.ovs.BridgeSetup;
import org.cloister.ovs.io.OvsException;
import org.cloister.preflight.LibvirtUnit;
import org.cloister.preflight.QemuSettings;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl host prepare}: prepares Open vSwitch and libvirt on this host for agent-host. */
@Command(
        name = "prepare",
        description = "Prepares Open vSwitch and libvirt on this host for agent-host, as root: makes the bridge with "
                + "fail mode secure and the port of the VLAN trunk, has libvirt leave QEMU in its job's cgroup, and "
                + "restarts libvirt if it does not know that yet. It may be repeated.")
final class HostPrepareCommand implements Callable<Integer> {
    /** Error of a process's start time, which counts from a boot time in whole seconds. */
    private static final Duration START_ERROR = Duration.ofSeconds(2);

    private final SystemdUnits units;
    private final BridgeApplication bridges;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private BridgeOptions options;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    /** Makes a bridge and its settings, and returns what differed before. */
    @FunctionalInterface
    interface BridgeApplication {
        List<BridgeDifference> apply(BridgeConfig config) throws OvsException;
    }

    HostPrepareCommand() {
        this(SystemdUnits.ofMachine(), BridgeSetup::apply);
    }

    HostPrepareCommand(SystemdUnits units, BridgeApplication bridges) {
        this.units = units;
        this.bridges = bridges;
    }

    @Override
    public Integer call() throws IOException {
        String device = options.uplink();
        requireDevice(device);
        BridgeConfig config = options.config();
        KeyValueOutput done = new KeyValueOutput();
        try {
            prepareBridge(config, done);
            prepareLibvirt(done);
            if (device != null) {
                done.with("setting", "uplink = \"" + device + "\" in [bridge] of /etc/cloister/agent-host.toml");
            }
        } finally {
            // After a failure, too: what was done stays, and a repeat continues behind it.
            output.print(done);
        }
        return ExitCode.OK.code();
    }

    /** A port of a device that does not exist would stay in the database. */
    private void requireDevice(@Nullable String device) throws IOException {
        Path devices = units.root().resolve("sys/class/net");
        if (device != null
                && (device.isEmpty() || device.contains("/") || !AtomicFile.exists(devices.resolve(device)))) {
            throw new IOException(
                    "--uplink " + device + ": this host has no such network device; ip link shows its devices");
        }
    }

    private void prepareBridge(BridgeConfig config, KeyValueOutput done) throws OvsException {
        String device = config.uplink();
        List<BridgeDifference> before = bridges.apply(config);
        String inPlace = config.bridge() + " with fail mode secure" + (device == null ? "" : " and port " + device)
                + ": in place";
        done.with(
                "bridge",
                before.isEmpty()
                        ? inPlace
                        : before.stream()
                                .map(each -> each.subject() + ": is now " + each.should() + ", was " + each.has())
                                .collect(Collectors.joining("; ")));
    }

    private void prepareLibvirt(KeyValueOutput done) throws IOException {
        // Its path is absolute, and is here below the root of the tree.
        QemuSettingsFile settings = new QemuSettingsFile(units.root().resolve(QemuSettings.FILE.substring(1)));
        boolean isNew = settings.removeOwnCgroups();
        done.with("qemu", settings.file() + ": cgroup_controllers = [ ]: " + (isNew ? "added" : "in place"));
        if (!units.running()) {
            done.with("libvirt", "systemd does not run here; restart libvirt by hand if it runs");
            return;
        }
        List<String> states = new ArrayList<>();
        for (String unit : LibvirtUnit.ALL) {
            Optional<Instant> started = units.startTime(unit);
            if (started.isPresent()) {
                boolean isStale = isNew || isUnread(settings.changeTime(), started.get());
                if (isStale) {
                    units.restart(unit);
                }
                states.add(unit + (isStale ? ": restarted, for the settings are newer" : ": has read the settings"));
            }
        }
        done.with(
                "libvirt",
                states.isEmpty() ? "does not run; reads the settings when it starts" : String.join("; ", states));
    }

    /** Returns whether a file was changed after a process had started, as by an earlier run of this command. */
    static boolean isUnread(Instant changed, Instant started) {
        return changed.isAfter(started.plus(START_ERROR));
    }
}
