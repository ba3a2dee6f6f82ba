package org.cloister.vm.system.names;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.base.process.ProcessRunner;

/** Writes the machine's own name and its table of names to the files and the kernel. Writing is idempotent. */
public final class MachineNames {
    private final ProcessRunner programs;
    private final Path folder;

    /**
     * Creates the writer.
     *
     * @param folder {@code /etc}
     */
    public MachineNames(ProcessRunner programs, Path folder) {
        this.programs = programs;
        this.folder = folder;
    }

    /**
     * Writes all names and checks the kernel's.
     *
     * @throws IOException if a file or the kernel does not accept them
     */
    public void write(NodeAddresses nodes) throws IOException {
        replace("hosts", nodes.hosts());
        replace("hostname", nodes.own() + "\n");
        programs.runChecked("sysctl", "-q", "-w", "kernel.hostname=" + nodes.own());
        String found = programs.runChecked("uname", "-n").strip();
        if (!found.equals(nodes.own())) {
            throw new IOException("host name: want " + nodes.own() + ", have " + found);
        }
    }

    private void replace(String name, String content) throws IOException {
        WorldReadableFile.replace(folder.resolve(name), content.getBytes(StandardCharsets.US_ASCII));
    }
}
