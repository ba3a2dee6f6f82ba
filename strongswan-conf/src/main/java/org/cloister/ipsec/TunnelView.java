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
import org.cloister.ipsec.vici.ViciClient;
import org.cloister.ipsec.vici.ViciMessage;
import org.cloister.ipsec.vici.ViciReply;
import org.jspecify.annotations.Nullable;

/**
 * Read-only view of charon's state of our tunnels.
 *
 * @param loaded connections of ours, by name
 * @param sas of ours, including those of connections that are no longer loaded
 * @param certificates that charon has, by their dNSName
 * @param causes what its log reported about each connection while we listened
 */
public record TunnelView(
        Map<String, Loaded> loaded,
        List<IkeSa> sas,
        Map<String, DerCertificate> certificates,
        Map<String, TunnelFailureCause> causes) {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    /** A connection as charon reports it: names and addresses of both ends. */
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
        causes = Map.copyOf(causes);
    }

    /**
     * Reads the state from charon.
     *
     * @param listen how long to listen to charon's log: an agent that maintains a tunnel retries each second, and the
     *     log then reports what is wrong
     */
    public static TunnelView read(Path socket, Duration listen) throws IpsecException {
        MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("tunnel-view", true), NioIoHandler.newFactory());
        StateReader reader = new StateReader();
        try (ViciClient client =
                new ViciClient(threads.next(), socket, listen.isZero() ? Set.of() : Set.of("log"), reader)) {
            client.start();
            await("charon at " + socket, reader.connected);
            TimeUnit.NANOSECONDS.sleep(listen.toNanos());
            CompletableFuture<ViciReply> conns = client.call("list-conns", ViciMessage.empty(), LIMIT);
            CompletableFuture<ViciReply> sas = client.call("list-sas", ViciMessage.empty(), LIMIT);
            CompletableFuture<ViciReply> certs =
                    client.call("list-certs", ViciMessage.empty().with("type", "X509"), LIMIT);
            return new TunnelView(
                    loaded(await("list-conns", conns).stream()),
                    IkeSa.ofAll(await("list-sas", sas).stream()).stream()
                            .filter(sa -> sa.name().startsWith(TunnelConnection.PREFIX))
                            .toList(),
                    certificates(await("list-certs", certs).stream()),
                    reader.causes);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Disconnected("charon at " + socket, "an interrupted caller");
        } finally {
            threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    /** @param guard what is wrong with the guard, or null */
    public TunnelExplanation explain(String name, @Nullable String guard, Instant now) {
        Loaded connection = loaded.get(name);
        return TunnelExplanation.of(new TunnelExplanation.Facts(
                name,
                null,
                guard,
                connection != null,
                connection == null ? null : certificates.get(connection.self()),
                of(name),
                causes.get(name),
                now));
    }

    public List<IkeSa> of(String name) {
        return sas.stream().filter(sa -> sa.name().equals(name)).toList();
    }

    private static Map<String, Loaded> loaded(List<ViciMessage> stream) {
        Map<String, Loaded> loaded = new HashMap<>();
        for (ViciMessage each : stream) {
            each.sections().forEach((name, section) -> {
                if (name.startsWith(TunnelConnection.PREFIX)) {
                    ViciMessage child = section.section("children").section(name);
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

    private static Map<String, DerCertificate> certificates(List<ViciMessage> stream) {
        Map<String, DerCertificate> all = new HashMap<>();
        for (ViciMessage each : stream) {
            // Of several that were loaded one after the other, the one that expires last.
            certificate(each.blob("data"))
                    .ifPresent(one -> one.names()
                            .forEach(name ->
                                    all.merge(name, one, (a, b) -> a.notAfter().isAfter(b.notAfter()) ? a : b)));
        }
        return all;
    }

    /**
     * Parses a certificate. One of a type that this JRE cannot read is left out: it belongs to another program, as none
     * of our tunnels uses one.
     */
    private static Optional<DerCertificate> certificate(byte[] der) {
        try {
            return Optional.of(DerCertificate.parse(der));
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

    private static final class StateReader implements ViciClient.Listener {
        private final CompletableFuture<Boolean> connected = new CompletableFuture<>();
        private final Map<String, TunnelFailureCause> causes = new ConcurrentHashMap<>();

        @Override
        public void onConnected() {
            connected.complete(true);
        }

        @Override
        public void onEvent(String name, ViciMessage message) {
            TunnelFailureCause cause = TunnelFailureCause.of(message.text("msg", ""));
            if (cause != null) {
                causes.put(message.text("ikesa-name", ""), cause);
            }
        }

        @Override
        public void onLost(IpsecException why) {
            connected.completeExceptionally(why);
        }
    }
}
