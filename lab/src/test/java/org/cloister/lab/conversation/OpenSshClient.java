package org.cloister.lab.conversation;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.cloister.ctl.Cli;

/** OpenSSH on a person's device, as {@code agentctl project ssh-config} sets it up; its ProxyCommand runs in this process. */
record OpenSshClient(Path folder, Path config, Executor threads) {
    private static final long TIMEOUT_S = 60;

    /** Replacement of the ProxyCommand. It closes the socket when it ends. */
    @FunctionalInterface
    interface Proxy {
        Cli.Result connect(Socket ssh) throws Exception;
    }

    /** Exit of the program and of its ProxyCommand. */
    record Ended(int status, ByteString out, String errors, Cli.Result proxy) {}

    /** @param program ssh or sftp, and its options */
    Ended run(List<String> program, List<String> command, ByteString input, Proxy proxy) throws Exception {
        Path errors = Files.createTempFile(folder, "errors", "");
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            listening.setSoTimeout((int) TimeUnit.SECONDS.toMillis(TIMEOUT_S));
            List<String> argv = new ArrayList<>(program);
            argv.addAll(List.of("-F", config.toString(), "-o", "ProxyCommand=none", "-o", "HostName=127.0.0.1"));
            argv.addAll(List.of("-o", "Port=" + listening.getLocalPort(), "-o", "BatchMode=yes", "vm"));
            argv.addAll(command);
            Process process =
                    new ProcessBuilder(argv).redirectError(errors.toFile()).start();
            try {
                CompletableFuture<byte[]> out = CompletableFuture.supplyAsync(() -> read(process), threads);
                threads.execute(() -> write(process, input));
                Socket ssh = listening.accept();
                CompletableFuture<Cli.Result> connected = CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return proxy.connect(ssh);
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        threads);
                if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                    throw new AssertionError(program.get(0) + " has not ended within " + TIMEOUT_S + " s");
                }
                return new Ended(
                        process.exitValue(),
                        ByteString.copyFrom(out.get(TIMEOUT_S, TimeUnit.SECONDS)),
                        Files.readString(errors),
                        connected.get(TIMEOUT_S, TimeUnit.SECONDS));
            } finally {
                process.destroyForcibly();
            }
        } finally {
            Files.delete(errors);
        }
    }

    private static byte[] read(Process process) {
        try {
            return process.getInputStream().readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(Process process, ByteString input) {
        try (OutputStream in = process.getOutputStream()) {
            input.writeTo(in);
        } catch (IOException e) {
            // It has ended.
            return;
        }
    }
}
