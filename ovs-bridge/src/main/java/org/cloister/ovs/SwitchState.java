package org.cloister.ovs;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.openflow.FlowChange;
import org.cloister.ovs.openflow.FlowEntry;
import org.cloister.ovs.openflow.FlowMeter;
import org.cloister.ovs.openflow.FlowStats;
import org.cloister.ovs.openflow.OpenFlowClient;
import org.cloister.ovs.openflow.PortStatus;
import org.jspecify.annotations.Nullable;

/** State of the switch as it reported it on the present connection; it is discarded when the connection ends. */
final class SwitchState {
    private final OpenFlowClient client;
    private final BridgeMetrics metrics;
    private final Runnable onDone;
    private @Nullable Map<String, Integer> ports;
    private @Nullable Set<FlowEntry> flows;
    private @Nullable Set<FlowMeter> meters;

    /** @param onDone called on the event loop when new state requires action */
    SwitchState(OpenFlowClient client, BridgeMetrics metrics, Runnable onDone) {
        this.client = client;
        this.metrics = metrics;
        this.onDone = onDone;
    }

    void forget() {
        ports = null;
        forgetFlows();
    }

    void forgetPorts() {
        ports = null;
    }

    void onPortStatus(PortStatus status) {
        if (ports == null) {
            return;
        }
        if (status.gone()) {
            ports.remove(status.device(), status.number());
        } else {
            ports.put(status.device(), status.number());
        }
    }

    void forgetFlows() {
        flows = null;
        meters = null;
    }

    boolean isReady() {
        return client.isReady();
    }

    @Nullable
    Integer port(String device) {
        return ports == null ? null : ports.get(device);
    }

    /** @return whether all is known; otherwise a query was sent */
    boolean isKnown() {
        if (ports == null) {
            client.ports(answer(number -> ports = new HashMap<>(number)));
        } else if (flows == null) {
            client.flows(answer(this::onPortStatus));
        } else if (meters == null) {
            client.meters(answer(found -> meters = Set.copyOf(found)));
        } else {
            return true;
        }
        return false;
    }

    FlowChange changesTo(FlowPipeline.Rules rules) {
        if (flows == null || meters == null) {
            throw new IllegalStateException("the switch has not said what it has");
        }
        return FlowChange.between(flows, rules.flows(), meters, rules.meters());
    }

    void apply(FlowChange change, FlowPipeline.Rules rules, FailureListener failed) {
        Collection<Integer> existing =
                meters == null ? List.of() : meters.stream().map(FlowMeter::id).toList();
        client.change(change, existing, new OpenFlowClient.ReplyCallback<>() {
            @Override
            public void onResult(Boolean done) {
                flows = rules.flows();
                meters = rules.meters();
                onDone.run();
            }

            @Override
            public void onFailure(OvsException why) {
                failed.onFailure(why);
            }
        });
    }

    /** Records that the connection was of use. */
    void markUseful() {
        client.markUseful();
    }

    /** Receives the failure of a change. */
    interface FailureListener {
        void onFailure(OvsException why);
    }

    private void onPortStatus(List<FlowStats> found) {
        metrics.count(found);
        flows = found.stream().map(FlowStats::flow).collect(Collectors.toUnmodifiableSet());
    }

    private <T> OpenFlowClient.ReplyCallback<T> answer(Consumer<T> consumer) {
        return new OpenFlowClient.ReplyCallback<>() {
            @Override
            public void onResult(T result) {
                consumer.accept(result);
                onDone.run();
            }

            @Override
            public void onFailure(OvsException why) {
                // The connection ended: the next one starts with no known state.
            }
        };
    }
}
