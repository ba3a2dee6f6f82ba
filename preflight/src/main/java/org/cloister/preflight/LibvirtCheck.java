package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks that libvirt answers at the URI that agent-host will use. RHEL 9 began with 8.0. */
record LibvirtCheck(String uri) implements PreflightCheck {
    private static final MajorMinorVersion OLDEST = new MajorMinorVersion(8, 0);

    @Override
    public String name() {
        return "libvirt";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<ProgramResult> result = machine.run("virsh", "--readonly", "--connect", uri, "version", "--daemon");
        if (result.isEmpty()) {
            return PreflightFinding.failure(
                    this,
                    "virsh is missing",
                    "apt-get install libvirt-daemon-system libvirt-clients, or dnf install libvirt");
        }
        if (!result.get().requirePermitted().succeeded()) {
            return PreflightFinding.failure(
                    this,
                    uri + " does not answer: " + reason(result.get()),
                    "systemctl start " + LibvirtUnit.of(machine) + ".socket, or name another with --libvirt URI");
        }
        String daemon = line(result.get(), "Running against daemon: ").orElse("unknown version");
        String hypervisor = line(result.get(), "Running hypervisor: ").orElse("unknown hypervisor");
        String text = "libvirt " + daemon + " with " + hypervisor + " at " + uri;
        return MajorMinorVersion.parseFirst(daemon)
                        .filter(version -> version.compareTo(OLDEST) < 0)
                        .isPresent()
                ? PreflightFinding.failure(this, text + ", older than " + OLDEST, "install a newer libvirt")
                : PreflightFinding.ok(this, text);
    }

    /** Returns the cause: virsh first prints that it failed, and then the cause. */
    private static String reason(ProgramResult virsh) {
        return virsh.err()
                .lines()
                .filter(line -> !line.isBlank())
                .reduce((first, last) -> last)
                .map(line -> line.replaceFirst("^error: ", ""))
                .orElseGet(virsh::firstErrorLine);
    }

    private static Optional<String> line(ProgramResult virsh, String start) {
        return virsh.out()
                .lines()
                .filter(line -> line.startsWith(start))
                .map(line -> line.substring(start.length()))
                .findFirst();
    }
}
