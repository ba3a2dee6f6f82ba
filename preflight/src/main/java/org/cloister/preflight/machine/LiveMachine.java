package org.cloister.preflight.machine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;

/**
 * The machine on which this process runs. Each program has a time limit and no input; closing removes scratch files.
 */
public final class LiveMachine implements InspectedMachine, AutoCloseable {
    /** Programs answer at once or hang. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    /** virsh starts a daemon that reads all domains first, and waits without limit for one that hangs. */
    private static final Map<String, Duration> SLOW = Map.of("virsh", Duration.ofSeconds(30));

    static final int MAX_OUTPUT_BYTES = 64 * 1024;
    /** modules.dep is the largest file read, with half a MiB on Debian 12. */
    private static final int MAX_FILE_BYTES = 16 * 1024 * 1024;

    private static final List<String> SYSTEM_FOLDERS = List.of("/usr/local/sbin", "/usr/sbin", "/sbin");

    private final Map<String, String> variables;
    private final List<Path> scratch = new ArrayList<>();

    public LiveMachine() {
        this(Map.of());
    }

    /**
     * Creates the machine.
     *
     * @param more variables in addition to this process's environment, or instead of its values
     */
    public LiveMachine(Map<String, String> more) {
        this.variables = new HashMap<>(System.getenv());
        variables.putAll(more);
    }

    @Override
    public Optional<String> read(String path) throws UndeterminedException {
        Path file = Path.of(path);
        if (Files.isDirectory(file)) {
            return Optional.empty();
        }
        try (InputStream plain = Files.newInputStream(file);
                InputStream in = path.endsWith(".gz") ? new GZIPInputStream(plain) : plain) {
            return Optional.of(new String(in.readNBytes(MAX_FILE_BYTES), StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    @Override
    public Optional<List<String>> list(String folder) throws UndeterminedException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(Path.of(folder))) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (NoSuchFileException | NotDirectoryException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw unreadable(folder, e);
        }
        Collections.sort(names);
        return Optional.of(names);
    }

    /** Also searches the system's folders, which an unprivileged user's PATH lacks. */
    @Override
    public Optional<String> find(String program) {
        List<String> folders = new ArrayList<>(
                List.of(environment("PATH").orElse("/usr/bin:/bin").split(":", -1)));
        folders.addAll(SYSTEM_FOLDERS);
        return folders.stream()
                .map(folder -> Path.of(folder).resolve(program))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst();
    }

    @Override
    public Optional<ProgramResult> run(List<String> arguments) throws UndeterminedException {
        Optional<String> program = find(arguments.get(0));
        if (program.isEmpty()) {
            return Optional.empty();
        }
        List<String> argv = new ArrayList<>(arguments);
        argv.set(0, program.get());
        try {
            Path out = scratchFile("out", new byte[0]);
            Path err = scratchFile("err", new byte[0]);
            ProcessBuilder builder = new ProcessBuilder(argv)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().putAll(variables);
            builder.environment().put("LC_ALL", "C.UTF-8");
            return Optional.of(new ProgramResult(await(builder.start(), arguments), head(out), head(err)));
        } catch (IOException e) {
            if (e instanceof UndeterminedException unknown) {
                throw unknown;
            }
            throw new UndeterminedException(
                    arguments.get(0) + " cannot be run: " + e.getMessage(), String.join(" ", arguments), e);
        }
    }

    /** Returns the time that a program has. */
    static Duration timeout(String program) {
        return SLOW.getOrDefault(program, TIMEOUT);
    }

    @Override
    public String writeTemporaryFile(String name, byte[] content) throws UndeterminedException {
        try {
            return scratchFile(name, content).toString();
        } catch (IOException e) {
            throw unreadable("a temporary file", e);
        }
    }

    @Override
    public Optional<String> environment(String variable) {
        return Optional.ofNullable(variables.get(variable)).filter(value -> !value.isEmpty());
    }

    @Override
    public Optional<String> property(String name) {
        return Optional.ofNullable(System.getProperty(name));
    }

    @Override
    public void close() throws IOException {
        for (Path file : scratch) {
            Files.deleteIfExists(file);
        }
        scratch.clear();
    }

    private static int await(Process process, List<String> arguments) throws UndeterminedException {
        Duration limit = timeout(arguments.get(0));
        try {
            if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                return process.exitValue();
            }
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            // A process in uninterruptible sleep survives the signal; it then remains for the kernel to end.
            process.destroyForcibly().waitFor(1, TimeUnit.SECONDS);
            throw new ProgramTimeoutException(
                    arguments.get(0) + " gave no answer within " + limit.toSeconds() + " s",
                    String.join(" ", arguments));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UndeterminedException(arguments.get(0) + " was interrupted", String.join(" ", arguments), e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /**
     * Creates a file for output instead of a pipe, as base's {@code ProcessRunner} has: a program that prints without
     * end is inspected by its first lines, and has its whole time.
     */
    private Path scratchFile(String name, byte[] content) throws IOException {
        Path file = Files.createTempFile("agentctl-", "-" + name);
        scratch.add(file);
        Files.write(file, content);
        return file;
    }

    private static String head(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8);
        }
    }

    private static UndeterminedException unreadable(String path, IOException e) {
        return e instanceof AccessDeniedException
                ? new UndeterminedException(path + ": permission denied", "run agentctl as root", e)
                : new UndeterminedException(path + ": " + e.getMessage(), "ls -ld " + path, e);
    }
}
