package org.cloister.slurm;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/** Runs one of Slurm's programs, in bounded time and with bounded output. */
public final class SlurmCommand {
    private static final int MAX_OUTPUT_BYTES = 32 << 20;
    private static final int MAX_ERRORS_BYTES = 64 << 10;
    private static final int FLUSH_S = 2;

    private final Optional<Path> folder;
    private final Optional<Path> configuration;
    private final Duration limit;

    /**
     * Configures the runs.
     *
     * @param folder of sbatch and the other programs; found by PATH if empty
     * @param configuration a slurm.conf (SLURM_CONF); the programs' own default if empty
     * @param limit of each run, after which the program is killed
     */
    public SlurmCommand(Optional<Path> folder, Optional<Path> configuration, Duration limit) {
        this.folder = folder;
        this.configuration = configuration;
        this.limit = limit;
    }

    /** Output and exit status of a program. */
    public record Output(int exit, String out, String err) {
        /** Returns the last line of its errors, without its own name. */
        public String complaint() {
            String error = (err.isBlank() ? out : err)
                    .lines()
                    .filter(line -> !line.isBlank())
                    .reduce("exit status " + exit, (first, last) -> last);
            return LogText.printable(error.replaceFirst("^[a-z]+: (error|fatal): ", ""));
        }
    }

    /** Runs a program like {@link #run}, where any exit status but 0 counts as no answer; returns its output. */
    public String succeed(String program, List<String> arguments) throws SlurmUnavailableException {
        Output output = run(program, arguments, "");
        if (output.exit() != 0) {
            throw new SlurmUnavailableException(program + ": " + output.complaint() + "; ask scontrol ping");
        }
        return output.out();
    }

    /**
     * Runs a program to its end.
     *
     * @throws SlurmUnavailableException if it could not be run, did not end in time or wrote too much; it is then
     *     killed
     */
    public Output run(String program, List<String> arguments, String input) throws SlurmUnavailableException {
        List<String> argv = new ArrayList<>(
                List.of(folder.map(each -> each.resolve(program).toString()).orElse(program)));
        argv.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(argv);
        clean(builder.environment());
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new SlurmUnavailableException(
                    program + ": cannot be run: " + e.getMessage() + "; install Slurm's commands");
        }
        // Error of the first stream that failed: the program is then killed, which also cuts off the other stream.
        AtomicReference<IOException> failure = new AtomicReference<>();
        try {
            CompletableFuture<String> out = read(process, process.getInputStream(), MAX_OUTPUT_BYTES, failure);
            CompletableFuture<String> err = read(process, process.getErrorStream(), MAX_ERRORS_BYTES, failure);
            feed(process, input);
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new SlurmUnavailableException(
                        program + ": no answer within " + limit.toSeconds() + " s; ask scontrol ping");
            }
            return new Output(process.exitValue(), whole(out), whole(err));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SlurmUnavailableException(program + ": interrupted");
        } catch (ExecutionException | TimeoutException e) {
            IOException first = failure.get();
            throw new SlurmUnavailableException(program + ": output: " + (first == null ? e : first).getMessage());
        } finally {
            // A site's wrapper may have children of its own. A program that has ended has none any more, and searching
            // for them reads every process of the machine.
            if (process.isAlive()) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
        }
    }

    /** Keeps only the variables set here: others such as SBATCH_ACCOUNT or SQUEUE_FORMAT act as options. */
    private void clean(Map<String, String> environment) {
        String path = environment.getOrDefault("PATH", "/usr/bin:/bin");
        environment.clear();
        environment.put("PATH", path);
        environment.put("LC_ALL", "C");
        environment.put("TZ", "UTC");
        configuration.ifPresent(file -> environment.put("SLURM_CONF", file.toString()));
    }

    /** Writes on a separate thread, since a program that does not read would block this one beyond its limit. */
    private static void feed(Process process, String input) {
        Thread writer = new Thread(
                () -> {
                    try (OutputStream in = process.getOutputStream()) {
                        in.write(input.getBytes(StandardCharsets.US_ASCII));
                    } catch (IOException e) {
                        // The program ended without reading; its exit status gives the reason.
                        return;
                    }
                },
                "slurm-input");
        writer.setDaemon(true);
        writer.start();
    }

    private static String whole(CompletableFuture<String> text)
            throws InterruptedException, ExecutionException, TimeoutException {
        return text.get(FLUSH_S, TimeUnit.SECONDS);
    }

    private static CompletableFuture<String> read(
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
                "slurm-output");
        reader.setDaemon(true);
        reader.start();
        return all;
    }

    /** Decodes one byte as one character, since columns are counted in bytes. */
    private static String read(InputStream stream, int max) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] piece = new byte[1 << 14];
        for (int n = stream.read(piece); n >= 0; n = stream.read(piece)) {
            if (all.size() + n > max) {
                throw new IOException("more than " + max + " bytes");
            }
            all.write(piece, 0, n);
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }
}
