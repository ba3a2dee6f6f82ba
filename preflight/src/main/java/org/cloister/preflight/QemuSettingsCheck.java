package org.cloister.preflight;

import java.io.IOException;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks the settings with which libvirt on this host runs each QEMU: it must leave QEMU in the job's cgroup, into
 * which agent-host moves it, confine its system calls, and bound the log of its output.
 */
record QemuSettingsCheck() implements PreflightCheck {
    private static final String FILE = QemuSettings.FILE;

    @Override
    public String name() {
        return "libvirt-qemu";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String text = machine.read(FILE).orElse("");
        QemuSettings settings;
        try {
            settings = QemuSettings.parse(text);
        } catch (IOException e) {
            return PreflightFinding.failure(
                    this, FILE + ": " + e.getMessage(), "correct " + FILE + ", and " + restart(machine));
        }
        if (settings.values(QemuSettings.CGROUPS).isEmpty()) {
            return ownCgroups("cgroup_controllers is not set", "agentctl host prepare");
        }
        if (!settings.hasNoOwnCgroups()) {
            String have = settings.values(QemuSettings.CGROUPS).stream()
                    .filter(value -> !value.equals(QemuSettings.NONE))
                    .findFirst()
                    .orElseThrow();
            return ownCgroups(
                    "cgroup_controllers = " + have,
                    "set cgroup_controllers = [ ] in " + FILE + ", and " + restart(machine));
        }
        if (settings.values("seccomp_sandbox").contains("0")) {
            return PreflightFinding.failure(
                    this,
                    "QEMU may make any system call: seccomp_sandbox = 0",
                    "set seccomp_sandbox = 1 in " + FILE + ", and " + restart(machine));
        }
        if (settings.values("stdio_handler").contains("\"file\"")) {
            // A warning: VMs run well until the disk is full.
            return PreflightFinding.warning(
                    this,
                    "a guest can fill /var/log with QEMU's messages: stdio_handler = \"file\"",
                    "remove it from " + FILE + ", for virtlogd bounds each log, and " + restart(machine));
        }
        return PreflightFinding.ok(
                this,
                "agent-host moves QEMU into the job's step, out of libvirt's cgroup or systemd-machined's scope; its"
                        + " system calls are confined");
    }

    private PreflightFinding ownCgroups(String have, String remedy) {
        return PreflightFinding.failure(this, "libvirt puts QEMU into cgroups of its own: " + have, remedy);
    }

    private static String restart(InspectedMachine machine) throws UndeterminedException {
        return "systemctl restart " + LibvirtUnit.of(machine);
    }
}
