package org.cloister.ipsec;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.ipsec.vici.IpsecException;
import org.cloister.ipsec.vici.IpsecException.Disconnected;
import org.cloister.ipsec.vici.ViciClient;
import org.cloister.ipsec.vici.ViciMessage;
import org.cloister.ipsec.vici.ViciReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Performs what {@link TunnelDifference} computes, one pass after the other. Only on the event loop. */
@SuppressWarnings("FutureReturnValueIgnored") // the pass handles its own completion
final class TunnelReconciler implements ViciClient.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(TunnelReconciler.class);
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final EventLoop loop;
    private final ViciClient client;
    private final LoadedCredentials credentials;
    private final TunnelStates states;
    private final List<CompletableFuture<Void>> pending = new ArrayList<>();
    private final Map<String, TunnelConnection> reported = new HashMap<>();
    private final Set<Long> stale = new HashSet<>();
    /** The subset of {@link #reported} that was loaded over the present connection to charon. */
    private final Set<String> reportedHere = new HashSet<>();

    private @Nullable TunnelPlan plan;
    private @Nullable ScheduledFuture<?> timer;
    private String lastWarning = "";
    private boolean connected;
    private boolean running;
    private boolean again;
    /** Records that a step failed since the last pass started. */
    private boolean failed;

    TunnelReconciler(EventLoop loop, Path socket, Consumer<TunnelEvent> listener) {
        this.loop = loop;
        this.client = new ViciClient(
                loop, socket, Set.of("ike-updown", "child-updown", "ike-rekey", "child-rekey", "log"), this);
        this.credentials = new LoadedCredentials(client);
        this.states = new TunnelStates(listener);
    }

    void start() {
        client.start();
    }

    void close() {
        plan = null;
        client.close();
        fail(new Disconnected("tunnels", "a closed client"));
    }

    Map<String, Boolean> states() {
        return states.snapshot();
    }

    void replace(TunnelPlan next, CompletableFuture<Void> done) {
        plan = next;
        if (connected) {
            pending.add(done);
            run();
        } else {
            done.completeExceptionally(new Disconnected("tunnels of " + next.self(), "none now; the plan is kept"));
        }
    }

    @Override
    public void onConnected() {
        connected = true;
        reportedHere.clear();
        credentials.forget();
        states.onCharon(true, "");
        run();
    }

    @Override
    public void onLost(IpsecException why) {
        connected = false;
        states.onCharon(false, String.valueOf(why.getMessage()));
        fail(why);
    }

    @Override
    public void onEvent(String name, ViciMessage message) {
        if (name.equals("ike-rekey")) {
            message.sections().values().forEach(section -> {
                if (stale.contains(section.section("old").number("uniqueid", 0))) {
                    stale.add(section.section("new").number("uniqueid", 0));
                }
            });
        }
        if (states.onEvent(name, message, System.nanoTime())) {
            if (name.equals("log")) {
                soon();
            } else {
                run();
            }
        }
    }

    /** Schedules a pass after the usual pause: without it a failure would repeat as fast as it occurs. */
    private void soon() {
        failed = true;
        if (!running && timer != null && timer.getDelay(TimeUnit.MILLISECONDS) > TunnelDifference.RETRY.toMillis()) {
            schedule(TunnelDifference.RETRY);
        }
    }

    /** Runs one pass, or one more after the pass in progress. */
    private void run() {
        TunnelPlan now = plan;
        if (now == null || !connected) {
            return;
        }
        if (running) {
            again = true;
            return;
        }
        running = true;
        again = false;
        failed = false;
        List<CompletableFuture<Void>> answered = List.copyOf(pending);
        pending.clear();
        Map<String, TunnelConnection> desired = now.connections();
        // Connections that the plan no longer has are removed even when loading credentials for the others fails.
        credentials
                .load(now)
                .handle((loaded, why) -> why == null)
                .thenCompose(complete -> observe().thenCompose(found -> act(desired, found, complete)))
                .thenCombine(credentials.last(), (next, loaded) -> next)
                .whenComplete((next, why) -> ended(answered, next, why));
    }

    private void ended(List<CompletableFuture<Void>> answered, @Nullable Duration next, @Nullable Throwable why) {
        running = false;
        if (why == null) {
            lastWarning = "";
            answered.forEach(each -> each.complete(null));
        } else {
            Throwable cause = why instanceof CompletionException && why.getCause() != null ? why.getCause() : why;
            String text = String.valueOf(cause.getMessage());
            if (!text.equals(lastWarning)) {
                LOG.warn("tunnels: {}", text);
            }
            lastWarning = text;
            answered.forEach(each -> each.completeExceptionally(cause));
        }
        schedule(again ? Duration.ZERO : next == null || failed ? TunnelDifference.RETRY : next);
    }

    private CompletableFuture<TunnelDifference.ObservedTunnels> observe() {
        CompletableFuture<ViciReply> names = client.call("get-conns", ViciMessage.empty(), LIMIT);
        return client.call("list-sas", ViciMessage.empty(), LIMIT).thenCombine(names, (sas, conns) -> {
            List<IkeSa> all = IkeSa.ofAll(sas.stream());
            stale.retainAll(all.stream().map(IkeSa::id).toList());
            Map<String, TunnelConnection> here = new HashMap<>(reported);
            here.keySet().retainAll(reportedHere);
            return new TunnelDifference.ObservedTunnels(
                    here,
                    Set.copyOf(conns.message().items("conns")),
                    all,
                    Set.copyOf(stale),
                    states.failed(System.nanoTime()));
        });
    }

    /** @param complete whether charon has all credentials that connections need */
    private CompletableFuture<Duration> act(
            Map<String, TunnelConnection> desired, TunnelDifference.ObservedTunnels found, boolean complete) {
        states.onFound(desired, found.sas(), System.nanoTime());
        TunnelDifference difference = TunnelDifference.of(desired, found);
        List<CompletableFuture<ViciReply>> calls = new ArrayList<>();
        for (String name : difference.unload()) {
            reported.remove(name);
            calls.add(client.callSuccessfully("unload-conn", ViciMessage.empty().with("name", name), LIMIT));
        }
        boolean replaced = false;
        for (TunnelConnection connection : complete ? difference.load() : List.<TunnelConnection>of()) {
            replaced |= load(connection, found.sas(), calls);
        }
        for (long id : difference.terminate()) {
            ViciMessage request = ViciMessage.empty()
                    .with("ike-id", Long.toString(id))
                    .with("force", "yes")
                    .with("timeout", "-1");
            // The SA may have ended by itself in the meantime.
            calls.add(client.call("terminate", request, LIMIT));
        }
        for (TunnelConnection connection : complete ? difference.initiate() : List.<TunnelConnection>of()) {
            ViciMessage request = ViciMessage.empty()
                    .with("child", connection.name())
                    .with("ike", connection.name())
                    .with("timeout", "-1");
            calls.add(client.callSuccessfully("initiate", request, LIMIT));
        }
        if (stale.isEmpty() && !replaced && complete) {
            calls.add(credentials.unloadFormer());
        }
        Duration next = replaced ? Duration.ZERO : difference.next();
        return CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).thenApply(all -> next);
    }

    /** Loads a connection; returns whether it replaced one with which tunnels may have been set up. */
    private boolean load(TunnelConnection connection, List<IkeSa> sas, List<CompletableFuture<ViciReply>> calls) {
        String name = connection.name();
        TunnelConnection before = reported.get(name);
        calls.add(client.callSuccessfully("load-conn", connection.message(), LIMIT)
                .thenApply(reply -> {
                    reported.put(name, connection);
                    reportedHere.add(name);
                    return reply;
                }));
        boolean replaced = before != null && !before.equals(connection);
        if (replaced) {
            sas.stream().filter(sa -> sa.name().equals(name)).forEach(sa -> stale.add(sa.id()));
        }
        return replaced;
    }

    private void schedule(Duration wait) {
        if (timer != null) {
            timer.cancel(false);
        }
        timer = loop.schedule(this::run, wait.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void fail(IpsecException why) {
        List<CompletableFuture<Void>> all = List.copyOf(pending);
        pending.clear();
        all.forEach(each -> each.completeExceptionally(why));
    }
}
