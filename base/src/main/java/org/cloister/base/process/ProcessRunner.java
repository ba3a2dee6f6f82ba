package org.cloister.base.process;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Runs programs of a machine by argument lists, in bounded time, with bounded output and without this process'
 * environment.
 */
public final class ProcessRunner {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final OutputForm OUTPUT = new OutputForm(StandardCharsets.UTF_8, 4 << 20, 4 << 20);
    private static final int MAX_COMPLAINT = 300;
    private static final int FLUSH_S = 2;
    /** Bytes that every pipe takes in one piece (PIPE_BUF); pipe(7). */
    private static final int MAX_SECRET = 4096;

    private static final String PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

    private final List<String> prefix;
    private final Map<String, String> variables;
    private final OutputForm form;

    /**
     * Form of a program's output.
     *
     * @param maxBytes of its standard output
     * @param maxErrorBytes of its errors
     */
    public record OutputForm(Charset charset, int maxBytes, int maxErrorBytes) {}

    private ProcessRunner(List<String> prefix, Map<String, String> variables, OutputForm form) {
        this.prefix = List.copyOf(prefix);
        this.variables = Map.copyOf(variables);
        this.form = form;
    }

    public static ProcessRunner local() {
        return new ProcessRunner(List.of(), Map.of("PATH", PATH, "LC_ALL", "C"), OUTPUT);
    }

    /**
     * Returns a runner for another machine.
     *
     * @param prefix command that enters its namespaces, such as {@code nsenter} with its options
     */
    public static ProcessRunner withPrefix(List<String> prefix) {
        return new ProcessRunner(prefix, local().variables, OUTPUT);
    }

    /** Returns a runner on the same machine whose programs have these variables beside, or instead of, the usual. */
    public ProcessRunner withEnvironment(Map<String, String> more) {
        Map<String, String> all = new HashMap<>(variables);
        all.putAll(more);
        return new ProcessRunner(prefix, all, form);
    }

    public ProcessRunner withOutput(OutputForm other) {
        return new ProcessRunner(prefix, variables, other);
    }

    /** The program could not be started. */
    public static final class NotStarted extends IOException {
        private static final long serialVersionUID = 1;

        private NotStarted(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /** The program did not end in time; it was killed. */
    public static final class TimedOut extends IOException {
        private static final long serialVersionUID = 1;

        private TimedOut(String message) {
            super(message);
        }
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
     * @throws NotStarted if it could not be started
     * @throws TimedOut if it did not end in time; it is then killed
     * @throws IOException if it wrote too much; it is then killed
     */
    public Output run(String input, List<String> command, Duration limit) throws IOException {
        return run(command, limit, process -> feed(process, input));
    }

    /**
     * Runs a program like {@link #run}, with a secret on its standard input. Java's own stream to a program keeps what
     * it wrote in a buffer; this leaves the secret in the caller's array alone.
     *
     * @param secret at most {@value #MAX_SECRET} bytes
     * @throws IOException also if the program succeeded without the secret
     */
    public Output runWithSecret(byte[] secret, List<String> command, Duration limit) throws IOException {
        if (secret.length > MAX_SECRET) {
            throw new IllegalArgumentException("secret: want at most " + MAX_SECRET + " bytes, have " + secret.length);
        }
        AtomicReference<IOException> failure = new AtomicReference<>();
        Output output = run(command, limit, process -> feedSecret(process, secret, failure));
        if (output.exit() == 0 && failure.get() != null) {
            throw new IOException(
                    command.get(0) + ": its input could not be written: "
                            + failure.get().getMessage(),
                    failure.get());
        }
        return output;
    }

    private Output run(List<String> command, Duration limit, Consumer<Process> input) throws IOException {
        Process process = start(new ProcessBuilder(argv(command)));
        // Error of the first stream that failed: the program is then killed, which also cuts off the other stream.
        AtomicReference<IOException> failure = new AtomicReference<>();
        try {
            CompletableFuture<String> out = read(process, process.getInputStream(), form.maxBytes, failure);
            CompletableFuture<String> err = read(process, process.getErrorStream(), form.maxErrorBytes, failure);
            input.accept(process);
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new TimedOut(String.join(" ", command) + ": want an end within " + limit.toMillis()
                        + " ms, have none; see what it waits for");
            }
            return new Output(process.exitValue(), whole(out), whole(err));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(command.get(0) + ": interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            IOException first = failure.get();
            throw new IOException(command.get(0) + ": output: " + (first == null ? e : first).getMessage(), e);
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
        ProcessBuilder builder = clean(new ProcessBuilder(argv(command)))
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        return builder.start();
    }

    private Process start(ProcessBuilder builder) throws NotStarted {
        try {
            return clean(builder).start();
        } catch (IOException e) {
            throw new NotStarted(e);
        }
    }

    private ProcessBuilder clean(ProcessBuilder builder) {
        builder.environment().clear();
        builder.environment().putAll(variables);
        return builder;
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

    /** Writes at once, since a pipe that is empty has room for all of it. */
    private static void feedSecret(Process process, byte[] secret, AtomicReference<IOException> failure) {
        try {
            try (OutputStream pipe = new FileOutputStream("/proc/" + process.pid() + "/fd/0")) {
                pipe.write(secret);
            } finally {
                process.getOutputStream().close();
            }
        } catch (IOException e) {
            // The program may have ended without reading; then its exit status gives the reason.
            failure.set(e);
        }
    }

    private static String whole(CompletableFuture<String> text)
            throws InterruptedException, ExecutionException, TimeoutException {
        return text.get(FLUSH_S, TimeUnit.SECONDS);
    }

    private CompletableFuture<String> read(
            Process process, InputStream stream, int max, AtomicReference<IOException> failure) {
        CompletableFuture<String> all = new CompletableFuture<>();
        Thread reader = new Thread(
                () -> {
                    try (stream) {
                        all.complete(read(stream, max));
                    } catch (IOException e) {
                        failure.compareAndSet(null, e);
                        all.completeExceptionally(e);
                        process.destroyForcibly();
                    }
                },
                "program-output");
        reader.setDaemon(true);
        reader.start();
        return all;
    }

    private String read(InputStream stream, int max) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] piece = new byte[1 << 13];
        for (int n = stream.read(piece); n >= 0; n = stream.read(piece)) {
            if (all.size() + n > max) {
                throw new IOException("more than " + max + " bytes");
            }
            all.writeBytes(Arrays.copyOf(piece, n));
        }
        return all.toString(form.charset);
    }
}
