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

/** What all VMs of the lab's hosts say on their consoles, which are gone with them; and what is said to them there. */
public final class VmConsoles implements AutoCloseable {
    private static final String FILE = "console.log";
    private static final int LAST = 120;
    /** Its serial port reads a file, and what the VM says goes on in the other. */
    private static final String CHANGE = """
            {"execute": "chardev-change", "arguments": {"id": "charserial0",
             "backend": {"type": "file", "data": {"in": "%s", "out": "%s", "append": true}}}}
            """;

    private final List<Path> folders = new ArrayList<>();
    private final Map<String, String> said = new ConcurrentSkipListMap<>();
    private final Thread reader = new Thread(this::run, "consoles");

    public VmConsoles(List<LabHost> hosts) throws IOException {
        for (LabHost host : hosts) {
            folders.add(AgentHostFiles.state(host).resolve("vms"));
        }
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * All that a VM has said so far.
     *
     * @param name of its folder
     * @throws IllegalStateException if they are not read any more, for what is above
     */
    public String of(String name) {
        if (!reader.isAlive()) {
            throw new IllegalStateException("consoles are not read any more");
        }
        return said.getOrDefault(name, "");
    }

    /**
     * To a VM's serial port, as only who has its QEMU can. The lab's guests hear some lines there: {@code lab/guest}, its script
     * {@code console}.
     */
    public void writeInput(LabHost host, String name, String lines) throws IOException {
        Path told = Files.writeString(host.folder("told").resolve(name), lines);
        Path file = AgentHostFiles.state(host).resolve("vms").resolve(name).resolve(FILE);
        host.libvirt().virsh("qemu-monitor-command", name, CHANGE.formatted(told, file));
    }

    /** The last lines of each VM there was. */
    public String last() {
        return said.entrySet().stream()
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
                    look(folder);
                }
                TimeUnit.MILLISECONDS.sleep(200);
            }
        } catch (InterruptedException e) {
            return;
        }
    }

    private void look(Path folder) {
        try (Stream<Path> vms = Files.list(folder)) {
            for (Path vm : vms.toList()) {
                String now = now(vm);
                said.merge(vm.getFileName().toString(), now, (old, read) -> read.length() > old.length() ? read : old);
            }
        } catch (NoSuchFileException e) {
            // No VM has been there yet.
            return;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Nothing of a VM that is being made or has gone; the others are looked at all the same. */
    private static String now(Path vm) throws IOException {
        try {
            return Files.readString(vm.resolve(FILE), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}
