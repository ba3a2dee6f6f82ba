package org.cloister.ovs;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.Malformed;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.cloister.ovs.io.OvsException.TimedOut;
import org.cloister.ovs.io.OvsException.TransactionRefused;
import org.cloister.ovs.openflow.FlowChange;
import org.cloister.ovs.openflow.FlowEntry;
import org.cloister.ovs.openflow.OpenFlowClient;
import org.cloister.ovs.openflow.PortStatus;
import org.cloister.ovs.ovsdb.OvsdbClient;
import org.cloister.ovs.ovsdb.OvsdbReplica;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes rows and flows until they match the plans, one step after each event, from any state. The order makes it
 * safe: flows follow the ports that exist, then rows follow the plans. So a port that is removed loses its flows before
 * its row, and a new port has its row, and a number confirmed by the switch of the present connection, before the flows
 * that open it. Owned by the event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // timers of the loop for which no caller waits
final class BridgeReconciler {
    private static final Logger LOG = LoggerFactory.getLogger(SecureBridge.class);
    private static final Duration STALE_PAUSE = Duration.ofMillis(20);
    private static final Duration REFUSED_PAUSE = Duration.ofSeconds(1);

    private final EventLoop loop;
    private final BridgeConfig config;
    private final BridgeMetrics metrics;
    private final OvsdbClient ovsdb;
    private final OpenFlowClient openflow;
    private final SwitchState theSwitch;
    private final HostStackFilter shield;
    private final FlowRuleCache ruling = new FlowRuleCache();
    private final DriftDetector drift;
    private final Deque<BridgeChange> pending = new ArrayDeque<>();
    private @Nullable OvsdbReplica database;
    private @Nullable PortPlanSet desired;
    private @Nullable BridgeChange current;
    private long awaitedCfg;
    private boolean transacting;
    private boolean paused;
    private boolean wasStale;
    private boolean closed;
    private String stage = "nothing yet";

    BridgeReconciler(EventLoop loop, BridgeConfig config, BridgeMetrics metrics) {
        this.loop = loop;
        this.config = config;
        this.metrics = metrics;
        this.ovsdb = new OvsdbClient(loop, config.databaseSocket(), BridgeRows.COLUMNS, new Rows());
        this.openflow = new OpenFlowClient(loop, config.flowSocket(), new Flows());
        this.drift = new DriftDetector(config.bridge(), metrics);
        this.theSwitch = new SwitchState(openflow, metrics, this::step);
        this.shield = new HostStackFilter(loop, config, metrics.shieldRepaired, this::step);
    }

    void start() {
        shield.start();
        ovsdb.start();
        openflow.start();
        loop.scheduleWithFixedDelay(
                this::audit, config.audit().toMillis(), config.audit().toMillis(), TimeUnit.MILLISECONDS);
    }

    void close() {
        closed = true;
        shield.close();
        ovsdb.close();
        openflow.close();
        OvsException closed = new OvsException.Disconnected("change of " + config.bridge(), "a closed bridge");
        while (current != null || !pending.isEmpty()) {
            BridgeChange change = current == null ? pending.remove() : current;
            current = null;
            change.done.completeExceptionally(closed);
        }
    }

    void submit(BridgeChange change) {
        pending.add(change);
        loop.schedule(() -> expire(change), config.deadline().toMillis(), TimeUnit.MILLISECONDS);
        step();
    }

    /** Returns the rows as OVSDB has them. */
    BridgeRows rows() throws OvsException {
        if (database == null) {
            throw new OvsException.Disconnected("rows of " + config.bridge(), "none to " + config.databaseSocket());
        }
        return BridgeRows.of(database, config.bridge());
    }

    /** Returns the flows in the order of tables and priorities. */
    List<String> flows(String device) {
        return ruling.owedTo(device).stream().map(FlowEntry::toString).sorted().toList();
    }

    private void step() {
        if (current == null && !pending.isEmpty()) {
            applyNext(pending.remove());
        }
        PortPlanSet plans = desired;
        OvsdbReplica copy = database;
        if (plans == null || copy == null || transacting || paused || closed) {
            return;
        }
        try {
            long currentCfg = BridgeRows.currentCfg(copy);
            if (currentCfg < awaitedCfg) {
                stage = "vswitchd has carried out change " + currentCfg + " of " + awaitedCfg;
                return;
            }
            step(plans, BridgeRows.of(copy, config.bridge()));
        } catch (OvsException e) {
            refuse(e);
        }
    }

    private void step(PortPlanSet plans, BridgeRows rows) throws OvsException {
        PortRowChange rowChange = PortRowChange.between(rows, plans, config);
        if (rows.bridge() == null) {
            transact(rowChange, rows);
            return;
        }
        if (!theSwitch.isReady() || !theSwitch.isKnown()) {
            stage = "no answer from " + config.flowSocket() + " yet";
            return;
        }
        PortBindings bindings = new PortBindings(config, plans, rows, theSwitch);
        String stale = bindings.stale();
        if (stale != null) {
            // The switch's notifications arrive on another socket than the rows, so the switch is queried, at first
            // without a pause.
            stage = stale;
            theSwitch.forgetPorts();
            if (wasStale) {
                pause(STALE_PAUSE);
            } else {
                wasStale = true;
                step(plans, rows);
            }
            return;
        }
        wasStale = false;
        requireOpen(bindings, rowChange);
        FlowPipeline.Rules rules = ruling.of(bindings.bound(), bindings.uplink());
        FlowChange flowChange = theSwitch.changesTo(rules);
        if (!flowChange.isEmpty()) {
            noteDrift(flowChange.added().size() + flowChange.gone().size() + " flows");
            stage = "flows are not confirmed";
            theSwitch.apply(flowChange, rules, this::refuse);
        } else if (!rowChange.isEmpty()) {
            noteDrift(rowChange.differences().toString());
            transact(rowChange, rows);
        } else {
            converged(bindings);
        }
    }

    private void requireOpen(PortBindings bindings, PortRowChange rowChange) throws OvsException {
        BridgeChange change = current;
        if (change == null || change.mustOpen().isEmpty()) {
            return;
        }
        for (PlanRefused conflict : rowChange.conflicts()) {
            throw conflict;
        }
        bindings.requireOpen(change.mustOpen());
    }

    private void applyNext(BridgeChange change) {
        try {
            PortPlanSet plans = change.applyTo(desired);
            plans.requirePrefix(config.devicePrefix());
            desired = plans;
            current = change;
            stage = "no rows from " + config.databaseSocket() + " yet";
        } catch (PlanRefused e) {
            metrics.refused.inc();
            change.done.completeExceptionally(e);
            step();
        }
    }

    private void transact(PortRowChange rowChange, BridgeRows rows) throws OvsException {
        if (rowChange.addsPorts() && !shield.isUp()) {
            OvsException failure = shield.failure();
            if (failure != null) {
                throw failure;
            }
            stage = "no answer from " + config.nft() + " yet, which keeps the host's stack away from ports";
            return;
        }
        transacting = true;
        stage = "no answer to the transaction from " + config.databaseSocket();
        String operation = "change " + rowChange.differences().size() + " rows of " + config.bridge();
        ovsdb.transact(operation, rowChange.transaction().count(rows.root()), new OvsdbClient.ReplyCallback() {
            @Override
            public void onResult(JsonNode result) throws Malformed {
                transacting = false;
                JsonNode next = result.get(rowChange.transaction().size() - 1)
                        .path("rows")
                        .path(0)
                        .path("next_cfg");
                if (!next.canConvertToLong()) {
                    throw new Malformed(operation, "next_cfg", result.toString());
                }
                awaitedCfg = next.longValue();
                if (rowChange.isOfBridge()) {
                    theSwitch.forgetFlows();
                }
                step();
            }

            @Override
            public void onFailure(OvsException why) {
                transacting = false;
                // After a lost connection the rows will show whether the transaction was done.
                if (why instanceof TransactionRefused) {
                    refuse(why);
                }
            }
        });
    }

    private void converged(PortBindings bindings) {
        drift.settled();
        theSwitch.markUseful();
        BridgeChange change = current;
        if (change == null) {
            return;
        }
        current = null;
        OvsException failure = change.failure;
        long nanos = System.nanoTime() - change.requestedAtNs;
        if (failure == null) {
            metrics.apply.update(nanos, TimeUnit.NANOSECONDS);
            change.done.complete(new AppliedPorts(bindings.numbers()));
        } else {
            change.done.completeExceptionally(failure);
        }
        step();
    }

    /** Handles a failure: rolls a requested change back, and retries any other work later. */
    private void refuse(OvsException why) {
        BridgeChange change = current;
        if (change != null && change.failure == null) {
            metrics.refused.inc();
            LOG.warn("bridge={} taken back: {}", config.bridge(), why.getMessage());
            PortPlanSet before = change.fail(why);
            if (before == null) {
                desired = null;
                current = null;
                change.done.completeExceptionally(why);
            } else {
                desired = before;
            }
            step();
        } else {
            LOG.warn("bridge={} tried again in {} s: {}", config.bridge(), REFUSED_PAUSE.toSeconds(), why.getMessage());
            pause(REFUSED_PAUSE);
        }
    }

    private void expire(BridgeChange change) {
        if (change.done.isDone()) {
            return;
        }
        OvsException late = new TimedOut(
                "change of " + config.bridge(),
                "an end within " + config.deadline().toMillis() + " ms",
                change == current ? stage : "a change before it that is not done: " + stage,
                "see whether ovsdb-server and ovs-vswitchd run; the change is taken back");
        pending.remove(change);
        if (change == current) {
            current = null;
            if (change.failure == null) {
                desired = change.fail(late);
            }
        }
        metrics.refused.inc();
        OvsException failure = change.failure;
        change.done.completeExceptionally(failure == null ? late : failure);
        step();
    }

    private void noteDrift(String what) {
        if (current == null) {
            drift.note(what);
        }
    }

    private void lost(OvsException why) {
        if (!closed) {
            LOG.warn("bridge={} {}", config.bridge(), why.getMessage());
        }
    }

    /** Reads the flows back, because the switch sends no notification when another program changes them. */
    private void audit() {
        shield.check();
        if (current == null && !transacting) {
            theSwitch.forgetFlows();
            step();
        }
    }

    private void pause(Duration time) {
        paused = true;
        loop.schedule(
                () -> {
                    paused = false;
                    step();
                },
                time.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private final class Rows implements OvsdbClient.Listener {
        @Override
        public void onRows(OvsdbReplica replica) {
            if (database == null) {
                metrics.databaseReconnects.inc(ovsdb.reconnects() - metrics.databaseReconnects.getCount());
            }
            database = replica;
            step();
        }

        @Override
        public void onLost(OvsException why) {
            lost(why);
            database = null;
            awaitedCfg = 0;
        }
    }

    private final class Flows implements OpenFlowClient.Listener {
        @Override
        public void onSwitch() {
            metrics.switchReconnects.inc(openflow.reconnects() - metrics.switchReconnects.getCount());
            theSwitch.forget();
            drift.restart();
            step();
        }

        @Override
        public void onPort(PortStatus status) {
            theSwitch.onPortStatus(status);
        }

        @Override
        public void onLost(OvsException why) {
            lost(why);
            theSwitch.forget();
        }
    }
}
