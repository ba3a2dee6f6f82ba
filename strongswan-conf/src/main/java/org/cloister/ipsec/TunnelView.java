package org.cloister.ipsec;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.ipsec.vici.IpsecException;
import org.cloister.ipsec.vici.IpsecException.Disconnected;
import org.cloister.ipsec.vici.IpsecException.PlanRefused;
import org.cloister.ipsec.vici.IpsecException.TimedOut;
import org.cloister.ipsec.vici.Message;
import org.cloister.ipsec.vici.Reply;
import org.cloister.ipsec.vici.ViciClient;
import org.jspecify.annotations.Nullable;

/**
 * What charon has of our tunnels now; changes nothing.
 *
 * @param loaded connections of ours, by name
 * @param sas of ours, those of connections that are not loaded any more among them
 * @param certificates that charon has, by their dNSName
 * @param said what its log said of each connection while we listened
 */
public record TunnelView(
        Map<String, Loaded> loaded, List<Sa> sas, Map<String, Certificate> certificates, Map<String, Cause> said) {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    /** A connection as charon tells it: names and addresses of both ends. */
    public record Loaded(
            String name, String self, String local, String peer, String remote, List<String> remoteSelectors) {
        public Loaded {
            remoteSelectors = List.copyOf(remoteSelectors);
        }
    }

    public TunnelView {
        loaded = Map.copyOf(loaded);
        sas = List.copyOf(sas);
        certificates = Map.copyOf(certificates);
        said = Map.copyOf(said);
    }

    /**
     * Reads it.
     *
     * @param listen how long to listen to charon's log: an agent that keeps a tunnel tries again each second, and the log
     *     says then what is wrong
     */
    public static TunnelView read(Path socket, Duration listen) throws IpsecException {
        MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("tunnel-view", true), NioIoHandler.newFactory());
        Eyes eyes = new Eyes();
        try (ViciClient client =
                new ViciClient(threads.next(), socket, listen.isZero() ? Set.of() : Set.of("log"), eyes)) {
            client.start();
            await("charon at " + socket, eyes.connected);
            TimeUnit.NANOSECONDS.sleep(listen.toNanos());
            CompletableFuture<Reply> conns = client.call("list-conns", Message.empty(), LIMIT);
            CompletableFuture<Reply> sas = client.call("list-sas", Message.empty(), LIMIT);
            CompletableFuture<Reply> certs =
                    client.call("list-certs", Message.empty().with("type", "X509"), LIMIT);
            return new TunnelView(
                    loaded(await("list-conns", conns).stream()),
                    Sa.ofAll(await("list-sas", sas).stream()).stream()
                            .filter(sa -> sa.name().startsWith(Connection.PREFIX))
                            .toList(),
                    certificates(await("list-certs", certs).stream()),
                    eyes.said);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Disconnected("charon at " + socket, "an interrupted caller");
        } finally {
            threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    /** @param guard what is wrong with the guard, or null */
    public Explanation explain(String name, @Nullable String guard, Instant now) {
        Loaded connection = loaded.get(name);
        return Explanation.of(new Explanation.Facts(
                name,
                null,
                guard,
                connection != null,
                connection == null ? null : certificates.get(connection.self()),
                of(name),
                said.get(name),
                now));
    }

    public List<Sa> of(String name) {
        return sas.stream().filter(sa -> sa.name().equals(name)).toList();
    }

    private static Map<String, Loaded> loaded(List<Message> stream) {
        Map<String, Loaded> loaded = new HashMap<>();
        for (Message each : stream) {
            each.sections().forEach((name, section) -> {
                if (name.startsWith(Connection.PREFIX)) {
                    Message child = section.section("children").section(name);
                    loaded.put(
                            name,
                            new Loaded(
                                    name,
                                    section.section("local-1").text("id", ""),
                                    String.join(" ", section.items("local_addrs")),
                                    section.section("remote-1").text("id", ""),
                                    String.join(" ", section.items("remote_addrs")),
                                    child.items("remote-ts")));
                }
            });
        }
        return loaded;
    }

    private static Map<String, Certificate> certificates(List<Message> stream) {
        Map<String, Certificate> all = new HashMap<>();
        for (Message each : stream) {
            // Of several that were loaded one after the other, the one that lasts longest.
            certificate(each.blob("data"))
                    .ifPresent(one -> one.names()
                            .forEach(name ->
                                    all.merge(name, one, (a, b) -> a.notAfter().isAfter(b.notAfter()) ? a : b)));
        }
        return all;
    }

    /** Another's, of a kind that this JRE does not read, is left out: none of our tunnels is made with it. */
    private static Optional<Certificate> certificate(byte[] der) {
        try {
            return Optional.of(Certificate.parse(der));
        } catch (PlanRefused e) {
            return Optional.empty();
        }
    }

    private static <T> T await(String what, CompletableFuture<T> future) throws IpsecException, InterruptedException {
        try {
            return future.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IpsecException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            throw new TimedOut(what, "none within " + LIMIT.toSeconds() + " s", "see whether charon is busy");
        }
    }

    private static final class Eyes implements ViciClient.Listener {
        private final CompletableFuture<Boolean> connected = new CompletableFuture<>();
        private final Map<String, Cause> said = new ConcurrentHashMap<>();

        @Override
        public void onConnected() {
            connected.complete(true);
        }

        @Override
        public void onEvent(String name, Message message) {
            Cause cause = Cause.of(message.text("msg", ""));
            if (cause != null) {
                said.put(message.text("ikesa-name", ""), cause);
            }
        }

        @Override
        public void onLost(IpsecException why) {
            connected.completeExceptionally(why);
        }
    }
}
