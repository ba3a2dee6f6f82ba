package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** Whether libvirt answers at the URI that agent-host will use. RHEL 9 began with 8.0. */
record Libvirt(String uri) implements Check {
    private static final Version OLDEST = new Version(8, 0);

    @Override
    public String name() {
        return "libvirt";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        Optional<Ran> asked = machine.run("virsh", "--readonly", "--connect", uri, "version", "--daemon");
        if (asked.isEmpty()) {
            return Finding.failure(
                    this,
                    "virsh is missing",
                    "apt-get install libvirt-daemon-system libvirt-clients, or dnf install libvirt");
        }
        if (!asked.get().requireAllowed().succeeded()) {
            return Finding.failure(
                    this,
                    uri + " does not answer: " + reason(asked.get()),
                    "systemctl start libvirtd.socket, or name another with --libvirt URI");
        }
        String daemon = line(asked.get(), "Running against daemon: ").orElse("unknown version");
        String hypervisor = line(asked.get(), "Running hypervisor: ").orElse("unknown hypervisor");
        String text = "libvirt " + daemon + " with " + hypervisor + " at " + uri;
        return Version.in(daemon)
                        .filter(version -> version.compareTo(OLDEST) < 0)
                        .isPresent()
                ? Finding.failure(this, text + ", older than " + OLDEST, "install a newer libvirt")
                : Finding.ok(this, text);
    }

    /** virsh says that it failed first and why after that. */
    private static String reason(Ran virsh) {
        return virsh.err()
                .lines()
                .filter(line -> !line.isBlank())
                .reduce((first, last) -> last)
                .map(line -> line.replaceFirst("^error: ", ""))
                .orElseGet(virsh::complaint);
    }

    private static Optional<String> line(Ran virsh, String start) {
        return virsh.out()
                .lines()
                .filter(line -> line.startsWith(start))
                .map(line -> line.substring(start.length()))
                .findFirst();
    }
}
