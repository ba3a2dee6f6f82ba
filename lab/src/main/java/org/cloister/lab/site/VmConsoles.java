package org.cloister.lab.site;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.lab.LabHost;
import org.cloister.lab.host.AgentHostFiles;

/**
 * Collects the console output of all VMs of the lab's hosts, which is deleted with them, and writes input to the
 * consoles.
 */
public final class VmConsoles implements AutoCloseable {
    private static final String FILE = "console.log";
    private static final int LAST = 120;
    /** Makes a VM's serial port read a file; its output is still appended to the other file. */
    private static final String CHANGE = """
            {"execute": "chardev-change", "arguments": {"id": "charserial0",
             "backend": {"type": "file", "data": {"in": "%s", "out": "%s", "append": true}}}}
            """;

    private final List<Path> folders = new ArrayList<>();
    private final Map<String, String> consoles = new ConcurrentSkipListMap<>();
    private final Thread reader = new Thread(this::run, "consoles");

    public VmConsoles(List<LabHost> hosts) throws IOException {
        for (LabHost host : hosts) {
            folders.add(AgentHostFiles.state(host).resolve("vms"));
        }
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Returns the output of a VM so far.
     *
     * @param name of its folder
     * @throws IllegalStateException if the reader has stopped; its failure was printed before
     */
    public String of(String name) {
        if (!reader.isAlive()) {
            throw new IllegalStateException("consoles are not read any more");
        }
        return consoles.getOrDefault(name, "");
    }

    /**
     * Writes to a VM's serial port, which requires control of its QEMU. The lab's guests react to some lines:
     * {@code lab/guest}, its script {@code console}.
     */
    public void writeInput(LabHost host, String name, String lines) throws IOException {
        Path lineFile = Files.writeString(host.folder("told").resolve(name), lines);
        Path file = AgentHostFiles.state(host).resolve("vms").resolve(name).resolve(FILE);
        host.libvirt().virsh("qemu-monitor-command", name, CHANGE.formatted(lineFile, file));
    }

    /** Returns the last lines of each VM so far. */
    public String last() {
        return consoles.entrySet().stream()
                .map(each -> "VM " + each.getKey() + ":\n" + last(each.getValue()))
                .collect(Collectors.joining("\n"));
    }

    public static String last(String text) {
        return last(text, LAST);
    }

    public static String last(String text, int most) {
        List<String> lines = text.lines().toList();
        return lines.stream().skip(Math.max(0, lines.size() - most)).collect(Collectors.joining("\n"));
    }

    @Override
    public void close() {
        reader.interrupt();
    }

    private void run() {
        try {
            while (!Thread.interrupted()) {
                for (Path folder : folders) {
                    poll(folder);
                }
                TimeUnit.MILLISECONDS.sleep(200);
            }
        } catch (InterruptedException e) {
            return;
        }
    }

    private void poll(Path folder) {
        try (Stream<Path> vms = Files.list(folder)) {
            for (Path vm : vms.toList()) {
                String now = now(vm);
                consoles.merge(
                        vm.getFileName().toString(), now, (old, read) -> read.length() > old.length() ? read : old);
            }
        } catch (NoSuchFileException e) {
            // No VM exists yet.
            return;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the present output; empty for a VM that is being made or is gone, so that the others are still read. */
    private static String now(Path vm) throws IOException {
        try {
            return Files.readString(vm.resolve(FILE), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}
