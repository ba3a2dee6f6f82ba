package org.cloister.ipsec;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.ipsec.vici.IpsecException.GuardMissing;

/**
 * Runs the program {@code nft}.
 *
 * @param command its absolute path, preceded by the command that enters another network namespace if there is one
 */
public record TunnelNft(List<String> command) {
    private static final long LIMIT_S = 10;
    private static final int MAX_OUTPUT = 1 << 20;

    public TunnelNft {
        command = List.copyOf(command);
    }

    public static TunnelNft ofThisMachine() {
        return new TunnelNft(List.of("/usr/sbin/nft"));
    }

    void apply(String rules) throws IOException {
        run(rules, List.of("-f", "-"));
    }

    /** Returns a table of the family inet without its counters, or an empty text if it does not exist. */
    String list(String table) throws IOException {
        // A request for a missing table is an error like any other; the list of all tables is not.
        String all = run("", List.of("list", "tables", "inet"));
        return all.lines().anyMatch(("table inet " + table)::equals)
                ? run("", List.of("--stateless", "list", "table", "inet", table))
                : "";
    }

    private String run(String input, List<String> arguments) throws IOException {
        List<String> argv = new ArrayList<>(command);
        argv.addAll(arguments);
        Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
        try {
            CompletableFuture<byte[]> output = CompletableFuture.supplyAsync(() -> read(process));
            try (OutputStream in = process.getOutputStream()) {
                in.write(input.getBytes(StandardCharsets.UTF_8));
            }
            if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
                throw new GuardMissing("an end of nft within " + LIMIT_S + " s", "none", "run it by hand");
            }
            String text = new String(output.join(), StandardCharsets.UTF_8);
            if (process.exitValue() != 0) {
                throw new GuardMissing(
                        "nft " + String.join(" ", arguments) + " to succeed",
                        text.lines().findFirst().orElse("exit status " + process.exitValue()),
                        "be root, and have nf_tables in the kernel");
            }
            return text;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GuardMissing("an end of nft", "an interrupted caller", "start again");
        } finally {
            process.destroyForcibly();
        }
    }

    private static byte[] read(Process process) {
        try {
            return process.getInputStream().readNBytes(MAX_OUTPUT);
        } catch (IOException e) {
            return new byte[0];
        }
    }
}
