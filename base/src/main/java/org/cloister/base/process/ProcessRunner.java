package org.cloister.base.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs programs of a machine by argument lists, in bounded time, with bounded output and without this process'
 * environment.
 */
public final class ProcessRunner {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int MAX_OUTPUT_BYTES = 4 << 20;
    private static final int MAX_COMPLAINT = 300;
    private static final int FLUSH_S = 2;
    private static final String PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

    private final List<String> prefix;

    private ProcessRunner(List<String> prefix) {
        this.prefix = List.copyOf(prefix);
    }

    public static ProcessRunner local() {
        return new ProcessRunner(List.of());
    }

    /**
     * Returns a runner for another machine.
     *
     * @param prefix command that enters its namespaces, such as {@code nsenter} with its options
     */
    public static ProcessRunner withPrefix(List<String> prefix) {
        return new ProcessRunner(prefix);
    }

    /** Output and exit status of a program. */
    public record Output(int exit, String out, String err) {
        /**
         * Returns the last line of its errors in printable ASCII, without the advice that some programs indent below
         * it.
         */
        public String errorSummary() {
            String last = (err.isBlank() ? out : err)
                    .lines()
                    .filter(line -> !line.isBlank() && !Character.isWhitespace(line.charAt(0)))
                    .reduce("exit status " + exit, (first, second) -> second);
            String plain = last.strip().replaceAll("[^ -~]", "?");
            return plain.substring(0, Math.min(plain.length(), MAX_COMPLAINT));
        }
    }

    /** Returns the whole command, with the prefix that enters the machine. */
    public List<String> argv(List<String> command) {
        List<String> argv = new ArrayList<>(prefix);
        argv.addAll(command);
        return argv;
    }

    /** Runs a program like {@link #run}, where any exit status but 0 is an error; returns its output. */
    public String runChecked(String... command) throws IOException {
        return runChecked("", List.of(command));
    }

    /** Runs a program with input on its standard input; any exit status but 0 is an error. */
    public String runChecked(String input, List<String> command) throws IOException {
        Output output = run(input, command, LIMIT);
        if (output.exit() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.errorSummary());
        }
        return output.out();
    }

    public Output run(String... command) throws IOException {
        return run("", List.of(command), LIMIT);
    }

    /**
     * Runs a program to its end.
     *
     * @throws IOException if it could not be run, wrote too much or did not end in time; it is then killed
     */
    public Output run(String input, List<String> command, Duration limit) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(argv(command));
        clean(builder.environment());
        Process process = builder.start();
        try {
            CompletableFuture<String> out = read(process, process.getInputStream());
            CompletableFuture<String> err = read(process, process.getErrorStream());
            feed(process, input);
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException(String.join(" ", command) + ": want an end within " + limit.toMillis()
                        + " ms, have none; see what it waits for");
            }
            return new Output(process.exitValue(), whole(out), whole(err));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(command.get(0) + ": interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException(command.get(0) + ": output: " + e.getMessage(), e);
        } finally {
            // A program that has ended has no descendants, and searching for them reads every process of the machine.
            if (process.isAlive()) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
        }
    }

    /**
     * Reads a file of the machine's kernel, such as one below {@code /proc}; on this machine without starting a
     * process.
     */
    public String read(Path file) throws IOException {
        return prefix.isEmpty() ? Files.readString(file) : runChecked("cat", file.toString());
    }

    /** Starts a program that continues to run; its output is appended to a file. */
    public Process start(List<String> command, Map<String, String> environment, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(argv(command))
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        clean(builder.environment());
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static void clean(Map<String, String> environment) {
        environment.clear();
        environment.put("PATH", PATH);
        environment.put("LC_ALL", "C");
    }

    /** Writes on a separate thread, since a program that does not read would block this one beyond its limit. */
    private static void feed(Process process, String input) {
        Thread writer = new Thread(
                () -> {
                    try (OutputStream in = process.getOutputStream()) {
                        in.write(input.getBytes(StandardCharsets.UTF_8));
                    } catch (IOException e) {
                        // The program ended without reading; its exit status gives the reason.
                        return;
                    }
                },
                "program-input");
        writer.setDaemon(true);
        writer.start();
    }

    private static String whole(CompletableFuture<String> text)
            throws InterruptedException, ExecutionException, TimeoutException {
        return text.get(FLUSH_S, TimeUnit.SECONDS);
    }

    private static CompletableFuture<String> read(Process process, InputStream stream) {
        CompletableFuture<String> all = new CompletableFuture<>();
        Thread reader = new Thread(
                () -> {
                    try (stream) {
                        all.complete(read(stream));
                    } catch (IOException e) {
                        all.completeExceptionally(e);
                        process.destroyForcibly();
                    }
                },
                "program-output");
        reader.setDaemon(true);
        reader.start();
        return all;
    }

    private static String read(InputStream stream) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] piece = new byte[1 << 13];
        for (int n = stream.read(piece); n >= 0; n = stream.read(piece)) {
            if (all.size() + n > MAX_OUTPUT_BYTES) {
                throw new IOException("more than " + MAX_OUTPUT_BYTES + " bytes");
            }
            all.writeBytes(Arrays.copyOf(piece, n));
        }
        return all.toString(StandardCharsets.UTF_8);
    }
}
