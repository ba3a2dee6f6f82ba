package org.cloister.preflight;

import java.util.List;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks the settings with which libvirt on this host runs each QEMU: it must leave QEMU in the job's cgroup, into
 * which agent-host moves it, confine its system calls, and bound the log of its output. Settings are lines of
 * {@code name = value}; a list may span several.
 */
record QemuSettingsCheck() implements PreflightCheck {
    private static final String FILE = "/etc/libvirt/qemu.conf";
    private static final Pattern CGROUPS = Pattern.compile("(?m)^\\s*cgroup_controllers\\s*=\\s*\\[([^]]*)]");
    private static final Pattern SANDBOX = Pattern.compile("(?m)^\\s*seccomp_sandbox\\s*=\\s*(-?[0-9]+)");

    private static final Pattern LOGS = Pattern.compile("(?m)^\\s*stdio_handler\\s*=\\s*\"([^\"]*)\"");

    @Override
    public String name() {
        return "libvirt-qemu";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String settings = machine.read(FILE).orElse("");
        List<String> controllers = all(CGROUPS, settings);
        if (controllers.isEmpty()) {
            return ownCgroups(machine, "cgroup_controllers is not set");
        }
        for (String list : controllers) {
            if (!list.isEmpty()) {
                return ownCgroups(machine, "cgroup_controllers = [" + list + "]");
            }
        }
        if (all(SANDBOX, settings).contains("0")) {
            return PreflightFinding.failure(
                    this,
                    "QEMU may make any system call: seccomp_sandbox = 0",
                    "set seccomp_sandbox = 1 in " + FILE + ", and " + restart(machine));
        }
        if (all(LOGS, settings).contains("file")) {
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

    private PreflightFinding ownCgroups(InspectedMachine machine, String have) throws UndeterminedException {
        return PreflightFinding.failure(
                this,
                "libvirt puts QEMU into cgroups of its own: " + have,
                "set cgroup_controllers = [ ] in " + FILE + ", and " + restart(machine));
    }

    private static String restart(InspectedMachine machine) throws UndeterminedException {
        return "systemctl restart " + LibvirtUnit.of(machine);
    }

    /** Returns all values of a setting: one that occurs twice must be right twice. */
    private static List<String> all(Pattern setting, String settings) {
        return setting.matcher(settings)
                .results()
                .map(found -> found.group(1).strip().replaceAll("\\s+", " "))
                .toList();
    }
}
