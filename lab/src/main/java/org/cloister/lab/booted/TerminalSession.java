package org.cloister.lab.booted;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabMachine;

/** Somebody at a terminal who types a passphrase wherever a command asks for one. */
public record TerminalSession(LabMachine network, Path script) {
    /** Passphrase of all keys of the lab, which are worth nothing. */
    private static final String PASSPHRASE = "a passphrase of the lab";

    /** Writes the program that types. */
    static void install(LabMachine network) throws IOException {
        try (InputStream in = TerminalSession.class.getResourceAsStream("terminal.exp")) {
            Files.write(script(network), in.readAllBytes());
        }
    }

    static TerminalSession in(LabMachine network) throws IOException {
        return new TerminalSession(network, script(network));
    }

    private static Path script(LabMachine network) throws IOException {
        return network.folder("etc").resolve("terminal.exp");
    }

    /** Returns a command that runs in the site's network, on a terminal. */
    public LabCommand command(List<String> argv) {
        List<String> whole = new ArrayList<>(List.of("expect", "-f", script.toString(), PASSPHRASE));
        whole.addAll(argv);
        return network.command(whole);
    }
}
