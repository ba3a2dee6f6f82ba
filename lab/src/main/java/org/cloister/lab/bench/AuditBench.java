package org.cloister.lab.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.cloister.audit.AuditLogWriter;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.dsse.SigningKey;

/**
 * Measures records on disk per second: the relay's audit log with many callers, compared with an fdatasync for each
 * record's bytes.
 */
final class AuditBench implements Benches.Bench {
    private static final String RELAY = "r1.relay.site.cloister.internal";
    /** The number of tickets that start at once. */
    private static final int CALLERS = 400;

    private static final int RECORDS = 20_000;
    /** Number of the peer's records; fewer, because the peer is slower. */
    private static final int SINGLE = 400;

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Path folder = home.root().resolve("bench-audit");
        double[] ours = new double[repetitions];
        double[] peer = new double[repetitions];
        // The first round warms up the JVM and is not counted.
        for (int i = -1; i < repetitions; i++) {
            LabCommand.of("rm", "-rf", folder.toString()).succeed();
            Files.createDirectories(folder);
            double rate = appendPerS(folder.resolve("log"));
            double single = syncPerS(folder);
            if (i >= 0) {
                ours[i] = rate;
                peer[i] = single;
            }
        }
        figures.roundRates("records", ours, peer, "1/s");
        figures.alone("group", new double[] {group(folder.resolve("log"))}, "records a head");
        LabCommand.of("rm", "-rf", folder.toString()).succeed();
    }

    private static double appendPerS(Path folder) throws IOException {
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try (AuditLogWriter log = AuditLogWriter.open(folder, RELAY, key(), InstantSource.system())) {
            AuditEvent event = AuditEvent.of(Instant.now(), "ticket.accepted")
                    .by("k".repeat(52))
                    .with(AuditField.TICKET, "t".repeat(26))
                    .with(AuditField.PROJECT, "p".repeat(52))
                    .with(AuditField.NODES, 4)
                    .with(AuditField.CPUS, 128);
            long from = System.nanoTime();
            List<Future<?>> done = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                done.add(callers.submit(() -> {
                    for (int i = 0; i < RECORDS / CALLERS; i++) {
                        log.append(List.of(event));
                    }
                    return null;
                }));
            }
            for (Future<?> each : done) {
                each.get();
            }
            return RECORDS / seconds(from);
        } catch (ExecutionException e) {
            throw new IOException("audit log: a caller failed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("audit log: interrupted", e);
        } finally {
            callers.shutdownNow();
        }
    }

    /** Writes the lines of our log, one by one, to a separate file; returns lines per second. */
    private static double syncPerS(Path folder) throws IOException {
        List<byte[]> lines = new ArrayList<>();
        for (String line : lines(folder.resolve("log"))) {
            if (line.startsWith("{\"number\"") && lines.size() < SINGLE) {
                lines.add((line + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        try (FileChannel file =
                FileChannel.open(folder.resolve("plain"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            long from = System.nanoTime();
            for (byte[] line : lines) {
                file.write(ByteBuffer.wrap(line));
                file.force(false);
            }
            return SINGLE / seconds(from);
        }
    }

    private static double group(Path log) throws IOException {
        long heads = lines(log).stream()
                .filter(line -> line.startsWith("{\"payload\""))
                .count();
        return (double) RECORDS / heads;
    }

    private static List<String> lines(Path log) throws IOException {
        return Files.readAllLines(log.resolve(AuditSegmentHeader.fileName(1)));
    }

    private static double seconds(long from) {
        return (System.nanoTime() - from) / 1e9;
    }

    private static SigningKey key() throws IOException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException e) {
            throw new IOException("this JRE makes no key: " + e.getMessage(), e);
        }
    }
}
