package org.cloister.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A machine of the lab: mount, host name, network, process and IPC namespaces which one process keeps alive. When that
 * process dies, the kernel ends every other process in them and removes their mounts and links; hence no cleanup has to
 * be recorded. A machine is found again by a marker in its environment, so no record can be stale.
 */
public final class Sandbox {
    private static final String MARK = "CLOISTER_LAB=";
    private static final Duration KILL_LIMIT = Duration.ofSeconds(10);

    private final String name;
    private final long pid;

    private Sandbox(String name, long pid) {
        this.name = name;
        this.pid = pid;
    }

    /**
     * Starts a machine. {@link #find} may miss it for a short time: its first process executes another program, and has
     * no environment meanwhile.
     *
     * @param folder the machine's own; its {@code etc} and {@code var} cover the real ones inside, and so do the paths
     *     in its file {@code binds}; see sandbox.sh
     * @param release whose files the machine has
     */
    public static Sandbox start(LabHome home, LabName lab, String name, Path folder, LabRelease release)
            throws IOException {
        Files.createDirectories(folder);
        Path script = folder.resolve("sandbox.sh");
        try (InputStream in = Sandbox.class.getResourceAsStream("sandbox.sh")) {
            Files.write(script, in.readAllBytes());
        }
        Path log = folder.resolve("sandbox.log");
        List<String> argv = new ArrayList<>(List.of(
                "setsid",
                "unshare",
                "--mount",
                "--uts",
                "--net",
                "--pid",
                "--ipc",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "sh",
                script.toString(),
                folder.toString(),
                name,
                home.cache("libvirt-" + release.suite()).toString()));
        if (release.root().isPresent()) {
            argv.add(release.root().get().toString());
            LabRelease.sharedFolders(home).forEach(shared -> argv.add(shared.toString()));
        }
        ProcessBuilder builder = new ProcessBuilder(argv);
        builder.environment().put("CLOISTER_LAB", lab + "/" + name);
        builder.redirectError(log.toFile());
        Process process = builder.start();
        process.getOutputStream().close();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            if (!"ready".equals(output.readLine())) {
                throw new LabException(
                        "namespaces of " + name + ": " + Files.readString(log).strip(), "read " + log);
            }
        }
        return new Sandbox(name, child(process));
    }

    /** Returns the first process inside. setsid and unshare are one process, and its only child is that one. */
    private static long child(Process process) throws IOException {
        String pid = Long.toString(process.pid());
        return Long.parseLong(
                Files.readString(Path.of("/proc", pid, "task", pid, "children")).strip());
    }

    public static Optional<Sandbox> find(LabName lab, String name) throws IOException {
        return find(lab).stream().filter(sandbox -> sandbox.name.equals(name)).findFirst();
    }

    public static List<Sandbox> find(LabName lab) throws IOException {
        List<Sandbox> found = new ArrayList<>();
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            for (Path process : all.toList()) {
                String mark = mark(process);
                if (mark.startsWith(lab + "/") && isFirst(process)) {
                    found.add(new Sandbox(
                            mark.substring(lab.text().length() + 1),
                            Long.parseLong(process.getFileName().toString())));
                }
            }
        }
        return found;
    }

    public String name() {
        return name;
    }

    /** Returns the id of the first process inside, as seen from outside. */
    public long pid() {
        return pid;
    }

    /** Returns the release of the machine's files. */
    public String suite() throws IOException {
        return LabRelease.suiteBelow(root());
    }

    /** Returns the Java to run inside: the one that runs this, or the one of the machine's release. */
    public Path java() {
        Path ours = Path.of(System.getProperty("java.home"), "bin", "java");
        return Files.exists(root().resolve(Path.of("/").relativize(ours))) ? ours : Path.of("/usr/bin/java");
    }

    private Path root() {
        return Path.of("/proc", Long.toString(pid), "root");
    }

    /** Returns a command that runs inside. */
    public LabCommand command(List<String> argv) {
        List<String> entered = new ArrayList<>(List.of(
                "nsenter", "--target", Long.toString(pid), "--mount", "--uts", "--net", "--pid", "--ipc", "--"));
        entered.addAll(argv);
        return LabCommand.of(entered);
    }

    public LabCommand command(String... argv) {
        return command(List.of(argv));
    }

    /** Returns a command in this machine's network only, so that its arguments can name other machines' processes. */
    public LabCommand networkCommand(List<String> argv) {
        List<String> entered = new ArrayList<>(List.of("nsenter", "--target", Long.toString(pid), "--net", "--"));
        entered.addAll(argv);
        return LabCommand.of(entered);
    }

    /** Kills every process inside at once, and waits for the outer process that had started the first. */
    public void kill() throws IOException {
        Optional<ProcessHandle> first = ProcessHandle.of(pid);
        Optional<ProcessHandle> starter = first.flatMap(ProcessHandle::parent).filter(Sandbox::isStarter);
        first.ifPresent(ProcessHandle::destroyForcibly);
        Poll.until(
                "the end of " + name + " (process " + pid + ")",
                KILL_LIMIT,
                "kill -9 " + pid,
                () -> !isAlive() && !starter.map(ProcessHandle::isAlive).orElse(false));
    }

    private static boolean isStarter(ProcessHandle process) {
        return process.info().command().orElse("").endsWith("/unshare");
    }

    public boolean isAlive() {
        return ProcessHandle.of(pid).isPresent() && Files.exists(Path.of("/proc", Long.toString(pid), "exe"));
    }

    /** Returns the lab and machine that a process was started for, or an empty text. */
    private static String mark(Path process) throws IOException {
        if (!Character.isDigit(process.getFileName().toString().charAt(0))) {
            return "";
        }
        for (String word : read(process, "environ").split("\0", -1)) {
            if (word.startsWith(MARK)) {
                return word.substring(MARK.length());
            }
        }
        return "";
    }

    /** Returns whether a process is the first one of a process namespace one level below ours. */
    private static boolean isFirst(Path process) throws IOException {
        for (String line : read(process, "status").split("\n", -1)) {
            if (line.startsWith("NSpid:")) {
                return line.matches("NSpid:\\s+\\d+\\s+1");
            }
        }
        return false;
    }

    /** Reads a file of a process, which may end meanwhile. */
    private static String read(Path process, String file) throws IOException {
        try {
            return Files.readString(process.resolve(file), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return "";
        } catch (IOException e) {
            if (Files.exists(process.resolve("exe"))) {
                throw e;
            }
            return "";
        }
    }
}
