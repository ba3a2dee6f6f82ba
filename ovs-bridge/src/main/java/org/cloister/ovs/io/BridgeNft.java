package org.cloister.ovs.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.ovs.io.OvsException.Disconnected;
import org.cloister.ovs.io.OvsException.RulesRefused;
import org.cloister.ovs.io.OvsException.TimedOut;

/**
 * Runs the program {@code nft}, which checks a file of rules and passes it to the kernel as one transaction.
 *
 * @param command the program, or one that starts it in another network namespace
 */
public record BridgeNft(List<String> command) {
    private static final Duration LIMIT = Duration.ofSeconds(5);
    /** Capacity of a pipe: a program that prints more is not read, and the time limit ends it. */
    private static final int MAX_OUTPUT = 65_536;

    public BridgeNft {
        command = List.copyOf(command);
    }

    /**
     * @param rules passed as a file if there are no arguments
     * @return the program's output
     */
    public String run(String rules, String... arguments) throws OvsException {
        List<String> argv = new ArrayList<>(command);
        argv.addAll(arguments.length == 0 ? List.of("-f", "-") : List.of(arguments));
        String operation = String.join(" ", argv);
        try {
            Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
            try (InputStream out = process.getInputStream()) {
                try (OutputStream in = process.getOutputStream()) {
                    in.write(rules.getBytes(StandardCharsets.US_ASCII));
                }
                if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new TimedOut(
                            operation,
                            "an end within " + LIMIT.toSeconds() + " s",
                            "none",
                            "look for what holds the rules of nftables");
                }
                String output = new String(out.readNBytes(MAX_OUTPUT), StandardCharsets.UTF_8);
                if (process.exitValue() != 0) {
                    throw new RulesRefused(operation, "exit " + process.exitValue() + ": " + output.strip());
                }
                return output;
            } finally {
                process.destroyForcibly();
            }
        } catch (OvsException e) {
            throw e;
        } catch (IOException e) {
            throw new RulesRefused(operation, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Disconnected(operation, "an interrupted caller");
        }
    }
}
