package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Exit status and output of a program on a person's device. */
record ExitResult(int status, String out, String errors) {
    /** @param folder for the file that takes its standard error */
    static ExitResult of(List<String> argv, String input, Path folder, Executor threads) throws Exception {
        Path errors = Files.createTempFile(folder, "errors", "");
        Process process =
                new ProcessBuilder(argv).redirectError(errors.toFile()).start();
        CompletableFuture<byte[]> out = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return process.getInputStream().readAllBytes();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                threads);
        try (OutputStream in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // It did not read it.
        }
        if (!process.waitFor(40, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return new ExitResult(
                process.waitFor(),
                new String(out.get(20, TimeUnit.SECONDS), StandardCharsets.UTF_8),
                Files.readString(errors));
    }
}
