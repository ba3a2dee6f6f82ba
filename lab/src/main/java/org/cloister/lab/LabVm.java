package org.cloister.lab;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A virtual machine that a lab's host runs. Closing it destroys it. */
public final class LabVm implements Closeable {
    /** Limit for TCG on a busy machine of two cores; a single guest needs a tenth of it. */
    private static final Duration BOOT_LIMIT = Duration.ofMinutes(2);

    private static final Duration DEFAULT_LIMIT = Duration.ofMinutes(3);

    private final LabLibvirt libvirt;
    private final LabVmSpec spec;
    private final Path agentSocket;
    private final Path labSocket;
    private final Path console;
    private @Nullable GuestRunner runner;

    private LabVm(LabLibvirt libvirt, LabVmSpec spec, Path agentSocket, Path labSocket, Path console) {
        this.libvirt = libvirt;
        this.spec = spec;
        this.agentSocket = agentSocket;
        this.labSocket = labSocket;
        this.console = console;
    }

    static LabVm start(LabMachine machine, LabAccelerator accelerator, LabLibvirt libvirt, LabVmSpec spec)
            throws IOException {
        Path agentSocket = machine.socket(spec.name() + "-agent");
        Path labSocket = machine.socket(spec.name() + "-lab");
        Path console = machine.folder("log").resolve(spec.name() + ".console");
        Files.deleteIfExists(console);
        LabVm vm = new LabVm(libvirt, spec, agentSocket, labSocket, console);
        libvirt.create(LabDomainXml.of(spec, accelerator, agentSocket, labSocket, console));
        return vm;
    }

    public String name() {
        return spec.name();
    }

    public LabVmSpec spec() {
        return spec;
    }

    /** Returns the host's end of the channel {@code org.cloister.agent.0}; one opener at a time. */
    public Path agentSocket() {
        return agentSocket;
    }

    /**
     * Returns what the guest has written to its serial console; empty for an image that has none on its command line.
     */
    public String console() throws IOException {
        return Files.exists(console) ? Files.readString(console) : "";
    }

    /** Returns the file to which its serial console is written. */
    public Path consoleFile() {
        return console;
    }

    /** Waits until the guest runs commands; only the lab variant of an image does. */
    public LabVm awaitRunner() throws IOException {
        try {
            runner = GuestRunner.connect(labSocket, BOOT_LIMIT, this::isRunning);
        } catch (LabException e) {
            throw new LabException(spec.name() + ": " + e.getMessage(), "read " + console, e);
        }
        return this;
    }

    /** Runs a command as root in the guest. */
    public LabCommand.Output run(String... argv) throws IOException {
        return run(List.of(argv), new byte[0], DEFAULT_LIMIT);
    }

    public LabCommand.Output run(List<String> argv, byte[] input, Duration limit) throws IOException {
        GuestRunner open = runner;
        if (open == null) {
            throw new IllegalStateException(spec.name() + ": awaitRunner comes first");
        }
        return open.run(argv, input, limit);
    }

    /** Runs a command as root in the guest; any exit status but 0 is an error that contains its output. */
    public String succeed(String... argv) throws IOException {
        LabCommand.Output output = run(argv);
        if (output.exit() != 0) {
            throw new LabException(
                    spec.name() + ": " + String.join(" ", argv) + ": exit " + output.exit() + ": "
                            + (output.err() + output.out()).strip(),
                    "read " + console);
        }
        return output.out();
    }

    public boolean isRunning() throws IOException {
        return libvirt.running().contains(spec.name());
    }

    /** Waits until the guest has ended by itself. */
    public void awaitEnd(Duration limit) throws IOException {
        Poll.until("the end of " + spec.name(), limit, "read " + console, () -> !isRunning());
    }

    @Override
    public void close() throws IOException {
        if (runner != null) {
            runner.close();
        }
        if (isRunning()) {
            libvirt.virsh("destroy", spec.name());
        }
        Files.deleteIfExists(agentSocket);
        Files.deleteIfExists(labSocket);
    }
}
