package org.cloister.preflight;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks that an SELinux that enforces lets QEMU read what libvirt does not label: the guest's firmware, which has the
 * type of its folder, and drives on NFS, whose files have no types of their own. The folders are those of agent-host's
 * configuration.
 */
record SelinuxCheck() implements PreflightCheck {
    private static final String IMAGES = "/var/lib/cloister/images";
    /** Types that QEMU's domain may read: of virtual machines' read-only content, and of files below /usr. */
    private static final Set<String> READABLE = Set.of("virt_content_t", "usr_t");

    private static final Pattern TYPE = Pattern.compile("[^:]+:[^:]+:([a-z0-9_]+)(?::.*)?");

    @Override
    public String name() {
        return "selinux";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        if (!machine.firstWord("/sys/fs/selinux/enforce").orElse("0").equals("1")) {
            return PreflightFinding.ok(this, "no SELinux enforces anything here");
        }
        AgentHostSettings settings = AgentHostSettings.of(machine);
        String images = settings.value("images").orElse(IMAGES);
        String firmware = images + "/current/firmware.bin";
        String type = type(output(machine, "stat", "-L", "-c", "%C", firmware));
        if (!READABLE.contains(type)) {
            return PreflightFinding.failure(
                    this,
                    "SELinux does not let QEMU read " + firmware + ", which has the type " + type,
                    "semanage fcontext -a -t virt_content_t '" + images + "(/.*)?', then restorecon -RF " + images
                            + " (dnf install policycoreutils-python-utils)");
        }
        Optional<String> drives = settings.value("drives");
        if (drives.isPresent()
                && output(machine, "stat", "-f", "-L", "-c", "%T", drives.get()).equals("nfs")
                && !output(machine, "getsebool", "virt_use_nfs").endsWith(" on")) {
            return PreflightFinding.failure(
                    this,
                    "SELinux does not let QEMU open drives in " + drives.get() + ", which is NFS: virt_use_nfs is off",
                    "setsebool -P virt_use_nfs on");
        }
        return PreflightFinding.ok(this, "SELinux lets QEMU read the guest's firmware (" + type + ") and its drives");
    }

    private static String type(String context) throws UndeterminedException {
        Matcher type = TYPE.matcher(context);
        if (!type.matches()) {
            throw new UndeterminedException("stat prints no context of SELinux: " + context, "ls -lZ " + IMAGES);
        }
        return type.group(1);
    }

    private static String output(InspectedMachine machine, String... command) throws UndeterminedException {
        ProgramResult result = machine.run(command)
                .orElseThrow(
                        () -> new UndeterminedException(command[0] + " is missing", "dnf install libselinux-utils"));
        if (!result.succeeded()) {
            throw new UndeterminedException(command[0] + ": " + result.firstErrorLine(), String.join(" ", command));
        }
        return result.firstOutputLine().strip();
    }
}
