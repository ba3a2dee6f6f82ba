package org.cloister.ovs;

import com.codahale.metrics.Counter;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.cloister.base.process.Nft;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.RulesRefused;
import org.cloister.ovs.io.OvsException.TimedOut;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the host's own network stack away from machines' devices: before a device is on the bridge, after it was
 * removed, and, with the datapath in user space, all the time, because vswitchd reads a device's frames there beside
 * the kernel and not instead of it. Two tables of nftables drop all packets from or to a device with the ports' prefix.
 * They match by name, so that a device never exists without its rule. The bridge itself is not affected: Open vSwitch
 * receives frames before these hooks.
 */
@SuppressWarnings("FutureReturnValueIgnored") // work that reports to the event loop
final class HostStackFilter {
    private static final Logger LOG = LoggerFactory.getLogger(SecureBridge.class);
    private static final List<String> FAMILIES = List.of("inet", "arp");
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final EventLoop loop;
    private final Counter repaired;
    private final Runnable onDone;
    private final Nft nft;
    private final String table;
    private final String rules;
    private final ExecutorService worker;
    private final RulesMonitor monitor;
    /** Set while a check waits for the worker: one is enough for all removals before it. */
    private final AtomicBoolean checking = new AtomicBoolean();
    /**
     * nftables' listing of the installed rules, with the handles that it assigned: a change by another program shows.
     */
    private @Nullable String laid;

    private @Nullable OvsException failure;
    private boolean up;

    /** @param onDone called on the event loop when the filter is up, or could not be installed */
    HostStackFilter(EventLoop loop, BridgeConfig config, Counter repaired, Runnable onDone) {
        this.loop = loop;
        this.repaired = repaired;
        this.onDone = onDone;
        this.nft = new Nft(config.nft());
        this.table = "cloister-" + config.bridge();
        this.rules = rules(table, config.devicePrefix());
        this.worker = Executors.newSingleThreadExecutor(new DefaultThreadFactory(config.bridge() + "-shield", true));
        this.monitor = new RulesMonitor(config.nft(), table, this::onRemoval);
    }

    void start() {
        monitor.start();
        worker.execute(this::install);
    }

    /** Stops the worker. The rules stay, as the ports do. */
    void close() {
        monitor.close();
        worker.shutdownNow();
        try {
            worker.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isUp() {
        return up;
    }

    /** Returns why the filter is not up; null while that is unknown. */
    @Nullable
    OvsException failure() {
        return failure;
    }

    /** Checks that the rules are as installed, and installs them again if they differ. */
    void check() {
        if (up && checking.compareAndSet(false, true)) {
            worker.execute(() -> {
                checking.set(false);
                compare();
            });
        }
    }

    private void onRemoval() {
        try {
            loop.execute(this::check);
        } catch (RejectedExecutionException e) {
            LOG.debug("shield table={} is not checked any more: its bridge is closed", table);
        }
    }

    private void install() {
        try {
            nft.apply(rules);
            laid = listing();
            loop.execute(() -> report(null));
        } catch (ProcessRunner.TimedOut e) {
            OvsException why = new TimedOut(
                    String.join(" ", nft.command()),
                    "an end",
                    String.valueOf(e.getMessage()),
                    "look for what holds the rules of nftables");
            loop.execute(() -> report(why));
        } catch (IOException e) {
            OvsException why = new RulesRefused(String.join(" ", nft.command()), String.valueOf(e.getMessage()));
            loop.execute(() -> report(why));
        }
    }

    private void compare() {
        String now;
        try {
            now = listing();
        } catch (IOException e) {
            now = String.valueOf(e.getMessage());
        }
        if (!now.equals(laid) && !worker.isShutdown()) {
            LOG.warn("shield table={} is not as it was laid, laid again: {}", table, now.strip());
            repaired.inc();
            install();
        }
    }

    private String listing() throws IOException {
        StringBuilder listing = new StringBuilder();
        for (String family : FAMILIES) {
            // One call for each table: nft 1.0.6 does not find the second of two in one call.
            listing.append(nft.query("-a", "list", "table", family, table));
        }
        return listing.toString();
    }

    private void report(@Nullable OvsException why) {
        if (worker.isShutdown()) {
            return;
        }
        failure = why;
        up = why == null;
        if (why != null) {
            LOG.warn("shield table={} tried again in {} s: {}", table, RETRY.toSeconds(), why.getMessage());
            loop.schedule(
                    () -> {
                        if (!worker.isShutdown()) {
                            worker.execute(this::install);
                        }
                    },
                    RETRY.toMillis(),
                    TimeUnit.MILLISECONDS);
        }
        onDone.run();
    }

    /** Returns the differences, for a reader that has not installed the rules. */
    static List<BridgeDifference> differences(BridgeConfig config) {
        String table = "cloister-" + config.bridge();
        List<BridgeDifference> differences = new ArrayList<>();
        for (String family : FAMILIES) {
            String expected = "rules that drop all from and to " + config.devicePrefix() + "*";
            String had;
            try {
                had = new Nft(config.nft()).query("list", "table", family, table);
            } catch (IOException e) {
                had = String.valueOf(e.getMessage());
            }
            boolean drops = had.contains("iifname \"" + config.devicePrefix() + "*\" drop")
                    && had.contains("oifname \"" + config.devicePrefix() + "*\" drop");
            if (!drops) {
                differences.add(new BridgeDifference("table " + family + " " + table, expected, had.strip()));
            }
        }
        return differences;
    }

    /** Returns one transaction that replaces the earlier table without a gap. */
    static String rules(String table, String prefix) {
        return family("inet", table, "prerouting", "postrouting", prefix)
                + family("arp", table, "input", "output", prefix);
    }

    private static String family(String family, String table, String in, String out, String prefix) {
        return String.join(
                "\n",
                "table " + family + " " + table,
                "delete table " + family + " " + table,
                "table " + family + " " + table + " {",
                // The hook is before connection tracking and before anything else that could accept.
                "  chain from-ports { type filter hook " + in + " priority -450; iifname \"" + prefix + "*\" drop; }",
                "  chain to-ports { type filter hook " + out + " priority -450; oifname \"" + prefix + "*\" drop; }",
                "}",
                "");
    }
}
