package org.cloister.ovs;

import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.cloister.ovs.BridgeRows.PortRow;
import org.cloister.ovs.Reachability.BoundPort;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.Malformed;
import org.cloister.ovs.openflow.FlowEntry;
import org.cloister.ovs.openflow.FlowStats;
import org.cloister.ovs.openflow.OpenFlowClient;
import org.cloister.ovs.ovsdb.OvsdbClient;
import org.cloister.ovs.ovsdb.OvsdbReplica;
import org.jspecify.annotations.Nullable;

/**
 * Read-only view of a bridge: the plans in its rows, and how the switch's state differs from them. Because the rows
 * contain the plans, no agent needs to run.
 *
 * @param ports ours, by device
 * @param others devices of ports that another program made, whose frames are dropped
 * @param differences empty for a bridge that matches its plans
 * @param dropped frames since the flows were created
 */
public record BridgeView(
        List<Port> ports, List<String> others, List<BridgeDifference> differences, Map<DropReason, Long> dropped) {
    public BridgeView {
        ports = List.copyOf(ports);
        others = List.copyOf(others);
        differences = differences.stream()
                .sorted(Comparator.comparing(BridgeDifference::subject))
                .toList();
        dropped = Map.copyOf(dropped);
    }

    /**
     * A port of ours.
     *
     * @param number in the switch, or null while it has no number
     * @param error of its device, or the empty text
     */
    public record Port(PortPlan plan, @Nullable Integer number, String error) {}

    /** Reads database and switch once. */
    public static BridgeView read(BridgeConfig config) throws OvsException {
        return SingleOperation.run(config, "read " + config.bridge(), loop -> new Query(config, loop).result)
                .with(HostStackFilter.differences(config));
    }

    private BridgeView with(List<BridgeDifference> more) {
        List<BridgeDifference> all = new ArrayList<>(differences);
        all.addAll(more);
        return new BridgeView(ports, others, all, dropped);
    }

    static BridgeView of(BridgeConfig config, BridgeRows rows, Map<String, Integer> numbers, List<FlowStats> flows)
            throws OvsException {
        List<Port> ports = new ArrayList<>();
        List<String> others = new ArrayList<>();
        List<PortPlan> plans = new ArrayList<>();
        List<BoundPort> bound = new ArrayList<>();
        for (PortRow row : rows.ports().values()) {
            PortPlan plan = row.isOf(config.agent()) ? row.plan() : null;
            Integer number = numbers.get(row.device());
            if (plan != null) {
                ports.add(new Port(plan, number, row.error()));
                plans.add(plan);
                if (number != null) {
                    bound.add(new BoundPort(plan, number));
                }
            } else if (!row.isUplink()
                    && !row.device().equals(config.uplink())
                    && !row.device().equals(config.bridge())) {
                others.add(row.device());
            }
        }
        List<BridgeDifference> differences = new ArrayList<>(
                PortRowChange.between(rows, PortPlanSet.of(plans), config).differences());
        String uplink = config.uplink();
        flowDifferences(FlowPipeline.of(bound, uplink == null ? null : numbers.get(uplink)), flows, differences);
        Map<DropReason, Long> dropped = new EnumMap<>(DropReason.class);
        for (FlowStats each : flows) {
            DropReason.of(each.flow().cookie())
                    .filter(reason -> reason != DropReason.PASSES)
                    .ifPresent(reason -> dropped.merge(reason, each.packets(), Long::sum));
        }
        return new BridgeView(ports, others, differences, dropped);
    }

    private static void flowDifferences(
            FlowPipeline.Rules rules, List<FlowStats> had, List<BridgeDifference> differences) {
        Map<FlowEntry.Key, FlowEntry> there = new HashMap<>();
        had.forEach(each -> there.put(each.flow().key(), each.flow()));
        for (FlowEntry flow : rules.flows()) {
            FlowEntry found = there.remove(flow.key());
            if (!flow.equals(found)) {
                differences.add(new BridgeDifference(
                        "flow " + flow.key(),
                        flow.instructions().toString(),
                        found == null ? "absent" : found.toString()));
            }
        }
        there.values()
                .forEach(
                        flow -> differences.add(new BridgeDifference("flow " + flow.key(), "absent", flow.toString())));
    }

    /** Sends the queries one after the other; completes with a view or a failure. */
    private static final class Query {
        private final CompletableFuture<BridgeView> result = new CompletableFuture<>();
        private final BridgeConfig config;
        private final OvsdbClient ovsdb;
        private final OpenFlowClient openflow;
        private @Nullable BridgeRows rows;
        private boolean greeted;

        Query(BridgeConfig config, EventLoop loop) {
            this.config = config;
            this.ovsdb = new OvsdbClient(loop, config.databaseSocket(), BridgeRows.COLUMNS, new Rows());
            this.openflow = new OpenFlowClient(loop, config.flowSocket(), new Greeting());
            ovsdb.start();
            openflow.start();
        }

        private void query() {
            BridgeRows current = rows;
            if (current == null || !greeted || !openflow.isReady()) {
                return;
            }
            openflow.ports(answer(numbers ->
                    openflow.flows(answer(flows -> result.complete(BridgeView.of(config, current, numbers, flows))))));
        }

        /** Handler of a query's result. */
        @FunctionalInterface
        private interface ResultConsumer<T> {
            void accept(T result) throws OvsException;
        }

        private <T> OpenFlowClient.ReplyCallback<T> answer(ResultConsumer<T> consumer) {
            return new OpenFlowClient.ReplyCallback<>() {
                @Override
                public void onResult(T reply) {
                    try {
                        consumer.accept(reply);
                    } catch (OvsException e) {
                        result.completeExceptionally(e);
                    }
                }

                @Override
                public void onFailure(OvsException why) {
                    result.completeExceptionally(why);
                }
            };
        }

        private final class Rows implements OvsdbClient.Listener {
            @Override
            public void onRows(OvsdbReplica database) {
                try {
                    rows = BridgeRows.of(database, config.bridge());
                    query();
                } catch (Malformed e) {
                    result.completeExceptionally(e);
                }
            }

            @Override
            public void onLost(OvsException why) {
                rows = null;
            }
        }

        private final class Greeting implements OpenFlowClient.Listener {
            @Override
            public void onSwitch() {
                greeted = true;
                query();
            }

            @Override
            public void onLost(OvsException why) {
                greeted = false;
            }
        }
    }
}
