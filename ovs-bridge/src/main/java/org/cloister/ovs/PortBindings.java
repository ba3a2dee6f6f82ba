package org.cloister.ovs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.cloister.ovs.BridgeRows.PortRow;
import org.cloister.ovs.Reachability.BoundPort;
import org.cloister.ovs.io.OvsException.DeviceRefused;
import org.jspecify.annotations.Nullable;

/**
 * Numbers of the planned ports that exist. A number counts only if the rows and the switch of this connection agree on
 * it.
 */
record PortBindings(BridgeConfig config, PortPlanSet plans, BridgeRows rows, SwitchState theSwitch) {

    /** @return a port whose number from vswitchd the switch contradicts or has not confirmed yet; null if all agree */
    @Nullable
    String stale() {
        for (PortRow row : rows.ports().values()) {
            boolean needed = plans.get(row.device()) != null || row.device().equals(config.uplink());
            long number = row.number().orElse(-1);
            Integer current = theSwitch.port(row.device());
            if (needed && number > 0 && (current == null || current != number)) {
                return "port " + row.device() + " has number " + number + " in OVSDB, and "
                        + (current == null ? "none" : current) + " in the switch";
            }
        }
        return null;
    }

    void requireOpen(Collection<String> devices) throws DeviceRefused {
        for (String device : devices) {
            PortRow row = rows.ports().get(device);
            if (row != null && isOfPlan(row) && row.number().orElse(-1) <= 0) {
                throw new DeviceRefused(device, row.error().isEmpty() ? "no number" : row.error());
            }
        }
    }

    List<BoundPort> bound() {
        List<BoundPort> bound = new ArrayList<>();
        for (PortPlan plan : plans.plans()) {
            Integer number = number(plan);
            PortRow row = rows.ports().get(plan.device());
            if (number != null && row != null && isOfPlan(row)) {
                bound.add(new BoundPort(plan, number));
            }
        }
        return bound;
    }

    @Nullable
    Integer uplink() {
        String device = config.uplink();
        return device == null ? null : theSwitch.port(device);
    }

    Map<String, Integer> numbers() {
        Map<String, Integer> numbers = new HashMap<>();
        for (PortPlan plan : plans.plans()) {
            Integer number = number(plan);
            if (number != null) {
                numbers.put(plan.device(), number);
            }
        }
        return numbers;
    }

    private @Nullable Integer number(PortPlan plan) {
        PortRow row = rows.ports().get(plan.device());
        Integer current = theSwitch.port(plan.device());
        return row != null && current != null && row.number().orElse(-1) == current ? current : null;
    }

    private boolean isOfPlan(PortRow row) {
        PortPlan plan = plans.get(row.device());
        return plan != null && row.isOf(config.agent()) && row.isFor(plan, plans.labels(row.device()));
    }
}
