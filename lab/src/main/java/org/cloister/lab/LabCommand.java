package org.cloister.lab;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A program with an argument list, never a shell line, run until it exits.
 *
 * @param limit after which the program is killed and the run fails
 */
public record LabCommand(List<String> argv, Map<String, String> environment, String input, Duration limit) {
    private static final int MAX_OUTPUT_BYTES = 64 << 20;
    private static final Duration DEFAULT_LIMIT = Duration.ofSeconds(30);

    public LabCommand {
        argv = List.copyOf(argv);
        environment = Map.copyOf(environment);
    }

    public static LabCommand of(String... argv) {
        return of(List.of(argv));
    }

    public static LabCommand of(List<String> argv) {
        return new LabCommand(argv, Map.of(), "", DEFAULT_LIMIT);
    }

    public LabCommand within(Duration newLimit) {
        return new LabCommand(argv, environment, input, newLimit);
    }

    public LabCommand with(Map<String, String> newEnvironment) {
        return new LabCommand(argv, newEnvironment, input, limit);
    }

    public LabCommand reading(String text) {
        return new LabCommand(argv, environment, text, limit);
    }

    /** Runs the program and returns its output, whatever its exit status. */
    public Output run() throws IOException {
        Process process = start();
        try {
            CompletableFuture<byte[]> out = drain(process.getInputStream());
            CompletableFuture<byte[]> err = drain(process.getErrorStream());
            feed(process.getOutputStream());
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw late();
            }
            return new Output(process.exitValue(), text(out), text(err));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while running " + argv.get(0), "start again", e);
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * Runs the program as {@link #run} does, and passes its output on as it arrives.
     *
     * @param each receives each line
     * @return its exit status and its standard error
     */
    public Output follow(Consumer<String> each) throws IOException {
        Process process = start();
        AtomicBoolean late = new AtomicBoolean();
        CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS)
                .execute(() -> {
                    late.set(process.isAlive());
                    process.destroyForcibly();
                });
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            CompletableFuture<byte[]> err = drain(process.getErrorStream());
            feed(process.getOutputStream());
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                each.accept(line);
            }
            int exit = process.waitFor();
            if (late.get()) {
                throw late();
            }
            return new Output(exit, "", text(err));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while running " + argv.get(0), "start again", e);
        } finally {
            process.destroyForcibly();
        }
    }

    private LabException late() {
        return new LabException(
                argv.get(0) + ": no end within " + limit.toSeconds() + " s: " + String.join(" ", argv),
                "run it by hand to see where it waits");
    }

    private Process start() throws IOException {
        ProcessBuilder builder = new ProcessBuilder(argv);
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** Runs the program; any exit status but 0 is an error that contains its output. */
    public String succeed() throws IOException {
        Output output = run();
        if (output.exit() != 0) {
            String error = output.err().isBlank() ? output.out() : output.err();
            throw new LabException(
                    String.join(" ", argv) + ": exit " + output.exit() + ": " + error.strip(), "run it by hand");
        }
        return output.out();
    }

    private void feed(OutputStream in) throws IOException {
        try (in) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // A program may end without reading its input; its exit status shows whether that was an error.
            if (input.isEmpty()) {
                throw e;
            }
        }
    }

    /**
     * Returns the output. A daemon that a command leaves behind may keep the output open, so the end of the process
     * ends the reading too.
     */
    private static String text(CompletableFuture<byte[]> bytes) throws InterruptedException, IOException {
        try {
            return new String(bytes.get(2, TimeUnit.SECONDS), StandardCharsets.UTF_8);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new LabException(
                    "a program left its output open after its end", "send a daemon's output to its own log", e);
        }
    }

    private static CompletableFuture<byte[]> drain(InputStream stream) {
        CompletableFuture<byte[]> all = new CompletableFuture<>();
        Thread reader = new Thread(
                () -> {
                    try (stream) {
                        all.complete(read(stream));
                    } catch (IOException | UncheckedIOException e) {
                        all.completeExceptionally(e);
                    }
                },
                "output");
        reader.setDaemon(true);
        reader.start();
        return all;
    }

    private static byte[] read(InputStream stream) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] piece = new byte[1 << 14];
        for (int n = stream.read(piece); n >= 0; n = stream.read(piece)) {
            if (all.size() + n > MAX_OUTPUT_BYTES) {
                throw new IOException("output: more than " + MAX_OUTPUT_BYTES + " bytes");
            }
            all.write(piece, 0, n);
        }
        return all.toByteArray();
    }

    /** Output of a program and its exit status, or 128 and the signal that ended it. */
    public record Output(int exit, String out, String err) {}
}
