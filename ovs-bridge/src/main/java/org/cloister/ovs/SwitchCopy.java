package org.cloister.ovs;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.cloister.ovs.link.OvsException;
import org.cloister.ovs.openflow.Flow;
import org.cloister.ovs.openflow.FlowChange;
import org.cloister.ovs.openflow.FlowCount;
import org.cloister.ovs.openflow.Meter;
import org.cloister.ovs.openflow.OpenFlowClient;
import org.cloister.ovs.openflow.PortStatus;
import org.jspecify.annotations.Nullable;

/** What the switch of the present connection has, as it said itself; nothing of it outlives the connection. */
final class SwitchCopy {
    private final OpenFlowClient client;
    private final BridgeMetrics metrics;
    private final Runnable onward;
    private @Nullable Map<String, Integer> ports;
    private @Nullable Set<Flow> flows;
    private @Nullable Set<Meter> meters;

    /** @param onward called on the event loop when there is something new to act on */
    SwitchCopy(OpenFlowClient client, BridgeMetrics metrics, Runnable onward) {
        this.client = client;
        this.metrics = metrics;
        this.onward = onward;
    }

    void forget() {
        ports = null;
        forgetFlows();
    }

    void forgetPorts() {
        ports = null;
    }

    void take(PortStatus status) {
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

    /** @return whether all is known; otherwise it has been asked for */
    boolean isKnown() {
        if (ports == null) {
            client.ports(answer(told -> ports = new HashMap<>(told)));
        } else if (flows == null) {
            client.flows(answer(this::take));
        } else if (meters == null) {
            client.meters(answer(told -> meters = Set.copyOf(told)));
        } else {
            return true;
        }
        return false;
    }

    FlowChange to(Pipeline.Rules rules) {
        if (flows == null || meters == null) {
            throw new IllegalStateException("the switch has not said what it has");
        }
        return FlowChange.between(flows, rules.flows(), meters, rules.meters());
    }

    void carryOut(FlowChange change, Pipeline.Rules rules, FailureListener failed) {
        Collection<Integer> existing =
                meters == null ? List.of() : meters.stream().map(Meter::id).toList();
        client.change(change, existing, new OpenFlowClient.Answer<>() {
            @Override
            public void onResult(Boolean done) {
                flows = rules.flows();
                meters = rules.meters();
                onward.run();
            }

            @Override
            public void onFailure(OvsException why) {
                failed.onFailure(why);
            }
        });
    }

    /** The connection has been of use. */
    void useful() {
        client.useful();
    }

    /** Hears that a change was not carried out. */
    interface FailureListener {
        void onFailure(OvsException why);
    }

    private void take(List<FlowCount> told) {
        metrics.count(told);
        flows = told.stream().map(FlowCount::flow).collect(Collectors.toUnmodifiableSet());
    }

    private <T> OpenFlowClient.Answer<T> answer(Consumer<T> taker) {
        return new OpenFlowClient.Answer<>() {
            @Override
            public void onResult(T result) {
                taker.accept(result);
                onward.run();
            }

            @Override
            public void onFailure(OvsException why) {
                // The connection ended: the next one starts with nothing known.
            }
        };
    }
}
