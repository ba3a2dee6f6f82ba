package org.cloister.host.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.host.channel.HostChannelEnd;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.protocol.dsse.SignatureCurve;

/** A host's metrics, asked for over its socket as Prometheus does it. */
final class HostMetricsScene implements AutoCloseable {
    static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");

    private static final Pattern TYPE = Pattern.compile("^# TYPE (\\S+) (\\w+)$", Pattern.MULTILINE);

    final List<VmLedgerEntry> entries = new ArrayList<>();
    final HostMetrics metrics =
            new HostMetrics(() -> List.copyOf(entries), Duration.ofSeconds(60), InstantSource.fixed(NOW));
    Optional<String> unready = Optional.empty();

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final HostChannelEnd host;
    private final AdminHttpServer listener;

    HostMetricsScene(Path folder) throws Exception {
        host = new HostChannelEnd(
                loops,
                HostChannelEnd.key(SignatureCurve.P256),
                Files.createDirectory(folder.resolve("statements")),
                owner -> {});
        metrics.registerChannels(host.channels());
        metrics.registerDrives(() -> 0);
        listener = AdminHttpServer.listen(
                folder.resolve("metrics.sock"), new HostHttpEndpoint(metrics.registry(), () -> unready), 1024, loops);
    }

    String ask(String request) throws IOException {
        SocketAddress address = listener.address();
        assertThat(address).isInstanceOf(UnixDomainSocketAddress.class);
        try (SocketChannel channel = SocketChannel.open(address)) {
            channel.write(
                    ByteBuffer.wrap((request + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.US_ASCII)));
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The value of a metric without a label. */
    double value(String name) throws IOException {
        Matcher line = Pattern.compile("^cloister_host_" + name + " (\\S+)$", Pattern.MULTILINE)
                .matcher(ask("GET /metrics"));
        assertThat(line.find()).as(name).isTrue();
        return Double.parseDouble(line.group(1));
    }

    /** Each metric's type by its name. */
    Map<String, String> types() throws IOException {
        Map<String, String> types = new TreeMap<>();
        Matcher type = TYPE.matcher(ask("GET /metrics"));
        while (type.find()) {
            types.put(type.group(1), type.group(2));
        }
        return types;
    }

    static String word(Enum<?> each) {
        return each.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void close() {
        listener.close();
        host.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
