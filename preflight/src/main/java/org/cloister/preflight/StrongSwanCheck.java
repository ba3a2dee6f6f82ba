package org.cloister.preflight;

import java.util.List;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks charon, its vici plugin, through which Cloister controls it, and an implementation of ESP: the kernel or,
 * slower, kernel-libipsec.
 */
record StrongSwanCheck() implements PreflightCheck {
    private static final List<String> DAEMONS = List.of(
            "charon-systemd", "/usr/lib/ipsec/charon", "/usr/libexec/strongswan/charon", "/usr/libexec/ipsec/charon");
    private static final List<String> PLUGIN_FOLDERS =
            List.of("/usr/lib/ipsec/plugins", "/usr/lib64/strongswan/plugins", "/usr/lib/strongswan/plugins");

    @Override
    public String name() {
        return "strongswan";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        if (DAEMONS.stream().noneMatch(daemon -> machine.find(daemon).isPresent())) {
            return PreflightFinding.failure(
                    this, "there is no charon", "apt-get install charon-systemd, or dnf install strongswan");
        }
        if (!hasPlugin(machine, "vici")) {
            return PreflightFinding.failure(
                    this,
                    "charon has no vici plugin",
                    "apt-get install strongswan-swanctl strongswan-libcharon, or dnf install strongswan");
        }
        if (hasPlugin(machine, "kernel-libipsec")) {
            return PreflightFinding.ok(this, "charon with vici; ESP in the kernel or by kernel-libipsec");
        }
        PreflightFinding kernel = KernelFeatureCheck.on(name(), FindingSeverity.FAILURE, "esp4", "INET_ESP")
                .run(machine);
        return kernel.severity() == FindingSeverity.OK
                ? PreflightFinding.ok(this, "charon with vici; ESP in the kernel")
                : PreflightFinding.failure(
                        this,
                        "no ESP: " + kernel.text() + ", and charon has no kernel-libipsec",
                        "apt-get install libcharon-extra-plugins, or boot a kernel with CONFIG_INET_ESP");
    }

    private static boolean hasPlugin(InspectedMachine machine, String plugin) throws UndeterminedException {
        for (String folder : PLUGIN_FOLDERS) {
            if (machine.list(folder).orElse(List.of()).contains("libstrongswan-" + plugin + ".so")) {
                return true;
            }
        }
        return false;
    }
}
