package org.cloister.preflight;

import java.util.List;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** charon, the plugin we speak to it through, and something that does ESP: the kernel or, slower, kernel-libipsec. */
record StrongSwan() implements Check {
    private static final List<String> DAEMONS = List.of(
            "charon-systemd", "/usr/lib/ipsec/charon", "/usr/libexec/strongswan/charon", "/usr/libexec/ipsec/charon");
    private static final List<String> PLUGIN_FOLDERS =
            List.of("/usr/lib/ipsec/plugins", "/usr/lib64/strongswan/plugins", "/usr/lib/strongswan/plugins");

    @Override
    public String name() {
        return "strongswan";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        if (DAEMONS.stream().noneMatch(daemon -> machine.find(daemon).isPresent())) {
            return Finding.failure(
                    this, "there is no charon", "apt-get install charon-systemd, or dnf install strongswan");
        }
        if (!hasPlugin(machine, "vici")) {
            return Finding.failure(
                    this,
                    "charon has no vici plugin",
                    "apt-get install strongswan-swanctl strongswan-libcharon, or dnf install strongswan");
        }
        if (hasPlugin(machine, "kernel-libipsec")) {
            return Finding.ok(this, "charon with vici; ESP in the kernel or by kernel-libipsec");
        }
        Finding kernel =
                KernelFeature.on(name(), Level.FAILURE, "esp4", "INET_ESP").run(machine);
        return kernel.level() == Level.OK
                ? Finding.ok(this, "charon with vici; ESP in the kernel")
                : Finding.failure(
                        this,
                        "nothing does ESP: " + kernel.text() + ", and charon has no kernel-libipsec",
                        "apt-get install libcharon-extra-plugins, or boot a kernel with CONFIG_INET_ESP");
    }

    private static boolean hasPlugin(Machine machine, String plugin) throws UnknownException {
        for (String folder : PLUGIN_FOLDERS) {
            if (machine.list(folder).orElse(List.of()).contains("libstrongswan-" + plugin + ".so")) {
                return true;
            }
        }
        return false;
    }
}
