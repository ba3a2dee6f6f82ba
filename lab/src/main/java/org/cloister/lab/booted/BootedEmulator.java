package org.cloister.lab.booted;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabMachine;
import org.cloister.lab.LabRelease;

/**
 * QEMU of Debian 13, whatever the real machine's release is. QEMU 7.2 of Debian 12 emulates AMD's SVM with faults: a
 * host's kernel dies while a guest of KVM runs ("Oops: int3", "corrupted stack end").
 *
 * @param network the site's network, in whose namespaces it runs
 */
record BootedEmulator(LabMachine network) {
    private static final String SUITE = "trixie";

    /** Writes the program that runs it. */
    static void install(LabHome home, LabMachine network) throws IOException {
        String root = LabRelease.of(home, SUITE).root().map(Path::toString).orElse("");
        String head = "set -eu\nroot=%s\nshared=%s\n".formatted(root, home.root());
        try (InputStream in = BootedEmulator.class.getResourceAsStream("emulator.sh")) {
            Files.writeString(script(network), head + new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /**
     * Returns a command that starts QEMU.
     *
     * @param folder of the machine
     */
    LabCommand command(Path folder, List<String> qemu) {
        List<String> argv = new ArrayList<>(
                List.of("unshare", "--mount", "sh", script(network).toString(), folder.toString()));
        argv.addAll(qemu);
        return network.command(argv);
    }

    private static Path script(LabMachine network) {
        return network.folder().resolve("emulator.sh");
    }
}
